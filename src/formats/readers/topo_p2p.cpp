// `nvidia-smi topo -p2p`: which GPUs may reach one another.
#include <fmt/format.h>

#include <algorithm>

#include "formats/topo_blocks.hpp"
#include "formats/topo_grid.hpp"
#include "isleway/core/text.hpp"
#include "isleway/formats.hpp"

namespace isleway::formats {
namespace {

int recognise(std::string_view text) {
  const std::string clean = strip_terminal_codes(text);
  // The lone X of a single GPU fits both matrices; only topo -m has titled columns.
  if (clean.find("CPU Affinity") != std::string::npos) return 0;
  switch (topo_grid_evidence(clean, is_p2p_cell)) {
    case 2: return 90;
    case 1: return 50;  // a header, which may as well be that of topo -m
    default: return 0;
  }
}

Result<Document> read_table(std::string_view text, const ReadContext& context) {
  const std::string clean = strip_terminal_codes(text);
  Notebook notes(context.file);
  const auto grid = parse_topo_grid(clean, is_p2p_cell, notes);
  if (!grid) return tl::unexpected(grid.error());
  if (!grid->has_rows())
    return fail("holds no row of a peer-to-peer matrix",
                "a header 'GPU0 GPU1 ...' and one row a GPU",
                "copy the whole output of 'nvidia-smi topo -p2p r'", notes.at(1));
  P2pTable table;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < grid->devices.size(); ++i) {
    table.devices.emplace_back(grid->devices[i]);
    std::vector<std::string> cells(grid->devices.size());
    for (std::size_t j = 0; j < grid->rows[i].cells.size(); ++j)
      if (is_p2p_cell(grid->rows[i].cells[j])) cells[j] = grid->rows[i].cells[j];
    missing += static_cast<std::size_t>(std::count(cells.begin(), cells.end(), std::string()));
    table.cells.push_back(std::move(cells));
  }
  if (missing > 0) notes.incomplete(fmt::format("{} cells of the matrix are missing", missing));
  return Document{"topo-p2p", std::move(table), notes.notices()};
}

}  // namespace

extern const Reader topo_p2p_reader;
const Reader topo_p2p_reader = {"topo-p2p", "nvidia-smi topo -p2p", recognise, read_table};

}  // namespace isleway::formats
