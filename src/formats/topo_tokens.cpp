#include "formats/topo_tokens.hpp"

#include <algorithm>
#include <array>

#include "formats/line_prefix.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The words of "CPU Affinity", "NUMA Affinity" and "GPU NUMA ID", or the start of one where
/// the line was cut.
bool is_title_word(std::string_view token) {
  static constexpr std::array<std::string_view, 5> words = {"CPU", "Affinity", "NUMA", "GPU", "ID"};
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return word.substr(0, token.size()) == token; });
}

/// "NIC11NIC12" as two tokens; also "GPU7CPU".
void split_glued(std::string_view token, Tokens& out) {
  static constexpr std::array<std::string_view, 4> starts = {"GPU", "NIC", "mlx", "CPU"};
  for (std::size_t i = 1; i < token.size(); ++i) {
    if (!is_digit(token[i - 1])) continue;
    const std::string_view rest = token.substr(i);
    if (std::any_of(starts.begin(), starts.end(),
                    [&](std::string_view s) { return rest.substr(0, s.size()) == s; })) {
      out.push_back(token.substr(0, i));
      token = rest;
      i = 0;
    }
  }
  out.push_back(token);
}

}  // namespace

bool is_gpu_name(std::string_view token) {
  return token.size() > 3 && token.substr(0, 3) == "GPU" &&
         std::all_of(token.begin() + 3, token.end(), is_digit);
}

bool is_nic_legend_line(std::string_view line) {
  line = trim(line);
  const std::size_t colon = line.substr(0, 10).find(':');
  return line.substr(0, 3) == "NIC" && colon != std::string_view::npos && colon > 3 &&
         std::all_of(line.begin() + 3, line.begin() + static_cast<std::ptrdiff_t>(colon), is_digit);
}

bool is_topo_device_name(std::string_view token) {
  return token.size() >= 2 && token.size() <= 64 && is_alpha(token.front()) &&
         is_digit(token.back()) && std::all_of(token.begin(), token.end(), [](char c) {
           return is_alpha(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
         });
}

std::string_view bare_topo_line(std::string_view line) {
  for (const std::string_view mark : {"> ", "# ", "// ", "* "})
    if (line.substr(0, mark.size()) == mark) line.remove_prefix(mark.size());
  return is_nic_legend_line(line) ? line : without_line_prefix(line);
}

Tokens topo_tokens(std::string_view line) {
  Tokens tokens;
  for (const std::string_view word : split_words(line))
    for (const std::string_view piece : split(word, '|'))  // a table in Markdown
      if (!piece.empty()) tokens.push_back(piece);
  return tokens;
}

std::optional<TopoHeader> parse_topo_header(const Tokens& raw, TopoCellTest is_cell,
                                            bool continued) {
  Tokens tokens;
  for (const std::string_view token : raw) split_glued(token, tokens);
  TopoHeader header;
  std::size_t i = 0;
  while (i < tokens.size() && is_topo_device_name(tokens[i]) && !is_cell(tokens[i])) ++i;
  header.devices.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(i));
  if (!continued && std::none_of(header.devices.begin(), header.devices.end(), is_gpu_name))
    return std::nullopt;
  std::size_t affinities = 0;
  bool id = false;
  for (; i < tokens.size(); ++i) {
    if (!is_title_word(tokens[i])) return std::nullopt;
    affinities += tokens[i] == "Affinity";
    id |= tokens[i] == "ID";
  }
  header.titles = affinities + (id ? 1 : 0);
  return header;
}

}  // namespace isleway::formats
