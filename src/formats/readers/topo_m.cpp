// `nvidia-smi topo -m` and -mp.
#include "formats/line_prefix.hpp"
#include "formats/topo_grid.hpp"
#include "formats/topo_machine.hpp"
#include "isleway/core/text.hpp"
#include "isleway/formats.hpp"

namespace isleway::formats {
namespace {

int recognise(std::string_view text) {
  const std::string clean = strip_terminal_codes(text);
  switch (topo_grid_evidence(clean, is_topo_cell)) {
    case 2: return 90;
    case 1: return 55;  // a header: what failed is worth a better message than "unknown"
    default: break;
  }
  if (!topo_tool_error(clean).empty()) return 55;
  LineCursor lines(clean);
  while (const auto line = lines.next())
    if (trim(*line) == "NIC Legend:") return 55;
  return 0;
}

Result<Document> read_matrix(std::string_view text, const ReadContext& context) {
  const std::string clean = strip_terminal_codes(text);
  Notebook notes(context.file);
  return parse_topo_matrix(clean, notes).and_then([&](const TopoMatrix& matrix) {
    return machine_of_topo(matrix, context, notes);
  });
}

}  // namespace

extern const Reader topo_m_reader;
const Reader topo_m_reader = {"topo-m", "nvidia-smi topo -m", recognise, read_matrix};

}  // namespace isleway::formats
