// Names, numbers and lists as the texts of findings show them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isleway::check {

/// `pattern` knows * (any run) and ? (any one character); case does not matter.
bool is_like(std::string_view text, std::string_view pattern);
/// Any of them; an empty list fits all.
bool is_like_any(std::string_view text, const std::vector<std::string>& patterns);

/// As people count: "n2" before "n10".
bool counts_before(std::string_view a, std::string_view b);
/// "535.9" before "535.161.08". Everything that is no digit only separates.
bool is_older(std::string_view version, std::string_view than);

/// "18", "26.562": no more decimals than needed, six digits at most.
std::string number_text(double value);

/// "gpu" and a number.
bool gpu_like(std::string_view subject);
/// "gpu3/link2" as "GPU3 link 2"; other subjects as they are.
std::string subject_text(std::string_view subject);

/// "GPU0-GPU3, GPU6" of subjects; "n001-n018, n020" of hosts. Sorted, without repetition;
/// beyond `most` pieces the number of those left out.
std::string list_text(std::vector<std::string> names, std::size_t most = 12);

/// Replaces every {word} for which `lookup` knows a text; others stay as they are.
template <class Lookup>
std::string fill_in(std::string_view text, const Lookup& lookup) {
  std::string filled;
  while (true) {
    const auto open = text.find('{');
    const auto close = open == text.npos ? open : text.find('}', open);
    if (close == text.npos) return filled.append(text);
    filled.append(text.substr(0, open));
    const auto word = text.substr(open + 1, close - open - 1);
    if (const auto value = lookup(word)) filled += *value;
    else filled.append(text.substr(open, close - open + 1));
    text.remove_prefix(close + 1);
  }
}

}  // namespace isleway::check
