#include "formats/line_prefix.hpp"

#include <algorithm>
#include <cctype>

namespace isleway::formats {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_host_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

/// Length of "[1,0]<stdout>:" or "[node7:1]<stderr>", 0 if there is none.
std::size_t tag_length(std::string_view line) {
  if (line.empty() || line[0] != '[') return 0;
  const std::size_t close = line.substr(0, 80).find("]<std");
  if (close == std::string_view::npos) return 0;
  const std::size_t end = line.substr(0, close + 12).find('>', close);
  if (end == std::string_view::npos) return 0;
  return end + 1 < line.size() && line[end + 1] == ':' ? end + 2 : end + 1;
}

/// Length of "2025-05-21T09:40:05.123456Z " or "2025-05-21 09:40:05 ".
std::size_t timestamp_length(std::string_view line) {
  static constexpr std::string_view shape = "dddd-dd-dd dd:dd:dd";
  if (line.size() <= shape.size()) return 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool fits = shape[i] == 'd'   ? is_digit(line[i])
                      : shape[i] == ' ' ? line[i] == ' ' || line[i] == 'T' || line[i] == '_'
                                        : line[i] == shape[i];
    if (!fits) return 0;
  }
  std::size_t end = shape.size();
  while (end < line.size() && line[end] != ' ' && line[end] != '\t') ++end;
  return end < line.size() ? end + 1 : 0;
}

/// Length of "node7: " or "3: ": one word, a colon and one blank.
std::size_t label_length(std::string_view line) {
  const auto end = std::find_if_not(line.begin(), line.end(), is_host_character);
  const auto length = static_cast<std::size_t>(end - line.begin());
  if (length == 0 || length > 64 || line.substr(length, 2) != ": ") return 0;
  return length + 2;
}

}  // namespace

std::optional<std::string_view> LineCursor::next() {
  if (rest_.empty()) return std::nullopt;
  const std::size_t end = rest_.find_first_of("\r\n");
  const std::string_view line = rest_.substr(0, end);
  const bool crlf = end != std::string_view::npos && rest_.substr(end, 2) == "\r\n";
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + (crlf ? 2 : 1));
  ++number_;
  return line;
}

std::string_view without_log_prefix(std::string_view line) {
  std::size_t start = 0;
  while (start < line.size() && line[start] == ' ') ++start;  // srun -l right-aligns ranks
  const std::string_view text = line.substr(start);
  for (const std::size_t length : {tag_length(text), timestamp_length(text)})
    if (length > 0) return text.substr(length);
  return line;
}

std::string_view without_line_prefix(std::string_view line) {
  if (const std::string_view text = without_log_prefix(line); text.size() < line.size())
    return text;
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t length = label_length(line.substr(start));
  return length > 0 ? line.substr(start + length) : line;
}

}  // namespace isleway::formats
