// What must hold for every machine, network and fault.
#include "unit/fabric/check_route.hpp"
#include "unit/fabric/random_machines.hpp"

namespace isleway {
namespace {

using testing::any_fabric;
using testing::any_fault;
using testing::any_unit;

RC_GTEST_PROP(UnitProperty, RoutesCarryAllBytesOverWorkingLinks, ()) {
  const auto unit = any_unit();
  const Fabric fabric = *Fabric::single(unit);  // its link numbers are the unit's
  const auto ends = testing::ends_of_links(fabric);
  for (DeviceIndex a = 0; a < unit->devices().size(); ++a)
    for (DeviceIndex b = 0; b < unit->devices().size(); ++b)
      for (bool ignore_nvlink : {false, true}) {
        const Route there = route_in_unit(*unit, a, b, ignore_nvlink);
        RC_ASSERT(there.kind == path_kind(*unit, b, a, ignore_nvlink));
        RC_ASSERT((there.kind == PathKind::loc) == (a == b));
        RC_ASSERT(there.hops.empty() == (a == b || !there.exists()));
        if (there.exists()) RC_ASSERT(testing::flaw(fabric, ends, there, {0, a}, {0, b}) == "");
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
  const auto ends = testing::ends_of_links(fabric);
  RC_ASSERT(ends.size() == fabric.link_count());
  for (GpuId a = 0; a < fabric.gpu_count(); ++a) {
    const DeviceRef from = fabric.gpu(a);
    RC_ASSERT(fabric.gpu_id(from) == a);
    RC_ASSERT(*find_device(fabric, fabric.device_name(from)) == from);
    for (GpuId b = 0; b < fabric.gpu_count(); ++b) {
      const Route there = route(fabric, from, fabric.gpu(b));
      RC_ASSERT(there.kind == route(fabric, fabric.gpu(b), from).kind);
      if (there.exists()) RC_ASSERT(testing::flaw(fabric, ends, there, from, fabric.gpu(b)) == "");
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
