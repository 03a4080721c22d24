#include "fabric/host_path.hpp"

#include <algorithm>

namespace isleway {
namespace {

bool is_cpu(const Unit& unit, DeviceIndex i) { return unit.device(i).kind == DeviceKind::cpu; }

/// From a device up its PCIe tree as far as the links work.
struct Climb {
  std::vector<DeviceIndex> devices;  ///< the device itself first
  std::vector<std::uint32_t> links;  ///< links[i] leads from devices[i] to devices[i + 1]
};

Climb climb_pcie(const Unit& unit, DeviceIndex from) {
  Climb climb{{from}, {}};
  while (const auto uplink = unit.pcie_uplink(climb.devices.back())) {
    if (!unit.link(*uplink).up()) break;
    climb.links.push_back(*uplink);
    climb.devices.push_back(unit.link(*uplink).a);
  }
  return climb;
}

class HostPath {
 public:
  HostPath(const Unit& unit, DeviceIndex from, DeviceIndex to, bool without_c2c)
      : unit_(unit), from_(from), to_(to), without_c2c_(without_c2c) {}

  Route find() {
    const Climb up = climb_pcie(unit_, from_);
    const Climb down = climb_pcie(unit_, to_);
    if (!below_host_bridge(up, down) && !over_cpus(up, down)) return {};
    return std::move(route_);
  }

 private:
  void step(std::uint32_t link, DeviceIndex from) {
    route_.hops.push_back({link, unit_.link(link).a == from, 1.0f});
    route_.latency += unit_.link(link).latency;
  }
  void take_up(const Climb& climb, std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) step(climb.links[i], climb.devices[i]);
  }
  void take_down(const Climb& climb, std::size_t steps) {
    for (std::size_t i = steps; i-- > 0;) step(climb.links[i], climb.devices[i + 1]);
  }

  /// PIX or PXB: the two trees meet in a PCIe switch.
  bool below_host_bridge(const Climb& up, const Climb& down) {
    const auto meet = std::find_first_of(up.devices.begin(), up.devices.end(), down.devices.begin(),
                                         down.devices.end());
    if (meet == up.devices.end() || is_cpu(unit_, *meet)) return false;
    const auto ups = static_cast<std::size_t>(meet - up.devices.begin());
    const auto downs = static_cast<std::size_t>(
        std::find(down.devices.begin(), down.devices.end(), *meet) - down.devices.begin());

    int switches = 0;
    const auto count = [&](DeviceIndex i) {
      if (const auto* info = std::get_if<PcieSwitchInfo>(&unit_.device(i).info))
        switches += info->stands_for_several ? 2 : 1;
    };
    for (std::size_t i = 0; i <= ups; ++i) count(up.devices[i]);
    for (std::size_t i = 0; i < downs; ++i) count(down.devices[i]);
    route_.kind = switches > 1 ? PathKind::pxb : PathKind::pix;
    take_up(up, ups);
    take_down(down, downs);
    return true;
  }

  /// How one end gets to a CPU: over C2C where it has it, else by the whole PCIe tree.
  struct Ascent {
    std::optional<std::uint32_t> c2c;
    std::optional<DeviceIndex> cpu;
  };
  Ascent ascend(DeviceIndex device, const Climb& climb) const {
    const bool by_pcie = is_cpu(unit_, climb.devices.back());
    const auto direct = link_to_cpu(unit_, device);
    if (direct && !(without_c2c_ && by_pcie)) return {direct, unit_.peer(*direct, device)};
    if (by_pcie) return {{}, climb.devices.back()};
    return {};
  }

  bool over_cpus(const Climb& up, const Climb& down) {
    const Ascent first = ascend(from_, up);
    const Ascent last = ascend(to_, down);
    if (!first.cpu || !last.cpu) return false;

    if (first.c2c) {
      step(*first.c2c, from_);
    } else {
      take_up(up, up.links.size());
    }
    if (!between_cpus(*first.cpu, *last.cpu)) return false;
    if (last.c2c) {
      step(*last.c2c, *last.cpu);
    } else {
      take_down(down, down.links.size());
    }
    route_.kind = *first.cpu != *last.cpu ? PathKind::sys : kind_at_cpu(first, up, last, down);
    if (without_c2c_ && (has_own_numa_node(from_) || has_own_numa_node(to_)))
      route_.kind = PathKind::sys;
    return true;
  }

  /// Two ways that meet at one CPU.
  PathKind kind_at_cpu(const Ascent& first, const Climb& up, const Ascent& last,
                       const Climb& down) const {
    const auto kind_of = [&](const Ascent& ascent, const Climb& climb) {
      if (ascent.c2c)
        return unit_.link(*ascent.c2c).kind == LinkKind::c2c ? PathKind::c2c : PathKind::nvl;
      return climb.links.empty() ? PathKind::loc : PathKind::phb;
    };
    const PathKind a = kind_of(first, up);
    const PathKind b = kind_of(last, down);
    if (a == PathKind::phb && b == PathKind::phb) {
      const std::int16_t bridge = unit_.link(up.links.back()).host_bridge;
      const bool shared = bridge >= 0 && bridge == unit_.link(down.links.back()).host_bridge;
      return shared ? PathKind::phb : PathKind::node;
    }
    const auto [near, far] = std::minmax(a, b);
    return near == PathKind::c2c && far == PathKind::phb ? PathKind::p2c : far;
  }

  /// Grace: the GPU's memory is a NUMA node, so nvidia-smi sees every path leave one.
  bool has_own_numa_node(DeviceIndex device) const {
    const auto direct = link_to_cpu(unit_, device);
    return direct && unit_.link(*direct).kind == LinkKind::c2c;
  }

  /// Fewest hops between CPUs, whatever joins them (UPI, Infinity Fabric, C2C).
  bool between_cpus(DeviceIndex from, DeviceIndex to) {
    if (from == to) return true;
    std::vector<std::int64_t> by(unit_.devices().size(), -1);  // link towards `to`
    std::vector<DeviceIndex> queue = {to};
    for (std::size_t head = 0; head < queue.size() && by[from] < 0; ++head)
      for (std::uint32_t link : unit_.links_at(queue[head])) {
        const DeviceIndex next = unit_.peer(link, queue[head]);
        if (!is_cpu(unit_, next) || !unit_.link(link).up() || next == to || by[next] >= 0) continue;
        by[next] = link;
        queue.push_back(next);
      }
    if (by[from] < 0) return false;
    for (DeviceIndex at = from; at != to;) {
      const auto link = static_cast<std::uint32_t>(by[at]);
      step(link, at);
      at = unit_.peer(link, at);
    }
    return true;
  }

  const Unit& unit_;
  const DeviceIndex from_, to_;
  const bool without_c2c_;
  Route route_;
};

}  // namespace

Route path_through_host(const Unit& unit, DeviceIndex from, DeviceIndex to, bool as_without_c2c) {
  return HostPath(unit, from, to, as_without_c2c).find();
}

std::optional<std::uint32_t> link_to_cpu(const Unit& unit, DeviceIndex gpu) {
  if (unit.device(gpu).kind != DeviceKind::gpu) return std::nullopt;
  for (std::uint32_t link : unit.links_at(gpu))
    if (unit.link(link).kind != LinkKind::pcie && unit.link(link).up() &&
        is_cpu(unit, unit.peer(link, gpu)))
      return link;
  return std::nullopt;
}

}  // namespace isleway
