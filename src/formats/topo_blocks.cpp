#include "formats/topo_blocks.hpp"

#include <algorithm>
#include <array>

#include "formats/topo_matrix.hpp"
#include "formats/topo_tokens.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

bool is_any_cell(std::string_view token) { return is_topo_cell(token) || is_p2p_cell(token); }

}  // namespace

bool is_p2p_cell(std::string_view token) {
  static constexpr std::array<std::string_view, 8> words = {"X",   "OK", "CNS", "GNS",
                                                            "TNS", "NS", "DR",  "U"};
  return std::find(words.begin(), words.end(), token) != words.end();
}

std::vector<TopoBlock> topo_blocks(std::string_view text) {
  std::vector<TopoBlock> blocks(1);
  const std::vector<std::string_view> lines = split_lines(text);
  bool has_rows = false;
  std::size_t titles = 0;
  int p2p_words = 0, topo_words = 0;
  const auto close = [&](std::string_view rest) {
    TopoBlock& block = blocks.back();
    const char* start = block.first < lines.size() ? lines[block.first].data() : text.data();
    block.text = std::string_view(start, static_cast<std::size_t>(rest.data() - start));
    block.is_p2p = titles == 0 && p2p_words > topo_words;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find("GPU") == std::string_view::npos) continue;
    const Tokens tokens = topo_tokens(bare_topo_line(lines[i]));
    if (tokens.size() > 1 && is_gpu_name(tokens[0]) && is_any_cell(tokens[1])) {
      has_rows = true;
      for (const std::string_view token : tokens) {
        if (token == "X") continue;
        p2p_words += is_p2p_cell(token);
        topo_words += is_topo_cell(token);
      }
      continue;
    }
    const auto header = parse_topo_header(tokens, is_any_cell);
    if (!header || (header->devices.size() < 2 && header->titles == 0)) continue;
    if (has_rows) {
      close(lines[i]);
      blocks.push_back({i, {}, false});
      has_rows = false;
      p2p_words = topo_words = 0;
    }
    titles = header->titles;
  }
  close(text.substr(text.size()));
  return blocks;
}

std::string topo_subject(std::string_view device) {
  if (is_gpu_name(device) || (device.starts_with("NIC") && parse_int(device.substr(3))))
    return to_lower(device);
  return std::string(device);
}

}  // namespace isleway::formats
