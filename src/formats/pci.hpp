// How tools write PCI addresses and PCIe speeds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace isleway::formats {

/// "0000:1b:00.0": lower case, four-digit domain, whatever the tool wrote ("1B:00.0",
/// "00000000:1B:00.0"). Text that is no address comes back trimmed and in lower case.
std::string canonical_bus_id(std::string_view text);

/// From the number that NCCL packs an address into (domain << 20 | bus << 12 | device << 4 |
/// function), as its logs print it in hex: "1b000" is 0000:1b:00.0.
std::optional<std::string> bus_id_from_packed(std::string_view hex);

/// True for the addresses that hand-made files give to switches which they invent.
bool is_placeholder_bus_id(std::string_view bus_id);

/// What a file says of a PCIe connection; 0 where it is silent.
struct PcieWire {
  int generation = 0;
  int lanes = 0;
  bool is_virtual = false;  ///< no PCIe at all: a socket interface, seen by its host alone
  int host_bridge = -1;     ///< at a CPU: wires with the same number leave by the same bridge
};

/// Generation behind "16.0 GT/s PCIe", "16 GT/s" or "16"; 0 when it is none.
int pcie_generation(std::string_view link_speed);

/// "16.0 GT/s PCIe" as Linux and NCCL write it; empty for an unknown generation.
const char* pcie_speed_text(int generation);

/// The likeliest wire for a rate in GB/s, one direction, when a lane of generation g carries
/// `per_lane[g - 1]`. Of equal ones the widest that is not older than generation 3, for
/// which slots are built today. Nothing matches within `tolerance`: generation 0.
PcieWire wire_for_rate(double gigabytes_per_second, const double (&per_lane)[6], double tolerance);

}  // namespace isleway::formats
