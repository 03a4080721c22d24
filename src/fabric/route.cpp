// Ways between any two devices of a fabric.
#include <fmt/format.h>

#include "fabric/nearest_nic.hpp"
#include "isleway/fabric/fabric.hpp"

namespace isleway {
namespace {

/// Hops of a unit's own route with the fabric's link numbers.
void append(Route& route, const Fabric& fabric, std::uint32_t unit, const Route& inside) {
  route.latency += inside.latency;
  for (Hop hop : inside.hops) {
    hop.link = fabric.link_id(unit, hop.link);
    route.hops.push_back(hop);
  }
}

void append(Route& route, const Fabric& fabric, Hop hop) {
  route.latency += fabric.link(hop.link).latency;
  route.hops.push_back(hop);
}

/// The NIC by which a device reaches the network; itself when it is one.
std::optional<DeviceRef> way_out(const Fabric& fabric, DeviceRef from) {
  const auto works = [&](DeviceIndex nic) {
    return fabric.link(fabric.cable_id({from.unit, nic})).up();
  };
  const Unit& unit = fabric.unit(from.unit);
  if (unit.device(from.device).kind == DeviceKind::nic)
    return works(from.device) ? std::optional(from) : std::nullopt;
  const auto nic = nearest_nic_among(unit, from.device, works);
  return nic ? std::optional(DeviceRef{from.unit, *nic}) : std::nullopt;
}

Route over_network(const Fabric& fabric, DeviceRef from, DeviceRef to) {
  const auto nic_from = way_out(fabric, from);
  const auto nic_to = way_out(fabric, to);
  if (!nic_from || !nic_to || *nic_from == *nic_to) return {};

  const Network& network = fabric.network();
  const auto leaf_of = [&](DeviceRef nic) {
    return network.attachments()[fabric.cable_id(nic) - fabric.first_cable()].leaf;
  };
  std::vector<Hop> trunks;
  if (!network.route(leaf_of(*nic_from), leaf_of(*nic_to), trunks)) return {};

  Route route;
  route.kind = PathKind::net;
  append(route, fabric, from.unit,
         route_in_unit(fabric.unit(from.unit), from.device, nic_from->device));
  append(route, fabric, Hop{fabric.cable_id(*nic_from), true, 1});
  for (Hop hop : trunks)
    append(route, fabric, {fabric.first_trunk() + hop.link, hop.forward, hop.share});
  append(route, fabric, Hop{fabric.cable_id(*nic_to), false, 1});
  append(route, fabric, to.unit, route_in_unit(fabric.unit(to.unit), nic_to->device, to.device));
  return route;
}

}  // namespace

Route route(const Fabric& fabric, DeviceRef from, DeviceRef to) {
  if (from.unit == to.unit) {
    const Route inside = route_in_unit(fabric.unit(from.unit), from.device, to.device);
    if (inside.exists()) {
      Route route{inside.kind, Time(), {}};
      append(route, fabric, from.unit, inside);
      return route;
    }
  }
  return over_network(fabric, from, to);
}

}  // namespace isleway
