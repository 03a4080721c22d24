#include "isleway/formats/signal.hpp"

namespace isleway::formats {

TextIndex::TextIndex(std::string_view text) : text_(text) {
  for (std::size_t i = 1; i < text.size(); ++i) pairs_.set(pair(text[i - 1], text[i]));
}

bool TextIndex::has(std::string_view word) const {
  for (std::size_t i = 1; i < word.size(); ++i)
    if (!pairs_.test(pair(word[i - 1], word[i]))) return false;
  return text_.find(word) != std::string_view::npos;
}

}  // namespace isleway::formats
