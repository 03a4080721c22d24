// What must hold for every machine, network and fault.
#include <cmath>
#include <map>

#include "unit/fabric/random_machines.hpp"

namespace isleway {
namespace {

using testing::any_fabric;
using testing::any_fault;
using testing::any_unit;

/// Bytes are neither lost nor made: what enters a device leaves it, all that leaves `from`
/// reaches `to`, and every link used is up.
template <class EndsOf, class Place>
void check_flow(const Route& route, EndsOf ends_of, Place from, Place to) {
  std::map<Place, double> surplus;
  for (const Hop& hop : route.hops) {
    const auto [a, b, up] = ends_of(hop.link);
    RC_ASSERT(up);
    RC_ASSERT(hop.share > 0);
    surplus[hop.forward ? a : b] -= static_cast<double>(hop.share);
    surplus[hop.forward ? b : a] += static_cast<double>(hop.share);
  }
  for (const auto& [place, sum] : surplus) {
    const double expected = place == from ? -1 : place == to ? 1 : 0;
    RC_ASSERT(std::abs(sum - expected) < 1e-5);
  }
  RC_ASSERT(surplus.contains(from) && surplus.contains(to));
}

RC_GTEST_PROP(UnitProperty, RoutesCarryAllBytesOverWorkingLinks, ()) {
  const auto unit = any_unit();
  const auto ends_of = [&](std::uint32_t link) {
    return std::tuple(unit->link(link).a, unit->link(link).b, unit->link(link).up());
  };
  for (DeviceIndex a = 0; a < unit->devices().size(); ++a)
    for (DeviceIndex b = 0; b < unit->devices().size(); ++b)
      for (bool ignore_nvlink : {false, true}) {
        const Route there = route_in_unit(*unit, a, b, ignore_nvlink);
        RC_ASSERT(there.kind == path_kind(*unit, b, a, ignore_nvlink));
        RC_ASSERT(there.kind != PathKind::loc || a == b);
        if (a == b || !there.exists()) {
          RC_ASSERT(there.hops.empty());
        } else {
          check_flow(there, ends_of, a, b);
        }
      }
}

RC_GTEST_PROP(UnitProperty, IslandsAreWhatNvlinkReaches, ()) {
  const auto unit = any_unit();
  std::vector<int> seen(static_cast<std::size_t>(unit->island_count()), 0);
  for (DeviceIndex a : unit->gpus()) {
    RC_ASSERT(unit->island_of(a) >= 0 && unit->island_of(a) < unit->island_count());
    ++seen[static_cast<std::size_t>(unit->island_of(a))];
    for (DeviceIndex b : unit->gpus()) {
      RC_ASSERT(nvlinks_between(*unit, a, b) == nvlinks_between(*unit, b, a));
      const PathKind kind = path_kind(*unit, a, b);
      if (kind == PathKind::nvl || kind == PathKind::nvb)
        RC_ASSERT(unit->island_of(a) == unit->island_of(b));
      if (kind == PathKind::nvl)
        RC_ASSERT(peer_access(*unit, a, b) ||
                  unit->parts().modes.confidential == Confidential::hopper_cc);
    }
  }
  for (int count : seen) RC_ASSERT(count > 0);
}

RC_GTEST_PROP(FabricProperty, RoutesAcrossTheNetworkAreWhole, ()) {
  const Fabric fabric = any_fabric();
  // A place is a device of a unit or, past all units, a network switch.
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<Place> ends_a, ends_b;
  for (std::uint32_t u = 0; u < fabric.unit_count(); ++u)
    for (const Link& link : fabric.unit(u).links()) {
      ends_a.emplace_back(u, link.a);
      ends_b.emplace_back(u, link.b);
    }
  for (std::uint32_t u = 0; u < fabric.unit_count(); ++u)
    for (DeviceIndex nic : fabric.unit(u).nics()) {
      ends_b.emplace_back(
          ~0u, fabric.network().attachments()[ends_a.size() - fabric.first_cable()].leaf);
      ends_a.emplace_back(u, nic);
    }
  for (const Network::Ends ends : fabric.network().trunk_ends()) {
    ends_a.emplace_back(~0u, ends.a);
    ends_b.emplace_back(~0u, ends.b);
  }
  RC_ASSERT(ends_a.size() == fabric.link_count());
  const auto ends_of = [&](LinkId link) {
    return std::tuple(ends_a[link], ends_b[link], fabric.link(link).up());
  };
  for (GpuId a = 0; a < fabric.gpu_count(); ++a) {
    const DeviceRef from = fabric.gpu(a);
    RC_ASSERT(fabric.gpu_id(from) == a);
    RC_ASSERT(*find_device(fabric, fabric.device_name(from)) == from);
    for (GpuId b = 0; b < fabric.gpu_count(); ++b) {
      const DeviceRef to = fabric.gpu(b);
      const Route there = route(fabric, from, to);
      RC_ASSERT(there.kind == route(fabric, to, from).kind);
      if (a != b && there.exists())
        check_flow(there, ends_of, Place(from.unit, from.device), Place(to.unit, to.device));
    }
  }
}

/// All that a reader of a fabric can see, as text.
std::string picture(const Fabric& fabric) {
  std::string out;
  for (LinkId link = 0; link < fabric.link_count(); ++link)
    out += fabric.link_name(link) + ' ' + std::to_string(fabric.link(link).rate().GBs()) + '\n';
  for (GpuId gpu = 0; gpu < fabric.gpu_count(); ++gpu)
    out += fabric.device_name(fabric.gpu(gpu)) + ' ' + std::to_string(fabric.island_of(gpu)) + '\n';
  for (const NetSwitch& s : fabric.network().switches())
    out += s.name + ' ' + std::to_string(s.members) + '\n';
  return out;
}

RC_GTEST_PROP(FabricProperty, FaultsChangeOnlyTheCopyAndAddNothing, ()) {
  const Fabric before = any_fabric();
  const std::string seen = picture(before);
  const Rate full = bisection(before);
  Fabric after = before;
  for (int i = 0; i < 3; ++i) {
    const auto changed = with_fault(after, any_fault(after));
    if (!changed) {
      RC_ASSERT(!changed.error().what.empty());
      continue;
    }
    after = *changed;
  }
  RC_ASSERT(picture(before) == seen);
  if (after.gpu_count() == before.gpu_count()) RC_ASSERT(bisection(after) <= full);
}

RC_GTEST_PROP(FabricProperty, CutsAreSymmetricAndGrowWithTheirSides, ()) {
  const Fabric fabric = any_fabric();
  std::vector<GpuId> from, to;
  for (GpuId gpu = 0; gpu < fabric.gpu_count(); ++gpu) {
    const int side = testing::pick(0, 2);
    if (side == 1) from.push_back(gpu);
    if (side == 2) to.push_back(gpu);
  }
  const Rate there = cut(fabric, from, to);
  RC_ASSERT(there == cut(fabric, to, from));
  if (from.size() > 1) RC_ASSERT(cut(fabric, std::span(from).first(from.size() - 1), to) <= there);
}

}  // namespace
}  // namespace isleway
