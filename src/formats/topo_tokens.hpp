// The words of `nvidia-smi topo`: devices, titles, and what quoting puts around them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace isleway::formats {

using Tokens = std::vector<std::string_view>;

/// What may stand in a cell: matrices are read by these, never by column position.
using TopoCellTest = bool (*)(std::string_view token);

/// "GPU12" and not "GPU" or "GPU0x".
bool is_gpu_name(std::string_view token);

/// "GPU3", "NIC11", "mlx5_bond_2": a word that ends in its number.
bool is_topo_device_name(std::string_view token);

/// "  NIC0: mlx5_0"
bool is_nic_legend_line(std::string_view line);

/// The line as the tool printed it, without a mark of quotation or comment and without what
/// launchers put before it.
std::string_view bare_topo_line(std::string_view line);

/// The words of a line, without bars between cells.
Tokens topo_tokens(std::string_view line);

struct TopoHeader {
  Tokens devices;
  std::size_t titles = 0;  ///< of "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"
};

/// Devices, then title words, and nothing else. At least one device is a GPU, unless the line
/// goes on from a header that the terminal wrapped.
std::optional<TopoHeader> parse_topo_header(const Tokens& tokens, TopoCellTest is_cell,
                                            bool continued = false);

}  // namespace isleway::formats
