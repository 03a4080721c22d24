// The matrix of `nvidia-smi topo -m` as facts: who reaches whom how, and whose CPUs are near.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/notebook.hpp"
#include "isleway/fabric/path.hpp"

namespace isleway::formats {

struct TopoDevice {
  std::string printed;  ///< in rows and columns: "GPU3", "NIC0", "mlx5_1"
  std::string name;     ///< as printed, or what the NIC legend says: "mlx5_0"
  bool is_gpu = false;
  int number = -1;  ///< of "GPU3" or "NIC0"; -1 where columns carry device names
  int line = 0;     ///< of its row; 0: it has none
  /// The titled columns; empty where the file is silent or says N/A.
  std::string cpu_affinity, numa, gpu_numa;
};

struct TopoCell {
  PathKind kind = PathKind::dis;  ///< loc, nvl, pix, pxb, phb, node, sys; dis: not known
  int nvlinks = 0;
};

struct TopoMatrix {
  std::vector<TopoDevice> devices;  ///< in column order
  std::vector<TopoCell> cells;      ///< row by row
  std::size_t titles = 0;           ///< titled columns: drivers from about 450 print 2, from 530 3
  int line = 0;                     ///< where it starts
  /// Made by `topo -mp`, which shows NVLink pairs as what PCIe is between them.
  bool hides_nvlink = false;

  const TopoCell& cell(std::size_t from, std::size_t to) const {
    return cells[from * devices.size() + to];
  }
};

/// "X", "NV12", "PIX" ... ; the word that topo -m prints.
bool is_topo_cell(std::string_view token);

/// `text` is free of terminal codes. Error: there is no matrix, with what stands in its place.
Result<TopoMatrix> parse_topo_matrix(std::string_view text, Notebook& notes);

/// What `text` says instead of a matrix (an error of the tool), or empty.
std::string_view topo_tool_error(std::string_view text);

/// "NIC0, NIC1, NIC2 and 31 more".
std::string list_names(const std::vector<std::string>& names);

}  // namespace isleway::formats
