#include <cstring>

#include "isleway/formats/signal.hpp"

namespace isleway::formats {

TextIndex::TextIndex(std::string_view text) : text_(text) {
  for (std::size_t i = 1; i < text.size(); ++i) pairs_[pair(text[i - 1], text[i])] = true;
}

bool TextIndex::has(std::string_view word) const {
  for (std::size_t i = 1; i < word.size(); ++i)
    if (!pairs_.test(pair(word[i - 1], word[i]))) return false;
  // string_view::find stops at every occurrence of the first letter.
  return ::memmem(text_.data(), text_.size(), word.data(), word.size()) != nullptr;
}

}  // namespace isleway::formats
