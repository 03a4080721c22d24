#include "isleway/fabric/host_cpu.hpp"

namespace isleway {

std::optional<std::uint32_t> c2c_link(const Unit& unit, DeviceIndex gpu) {
  for (const std::uint32_t link : unit.links_at(gpu))
    if (unit.link(link).kind == LinkKind::c2c &&
        unit.device(unit.peer(link, gpu)).kind == DeviceKind::cpu)
      return link;
  return std::nullopt;
}

std::optional<DeviceIndex> host_cpu(const Unit& unit, DeviceIndex device) {
  if (const auto link = c2c_link(unit, device)) return unit.peer(*link, device);
  while (const auto up = unit.pcie_uplink(device)) device = unit.peer(*up, device);
  if (unit.device(device).kind != DeviceKind::cpu) return std::nullopt;
  return device;
}

}  // namespace isleway
