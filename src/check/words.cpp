#include "check/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "isleway/core.hpp"

namespace isleway::check {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// A run of digits at the front, without its zeros, and what is left.
std::string_view take_digits(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  return digits;
}

int compare_digits(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

/// A name with a number at its end, for ranges.
struct Numbered {
  std::string_view stem, digits;
  std::int64_t number = 0;
};
std::optional<Numbered> numbered(std::string_view name) {
  std::size_t start = name.size();
  while (start > 0 && is_digit(name[start - 1])) --start;
  const auto number = parse_int(name.substr(start));
  if (!number) return {};
  return Numbered{name.substr(0, start), name.substr(start), *number};
}

bool follows(const Numbered& a, const Numbered& b) {
  return a.stem == b.stem && b.number == a.number + 1 &&
         (a.digits.size() == b.digits.size() || (a.digits[0] != '0' && b.digits[0] != '0'));
}

}  // namespace

bool is_like(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0, star = pattern.npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || lower(pattern[p]) == lower(text[t]))) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool is_like_any(std::string_view text, const std::vector<std::string>& patterns) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return is_like(text, pattern); });
}

bool counts_before(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const int order = compare_digits(take_digits(a), take_digits(b));
      if (order != 0) return order < 0;
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;
}

bool is_older(std::string_view version, std::string_view than) {
  const auto next = [](std::string_view& text) {
    while (!text.empty() && !is_digit(text[0])) text.remove_prefix(1);
    return take_digits(text);
  };
  while (true) {
    const auto a = next(version), b = next(than);
    if (b.empty()) return false;
    if (a.empty()) return true;
    if (const int order = compare_digits(a, b); order != 0) return order < 0;
  }
}

std::string number_text(double value) {
  if (std::abs(value) < 1e15 && value == std::floor(value)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.6g}", value);
}

std::string subject_text(std::string_view subject) {
  std::string text(subject);
  if (gpu_like(subject)) std::transform(text.begin(), text.begin() + 3, text.begin(), ::toupper);
  const auto slash = text.find('/');
  if (slash == text.npos) return text;
  text[slash] = ' ';
  if (text.compare(slash + 1, 4, "link") == 0) text.insert(slash + 5, " ");
  return text;
}

bool gpu_like(std::string_view subject) {
  return subject.size() > 3 && subject.starts_with("gpu") && is_digit(subject[3]);
}

std::string list_text(std::vector<std::string> names, std::size_t most) {
  std::sort(names.begin(), names.end(), counts_before);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<std::string> pieces;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < names.size();) {
    std::size_t last = i;
    auto a = numbered(names[i]);
    while (a && last + 1 < names.size()) {
      const auto b = numbered(names[last + 1]);
      if (!b || !follows(*a, *b)) break;
      a = b;
      ++last;
    }
    const std::size_t count = last - i + 1;
    if (count >= 3) {
      pieces.push_back(names[i] + "-" + std::string(a->digits));
      i = last + 1;
    } else {
      pieces.push_back(names[i++]);
    }
    sizes.push_back(count >= 3 ? count : 1);
  }
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < pieces.size() && i < most; ++i) {
    text += (text.empty() ? "" : ", ") + pieces[i];
    shown += sizes[i];
  }
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace isleway::check
