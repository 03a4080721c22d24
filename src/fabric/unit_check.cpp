#include "fabric/unit_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace isleway {
namespace {

bool info_fits(const Device& device) {
  switch (device.kind) {
    case DeviceKind::gpu: return std::holds_alternative<GpuInfo>(device.info);
    case DeviceKind::nvswitch: return std::holds_alternative<NvswitchInfo>(device.info);
    case DeviceKind::cpu: return std::holds_alternative<CpuInfo>(device.info);
    case DeviceKind::nic: return std::holds_alternative<NicInfo>(device.info);
    case DeviceKind::pcie_switch: return std::holds_alternative<PcieSwitchInfo>(device.info);
  }
  return false;
}

bool is_rate(Rate rate) { return rate.bytes_per_second() >= 0; }  // false for NaN as well

Result<void> check_devices(const UnitParts& parts) {
  constexpr std::size_t most = std::numeric_limits<DeviceIndex>::max();
  if (parts.devices.size() > most)
    return fail(fmt::format("unit has {} devices", parts.devices.size()),
                fmt::format("at most {}", most));
  if (parts.hosts < 1 || parts.hosts > std::numeric_limits<std::int16_t>::max())
    return fail(fmt::format("unit has {} hosts", parts.hosts), "1 to 32767");

  std::set<std::pair<int, std::string_view>> names;
  std::map<std::tuple<int, DeviceKind, int>, std::string_view> indices;
  for (const Device& device : parts.devices) {
    if (device.name.empty()) return fail("a device without a name");
    if (device.host < -1 || device.host >= parts.hosts)
      return fail(fmt::format("{} is on host {}", device.name, device.host),
                  fmt::format("-1 (no host) to {}", parts.hosts - 1));
    if (device.index < 0)
      return fail(fmt::format("{} has index {}", device.name, device.index), "0 or more");
    if (!info_fits(device))
      return fail(fmt::format("{} carries the properties of another kind of device", device.name));
    if (const auto* nic = std::get_if<NicInfo>(&device.info); nic != nullptr && !is_rate(nic->rate))
      return fail(fmt::format("{} has no usable rate", device.name), "0 (unknown) or more");
    if (!names.emplace(device.host, device.name).second)
      return fail(fmt::format("two devices of host {} are named {}", device.host, device.name));
    auto [known, is_new] =
        indices.try_emplace({device.host, device.kind, device.index}, device.name);
    if (!is_new)
      return fail(fmt::format("{} and {} of host {} are of one kind and both have index {}",
                              known->second, device.name, device.host, device.index));
  }
  return {};
}

/// Which kinds of device a kind of link can join.
bool can_join(LinkKind link, DeviceKind a, DeviceKind b) {
  const auto scales_up = [](DeviceKind kind) {
    return kind == DeviceKind::gpu || kind == DeviceKind::nvswitch || kind == DeviceKind::cpu;
  };
  const auto compute = [](DeviceKind kind) {
    return kind == DeviceKind::gpu || kind == DeviceKind::cpu;
  };
  switch (link) {
    case LinkKind::nvlink:
    case LinkKind::xgmi: return scales_up(a) && scales_up(b);
    case LinkKind::c2c: return compute(a) && compute(b);
    case LinkKind::pcie:
      return (a == DeviceKind::cpu || a == DeviceKind::pcie_switch) && b != DeviceKind::cpu;
    case LinkKind::smp: return a == DeviceKind::cpu && b == DeviceKind::cpu;
    case LinkKind::network: return false;
  }
  return false;
}

Result<void> check_links(const UnitParts& parts) {
  for (std::size_t i = 0; i < parts.links.size(); ++i) {
    const Link& link = parts.links[i];
    if (link.a >= parts.devices.size() || link.b >= parts.devices.size())
      return fail(fmt::format("link {} joins devices {} and {}", i, link.a, link.b),
                  fmt::format("below {}", parts.devices.size()));
    const Device& a = parts.devices[link.a];
    const Device& b = parts.devices[link.b];
    const std::string name = fmt::format("{} link {}-{}", name_of(link.kind), a.name, b.name);
    if (link.a == link.b) return fail(name + " joins a device with itself");
    if (!can_join(link.kind, a.kind, b.kind))
      return fail(
          name + " joins devices that such a link cannot join",
          link.kind == LinkKind::pcie ? "a CPU or PCIe switch first, what hangs on it second" : "");
    if (link.count > link.count_max || link.lanes > link.lanes_max)
      return fail(fmt::format("{} has {} of {} links up with {} of {} lanes", name, link.count,
                              link.count_max, link.lanes, link.lanes_max),
                  "no more than are fitted");
    if (!is_rate(link.link_rate)) return fail(name + " has no usable rate", "0 or more");
    if (link.latency < Time()) return fail(name + " has a negative latency");
  }
  return {};
}

Result<void> check_pcie_tree(const UnitParts& parts) {
  constexpr DeviceIndex none = std::numeric_limits<DeviceIndex>::max();
  std::vector<DeviceIndex> parent(parts.devices.size(), none);
  for (const Link& link : parts.links) {
    if (link.kind != LinkKind::pcie) continue;
    const Device& a = parts.devices[link.a];
    const Device& b = parts.devices[link.b];
    if (a.host != b.host)
      return fail(fmt::format("PCIe link {}-{} leaves its host", a.name, b.name));
    if (parent[link.b] != none)
      return fail(fmt::format("{} hangs on both {} and {}", b.name,
                              parts.devices[parent[link.b]].name, a.name),
                  "one PCIe link towards the CPU for each device");
    parent[link.b] = link.a;
  }
  // Walking up from each device must end. Devices known to end are not walked again.
  std::vector<DeviceIndex> walk(parts.devices.size(), none);  // the walk that came by
  for (std::size_t start = 0; start < parent.size(); ++start) {
    const auto mark = static_cast<DeviceIndex>(start);
    for (DeviceIndex at = mark; at != none && walk[at] != mark; at = parent[at]) {
      if (walk[at] != none) break;
      walk[at] = mark;
      if (parent[at] != none && walk[parent[at]] == mark)
        return fail(fmt::format("PCIe links go round in a circle at {}", parts.devices[at].name),
                    "a tree with the CPU at its root");
    }
  }
  return {};
}

}  // namespace

Result<void> check_parts(const UnitParts& parts) {
  return check_devices(parts)
      .and_then([&] { return check_links(parts); })
      .and_then([&] { return check_pcie_tree(parts); })
      .map_error([&](Error error) {
        if (!parts.name.empty()) error.what = parts.name + ": " + error.what;
        return error;
      });
}

}  // namespace isleway
