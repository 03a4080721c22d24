#include "formats/paste/clean_lines.hpp"

#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "formats/line_prefix.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Web pages' entities back to characters. Not in XML, where they mean what they say.
std::string decode_entities(std::string text) {
  static constexpr std::array<std::pair<std::string_view, char>, 6> entities = {{{"&lt;", '<'},
                                                                                 {"&gt;", '>'},
                                                                                 {"&quot;", '"'},
                                                                                 {"&#39;", '\''},
                                                                                 {"&nbsp;", ' '},
                                                                                 {"&amp;", '&'}}};
  if (text.find('&') == std::string::npos || text.find("</") != std::string::npos ||
      text.find("/>") != std::string::npos)
    return text;
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    for (const auto& [entity, character] : entities)
      if (c == '&' && text.compare(i, entity.size(), entity) == 0) {
        c = character;
        i += entity.size() - 1;
        break;
      }
    out += c;
  }
  return out;
}

/// A number and what stands between it and the line: "  12: ", "12|", "12\t".
struct Numbered {
  std::int64_t number;
  std::size_t length;
};
std::optional<Numbered> line_number(std::string_view line) {
  std::size_t start = 0;
  while (start < line.size() && line[start] == ' ') ++start;
  std::size_t end = start;
  while (end < line.size() && end - start < 9 && is_digit(line[end])) ++end;
  const auto number = parse_int(line.substr(start, end - start));
  if (!number) return std::nullopt;
  if (end == line.size()) return Numbered{*number, end};
  if (std::string_view(":|\t ").find(line[end]) == std::string_view::npos) return std::nullopt;
  ++end;
  return Numbered{*number, end};
}

}  // namespace

CleanLines::CleanLines(std::string_view raw) {
  stripped_ = strip_terminal_codes(raw);
  originals_ = split_lines(stripped_);
  clean_ = decode_entities(stripped_);
  lines_ = split_lines(clean_);
  drop_quotes();
  drop_numbers();
  for (std::string_view& line : lines_) line = without_log_prefix(line);
}

void CleanLines::drop_quotes() {
  for (std::string_view& line : lines_)
    for (int level = 0; level < 8; ++level) {
      const std::size_t mark = line.find_first_not_of(' ');
      if (mark == std::string_view::npos || line[mark] != '>' || mark > 3) break;
      const bool blank_after = mark + 1 == line.size() || line[mark + 1] == ' ' ||
                               line[mark + 1] == '>' || line[mark + 1] == '\t';
      if (!blank_after) break;
      line.remove_prefix(mark + 1);
      if (line.starts_with(" ")) line.remove_prefix(1);
    }
}

void CleanLines::drop_numbers() {
  std::size_t filled = 0, counted = 0;
  std::int64_t last = -1;
  for (const std::string_view line : lines_) {
    if (trim(line).empty()) continue;
    ++filled;
    const auto found = line_number(line);
    // Blank lines may carry no number, so a step is allowed.
    if (found && (last < 0 || (found->number > last && found->number <= last + 3))) ++counted;
    if (found) last = found->number;
  }
  if (filled < 4 || counted * 5 < filled * 4) return;
  for (std::string_view& line : lines_)
    if (const auto found = line_number(line)) line.remove_prefix(found->length);
}

}  // namespace isleway::formats
