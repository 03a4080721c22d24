#include "isleway/fabric/addresses.hpp"

#include <fmt/format.h>

#include <set>

namespace isleway {

std::vector<std::string> pci_addresses(const Unit& unit) {
  std::set<std::string> used;
  for (const Device& device : unit.devices()) used.insert(device.pci.bus_id);
  std::vector<std::string> addresses;
  int bus = 0;
  for (const Device& device : unit.devices()) {
    std::string address = device.pci.bus_id;
    while (address.empty() && device.kind != DeviceKind::cpu) {
      ++bus;
      address = fmt::format("{:04x}:{:02x}:00.0", bus / 256, bus % 256);
      if (used.contains(address)) address.clear();
    }
    addresses.push_back(std::move(address));
  }
  return addresses;
}

}  // namespace isleway
