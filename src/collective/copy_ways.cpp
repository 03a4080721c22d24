#include "collective/copy_ways.hpp"

#include <algorithm>

namespace isleway {
namespace {

Route in_fabric(const Fabric& fabric, std::uint32_t unit, Route route) {
  for (Hop& hop : route.hops) hop.link = fabric.link_id(unit, hop.link);
  return route;
}

bool is_pcie(PathKind kind) { return kind >= PathKind::pix && kind != PathKind::dis; }

}  // namespace

std::optional<HostWay> host_way(const Fabric& fabric, DeviceRef gpu) {
  const Unit& unit = fabric.unit(gpu.unit);
  std::optional<HostWay> best;
  for (const DeviceIndex cpu : unit.cpus()) {
    if (unit.device(cpu).host != unit.device(gpu.device).host) continue;
    Route up = route_in_unit(unit, gpu.device, cpu);
    if (!up.exists() || (best && best->up.hops.size() <= up.hops.size())) continue;
    best = HostWay{in_fabric(fabric, gpu.unit, std::move(up)),
                   in_fabric(fabric, gpu.unit, route_in_unit(unit, cpu, gpu.device)),
                   {gpu.unit, cpu}};
  }
  return best;
}

Route peer_way(const Fabric& fabric, DeviceRef from, DeviceRef to) {
  if (from.unit != to.unit) return {};
  const Unit& unit = fabric.unit(from.unit);
  if (!peer_access(unit, from.device, to.device)) return {};
  Route route = route_in_unit(unit, from.device, to.device);
  if (route.kind == PathKind::nvb) route = route_in_unit(unit, from.device, to.device, true);
  if (unit.parts().modes.iommu && is_pcie(route.kind)) return {};
  return in_fabric(fabric, from.unit, std::move(route));
}

std::optional<StagedWay> staged_way(const Fabric& fabric, DeviceRef from, DeviceRef to,
                                    const HostWay& from_host, const HostWay& to_host) {
  if (from.unit != to.unit || fabric.host_of(from) != fabric.host_of(to)) return {};
  const Unit& unit = fabric.unit(from.unit);
  StagedWay way;
  const Route between = route_in_unit(unit, from_host.cpu.device, to_host.cpu.device);
  if (!between.exists()) return {};

  // The wires between the CPUs are left out: memory is spread over all of them, which together
  // carry more than any GPU's port.
  way.route.kind = from_host.up.kind;
  way.route.latency = from_host.up.latency + between.latency + to_host.down.latency;
  way.route.hops = from_host.up.hops;
  for (const Hop& hop : to_host.down.hops) {
    way.crosses_itself |= std::ranges::any_of(
        way.route.hops, [&](const Hop& earlier) { return earlier.link == hop.link; });
    way.route.hops.push_back(hop);
  }
  return way;
}

}  // namespace isleway
