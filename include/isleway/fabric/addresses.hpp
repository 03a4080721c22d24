// PCI addresses for every device, also where the description of a machine has none.
#pragma once

#include "isleway/fabric/unit.hpp"

namespace isleway {

/// By device: its own address, or one that no other device has. Empty for CPUs.
std::vector<std::string> pci_addresses(const Unit& unit);

}  // namespace isleway
