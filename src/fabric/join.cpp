// Machines that share NVSwitches, as the trays of a rack do; and jobs on part of a machine.
#include "isleway/fabric/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "fabric/edit.hpp"

namespace isleway {
namespace {

/// Puts `next` beside what is joined already, as one more host. Its switches are the first
/// one's, chip by chip.
void add_host(UnitParts& rack, const UnitParts& next) {
  constexpr std::int16_t no_host = -1;
  const auto host = static_cast<std::int16_t>(rack.hosts++);
  std::vector<DeviceIndex> moved;
  for (const Device& device : next.devices) {
    const bool is_switch = device.kind == DeviceKind::nvswitch;
    const auto known = std::find_if(rack.devices.begin(), rack.devices.end(), [&](const Device& d) {
      return is_switch && d.kind == device.kind && d.index == device.index;
    });
    moved.push_back(static_cast<DeviceIndex>(known - rack.devices.begin()));
    if (known != rack.devices.end()) continue;
    rack.devices.push_back(device);
    rack.devices.back().host = is_switch ? no_host : host;
  }
  for (Link link : next.links) {
    link.a = moved[link.a];
    link.b = moved[link.b];
    rack.links.push_back(link);
  }
}

Result<void> check_joinable(const Fabric& fabric, int hosts) {
  const auto units = static_cast<int>(fabric.unit_count());
  if (hosts < 1 || units % hosts != 0)
    return fail(fmt::format("{} machines cannot be joined by {}", units, hosts),
                fmt::format("a divisor of {}", units));
  for (const auto& unit : fabric.templates()) {
    if (unit->parts().hosts != 1)
      return fail(
          fmt::format("{} has {} hosts that are joined already", unit->name(), unit->parts().hosts),
          "machines of one host");
    if (unit->nvswitches().empty())
      return fail(fmt::format("{} has no NVSwitch that others could share", unit->name()),
                  "machines with NVSwitches");
  }
  return {};
}

/// A copy that keeps of its GPUs those at the positions `kept`, which are sorted.
Result<std::shared_ptr<const Unit>> without_other_gpus(const Unit& unit,
                                                       const std::vector<std::size_t>& kept) {
  std::set<std::pair<int, int>> wanted;  // host, index
  for (const std::size_t position : kept) {
    const Device& gpu = unit.device(unit.gpus()[position]);
    wanted.emplace(gpu.host, gpu.index);
  }
  UnitParts parts = unit.parts();
  remove_devices(parts, [&](const Device& device) {
    return device.kind == DeviceKind::gpu && !wanted.contains({device.host, device.index});
  });
  return Unit::make(std::move(parts));
}

}  // namespace

Result<Fabric> with_joined_hosts(const Fabric& fabric, int hosts) {
  if (hosts == 1) return fabric;
  if (auto checked = check_joinable(fabric, hosts); !checked)
    return tl::unexpected(checked.error());
  std::vector<std::shared_ptr<const Unit>> templates;
  std::vector<std::uint32_t> unit_template;
  std::map<std::vector<std::uint32_t>, std::uint32_t> racks;  // by what they are made of
  const auto& units = fabric.unit_templates();
  for (auto first = units.begin(); first != units.end(); first += hosts) {
    const auto [known, is_new] = racks.try_emplace(std::vector(first, first + hosts),
                                                   static_cast<std::uint32_t>(templates.size()));
    unit_template.push_back(known->second);
    if (!is_new) continue;
    UnitParts rack = fabric.templates()[*first]->parts();
    rack.devices.clear();
    rack.links.clear();
    rack.hosts = 0;
    for (const std::uint32_t member : known->first)
      add_host(rack, fabric.templates()[member]->parts());
    auto unit = Unit::make(std::move(rack));
    if (!unit) return tl::unexpected(unit.error());
    templates.push_back(*std::move(unit));
  }
  return fabric.with_units(std::move(templates), std::move(unit_template));
}

Result<Fabric> with_first_ranks(const Fabric& fabric, int n) {
  if (n < 1 || static_cast<std::uint32_t>(n) > fabric.gpu_count())
    return fail(fmt::format("{} GPUs of {}", n, fabric.name()),
                fmt::format("1 to {}", fabric.gpu_count()));
  std::vector<GpuId> first(static_cast<std::size_t>(n));
  std::iota(first.begin(), first.end(), GpuId{0});
  return with_ranks(fabric, first);
}

Result<Fabric> with_ranks(const Fabric& fabric, std::span<const GpuId> ranks) {
  auto templates = fabric.templates();
  auto unit_template = fabric.unit_templates();
  // By what is kept of what.
  std::map<std::pair<std::uint32_t, std::vector<std::size_t>>, std::uint32_t> cut;
  auto next = ranks.begin();
  GpuId base = 0;
  for (std::uint32_t& which : unit_template) {
    const Unit& unit = *fabric.templates()[which];
    const std::size_t all = unit.gpus().size();
    std::vector<std::size_t> kept;
    for (; next != ranks.end() && *next < base + all; ++next) kept.push_back(*next - base);
    base += static_cast<GpuId>(all);
    if (kept.size() == all) continue;
    const auto [known, is_new] =
        cut.try_emplace({which, std::move(kept)}, static_cast<std::uint32_t>(templates.size()));
    which = known->second;
    if (!is_new) continue;
    auto changed = without_other_gpus(unit, known->first.second);
    if (!changed) return tl::unexpected(changed.error());
    templates.push_back(*std::move(changed));
  }
  return fabric.with_units(std::move(templates), std::move(unit_template));
}

}  // namespace isleway
