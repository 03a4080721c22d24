#include "formats/counter_names.hpp"

#include <cctype>

namespace isleway::formats {

std::string counter_signal(std::string_view printed) {
  constexpr std::string_view suffix = "Counter";
  if (printed.size() > suffix.size() && printed.ends_with(suffix))
    printed.remove_suffix(suffix.size());
  std::string name = "ib.";
  const auto is_upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  const auto is_lower = [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 || (c >= '0' && c <= '9');
  };
  for (std::size_t i = 0; i < printed.size(); ++i) {
    // A word starts after a small letter, and before the last capital of a run: "VL15Dropped".
    const bool starts = i > 0 && is_upper(printed[i]) &&
                        (is_lower(printed[i - 1]) ||
                         (is_upper(printed[i - 1]) && i + 1 < printed.size() &&
                          std::islower(static_cast<unsigned char>(printed[i + 1])) != 0));
    if (starts) name += '_';
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(printed[i])));
  }
  return name;
}

}  // namespace isleway::formats
