// The public questions about ways inside a unit.
#include <algorithm>

#include "fabric/host_path.hpp"
#include "fabric/scale_up.hpp"
#include "isleway/fabric/unit.hpp"

namespace isleway {
namespace {

bool is_gpu(const Unit& unit, DeviceIndex i) { return unit.device(i).kind == DeviceKind::gpu; }

Route as_route(PathKind kind, Spray spray) { return {kind, spray.latency, std::move(spray.hops)}; }

}  // namespace

int nvlinks_between(const Unit& unit, DeviceIndex gpu_a, DeviceIndex gpu_b) {
  // Where several planes share a trunk, only the end behind it sees how narrow that is.
  return std::min(spray_over_nvlink(unit, gpu_a, gpu_b).width,
                  spray_over_nvlink(unit, gpu_b, gpu_a).width);
}

Route route_in_unit(const Unit& unit, DeviceIndex from, DeviceIndex to, bool ignore_nvlink) {
  if (from == to) return {PathKind::loc, Time(), {}};
  if (!ignore_nvlink) {
    if (Spray spray = spray_over_nvlink(unit, from, to); spray.width > 0)
      return as_route(PathKind::nvl, std::move(spray));
    if (is_gpu(unit, from) && is_gpu(unit, to))
      if (Spray spray = spray_through_gpu(unit, from, to); spray.width > 0)
        return as_route(PathKind::nvb, std::move(spray));
  }
  return path_through_host(unit, from, to, ignore_nvlink);
}

PathKind path_kind(const Unit& unit, DeviceIndex from, DeviceIndex to, bool ignore_nvlink) {
  return route_in_unit(unit, from, to, ignore_nvlink).kind;
}

Route route_to_switches(const Unit& unit, DeviceIndex gpu, bool towards_switches) {
  Route route;
  int count = 0;
  const auto leads_to_switch = [&](std::uint32_t link) {
    return is_scale_up(unit, link) &&
           unit.device(unit.peer(link, gpu)).kind == DeviceKind::nvswitch;
  };
  for (std::uint32_t link : unit.links_at(gpu))
    if (leads_to_switch(link)) count += unit.link(link).count;
  for (std::uint32_t link : unit.links_at(gpu)) {
    if (!leads_to_switch(link)) continue;
    const bool from_gpu = unit.link(link).a == gpu;
    const double share = static_cast<double>(unit.link(link).count) / count;
    route.kind = PathKind::nvl;
    route.latency = std::max(route.latency, unit.link(link).latency);
    route.hops.push_back({link, from_gpu == towards_switches, static_cast<float>(share)});
  }
  return route;
}

bool peer_access(const Unit& unit, DeviceIndex from, DeviceIndex to, PathKind furthest_pcie) {
  if (!is_gpu(unit, from) || !is_gpu(unit, to)) return false;
  const GpuInfo& a = unit.device(from).gpu();
  const GpuInfo& b = unit.device(to).gpu();
  const Confidential confidential = unit.parts().modes.confidential;
  if (a.mig || b.mig) return false;
  if (from == to) return true;
  // One GPU passed into a confidential guest (Hopper) shares memory with no other.
  if (confidential == Confidential::hopper_cc) return false;
  if (spray_over_nvlink(unit, from, to).width > 0) return true;
  // Elsewhere in confidential mode PCIe is a bounce buffer, never a peer's window.
  return confidential == Confidential::off && a.pcie_p2p && b.pcie_p2p &&
         unit.device(from).host == unit.device(to).host &&
         path_through_host(unit, from, to).kind <= furthest_pcie &&
         path_through_host(unit, from, to).exists();
}

}  // namespace isleway
