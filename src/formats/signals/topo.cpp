// `nvidia-smi topo -m`, -mp and -p2p.
#include <algorithm>
#include <iterator>

#include "formats/signal_sink.hpp"
#include "formats/topo_blocks.hpp"
#include "formats/topo_grid.hpp"
#include "formats/topo_matrix.hpp"
#include "formats/topo_tree.hpp"

namespace isleway::formats {
namespace {

class TopoReader {
 public:
  TopoReader(const TopoBlock& block, const std::string& file, SignalSink& sink)
      : block_(block), notes_(file), sink_(sink) {}

  void read() {
    read_legend();
    if (block_.is_p2p) read_p2p();
    else read_matrix();
    sink_.take(notes_.notices(), block_.first);
  }

 private:
  /// `line` counts from 1 in the block.
  void at(int line) { sink_.at(block_.first + static_cast<std::size_t>(line > 0 ? line - 1 : 0)); }

  /// Names stand under the matrix, and may be all that was copied.
  void read_legend() {
    const auto lines = split_lines(block_.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!is_nic_legend_line(lines[i])) continue;
      sink_.at(block_.first + i);
      const std::string_view text = trim(lines[i]);
      const std::string nic = topo_subject(before(text, ":"));
      const auto words = split_words(after(text, ":"));
      const bool readable = words.size() == 1 && !words[0].starts_with("NIC");
      if (readable) sink_.text("nic.name", nic, words[0]);
      else sink_.number("topo.nic_without_name", nic, 1);
    }
  }

  void read_matrix() {
    const auto matrix = parse_topo_matrix(block_.text, notes_);
    if (!matrix) return fail(matrix.error());
    std::size_t gpus = 0, missing_rows = 0;
    for (const TopoDevice& device : matrix->devices) {
      gpus += device.is_gpu ? 1 : 0;
      missing_rows += device.line == 0 ? 1 : 0;
    }
    at(matrix->line);
    sink_.number("gpu.count", "", static_cast<double>(gpus));
    if (matrix->hides_nvlink) sink_.number("topo.hides_nvlink", "", 1);
    if (missing_rows > 0) sink_.number("topo.incomplete", "", static_cast<double>(missing_rows));
    for (std::size_t i = 0; i < matrix->devices.size(); ++i) read_row(*matrix, i);
  }

  static std::string name_of(const TopoDevice& device) { return topo_subject(device.name); }

  void read_row(const TopoMatrix& matrix, std::size_t i) {
    const TopoDevice& device = matrix.devices[i];
    if (device.line == 0) return;
    at(device.line);
    const std::string subject = name_of(device);
    std::size_t missing = 0;
    for (std::size_t j = 0; j < matrix.devices.size(); ++j) {
      const TopoCell& cell = matrix.cell(i, j);
      if (i == j) continue;
      if (cell.kind == PathKind::dis) {
        ++missing;
        continue;
      }
      // The other direction says the same, unless a row is damaged.
      if (j < i && matrix.devices[j].line > 0 && same(cell, matrix.cell(j, i))) continue;
      const std::string peer = name_of(matrix.devices[j]);
      const bool is_nvlink = cell.kind == PathKind::nvl;
      sink_.text("topo.link", subject,
                 is_nvlink ? "NV" + std::to_string(cell.nvlinks) : word_of(cell.kind), peer);
      if (is_nvlink) sink_.number("topo.nvlinks", subject, cell.nvlinks, peer);
    }
    if (missing > 0) sink_.number("topo.incomplete", subject, static_cast<double>(missing));
    sink_.text("topo.cpu_affinity", subject, device.cpu_affinity);
    if (may_be_cut(device.cpu_affinity))
      sink_.text("topo.affinity_cut", subject, device.cpu_affinity);
    sink_.text("topo.numa_affinity", subject, device.numa);
    sink_.text("topo.gpu_numa", subject, device.gpu_numa);
  }

  static bool same(const TopoCell& a, const TopoCell& b) {
    return a.kind == b.kind && a.nvlinks == b.nvlinks;
  }

  static std::string word_of(PathKind kind) {
    switch (kind) {
      case PathKind::pix: return "PIX";
      case PathKind::pxb: return "PXB";
      case PathKind::phb: return "PHB";
      case PathKind::node: return "NODE";
      default: return "SYS";
    }
  }

  /// There is no matrix: what stands in its place, and how many GPUs the header names.
  void fail(const Error& error) {
    const std::string_view message = topo_tool_error(block_.text);
    const auto lines = split_lines(block_.text);
    for (std::size_t i = 0; i < lines.size() && !message.empty(); ++i) {
      if (!contains(lines[i], message)) continue;
      sink_.at(block_.first + i);
      sink_.text("tool.error", "nvidia-smi topo", message);
      break;
    }
    Notebook ignored(notes_.file());
    const auto grid = parse_topo_grid(block_.text, is_topo_cell, ignored);
    if (grid && grid->header_line > 0) {
      std::size_t gpus = 0;
      for (const std::string_view device : grid->devices) gpus += is_gpu_name(device) ? 1 : 0;
      at(grid->header_line);
      sink_.number("gpu.count", "", static_cast<double>(gpus));
    }
    notes_.incomplete(error.what, error.where.line);
  }

  void read_p2p() {
    const auto grid = parse_topo_grid(block_.text, is_p2p_cell, notes_);
    if (!grid || !grid->has_rows()) return;
    for (std::size_t i = 0; i < grid->devices.size(); ++i) {
      const TopoGrid::Row& row = grid->rows[i];
      if (row.line == 0) continue;
      at(row.line);
      for (std::size_t j = 0; j < row.cells.size(); ++j)
        if (i != j && is_p2p_cell(row.cells[j]))
          sink_.text("p2p.status", topo_subject(grid->devices[i]), row.cells[j],
                     topo_subject(grid->devices[j]));
    }
  }

  const TopoBlock& block_;
  Notebook notes_;
  SignalSink& sink_;
};

int recognise(const TextIndex& text) {
  const bool says_error = text.has("topology matrix") || text.has("missing its value") ||
                          text.has("in conjunction with -n");
  if (text.has("NIC Legend:") || (says_error && !topo_tool_error(text.text()).empty())) return 60;
  // Rows and columns are named "GPU0": other outputs are refused without looking for a matrix.
  constexpr const char* names[] = {"GPU0", "GPU1", "GPU2", "GPU3", "GPU4",
                                   "GPU5", "GPU6", "GPU7", "GPU8", "GPU9"};
  if (std::none_of(std::begin(names), std::end(names),
                   [&](const char* name) { return text.has(name); }))
    return 0;
  const int evidence = std::max(topo_grid_evidence(text.text(), is_topo_cell),
                                topo_grid_evidence(text.text(), is_p2p_cell));
  return evidence == 2 ? 90 : evidence == 1 ? 55 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  for (const TopoBlock& block : topo_blocks(text)) TopoReader(block, from.file, sink).read();
}

}  // namespace

extern const SignalReader topo_signals;
const SignalReader topo_signals = {"topo", "nvidia-smi topo -m, -mp, -p2p", recognise, read};

}  // namespace isleway::formats
