// Matrices in the shapes in which they reach us.
#pragma once

#include <string>
#include <string_view>

#include "unit/formats/reading.hpp"

namespace isleway::formats {

extern const Reader topo_m_reader;
extern const Reader topo_p2p_reader;
extern const Writer topo_m_writer;

/// The unit that topo -m text describes; fails the test where it describes none.
inline std::shared_ptr<const Unit> unit_of(std::string_view text, std::string gpu = {}) {
  auto document = read_with(topo_m_reader, text, std::move(gpu));
  if (!document) throw std::runtime_error(document.error().text());
  return std::get<std::shared_ptr<const Unit>>(document->content);
}

inline std::string topo_m_of(std::shared_ptr<const Unit> unit) {
  const auto fabric = Fabric::single(std::move(unit));
  auto text = topo_m_writer.write(fabric.value(), {});
  if (!text) throw std::runtime_error(text.error().text());
  return *std::move(text);
}

/// Two sockets of two GPUs, each pair behind a switch with a NIC, all on NVSwitch: what a
/// current driver prints, byte for byte.
inline constexpr std::string_view kSwitchedServer =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV18\tNV18\tNV18\tPIX\tSYS\t0-31,64-95\t0\t\tN/A\n"
    "GPU1\tNV18\t X \tNV18\tNV18\tPIX\tSYS\t0-31,64-95\t0\t\tN/A\n"
    "GPU2\tNV18\tNV18\t X \tNV18\tSYS\tPIX\t32-63,96-127\t1\t\tN/A\n"
    "GPU3\tNV18\tNV18\tNV18\t X \tSYS\tPIX\t32-63,96-127\t1\t\tN/A\n"
    "NIC0\tPIX\tPIX\tSYS\tSYS\t X \tSYS\t\t\t\t\n"
    "NIC1\tSYS\tSYS\tPIX\tPIX\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., "
    "QPI/UPI)\n"
    "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges "
    "within a NUMA node\n"
    "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
    "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host "
    "Bridge)\n"
    "  PIX  = Connection traversing at most a single PCIe bridge\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n"
    "\nNIC Legend:\n\n"
    "  NIC0: mlx5_0\n"
    "  NIC1: mlx5_2\n"
    "\n";

}  // namespace isleway::formats
