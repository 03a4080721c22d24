#include "fabric/edit.hpp"

#include <algorithm>

namespace isleway {
namespace {

Result<std::shared_ptr<const Unit>> edited(const Unit& unit, const UnitEdit& edit) {
  UnitParts parts = unit.parts();
  if (auto done = edit(parts); !done) return tl::unexpected(done.error());
  return Unit::make(std::move(parts));
}

}  // namespace

Result<Fabric> edit_unit(const Fabric& fabric, std::uint32_t unit, const UnitEdit& edit) {
  auto changed = edited(fabric.unit(unit), edit);
  if (!changed) return tl::unexpected(changed.error());
  auto templates = fabric.templates();
  auto unit_template = fabric.unit_templates();
  const std::uint32_t old = unit_template[unit];
  if (std::count(unit_template.begin(), unit_template.end(), old) == 1) {
    templates[old] = *std::move(changed);
  } else {
    unit_template[unit] = static_cast<std::uint32_t>(templates.size());
    templates.push_back(*std::move(changed));
  }
  return fabric.with_units(std::move(templates), std::move(unit_template));
}

Result<Fabric> edit_all_units(const Fabric& fabric, const UnitEdit& edit) {
  auto templates = fabric.templates();
  for (auto& unit : templates) {
    auto changed = edited(*unit, edit);
    if (!changed) return tl::unexpected(changed.error());
    unit = *std::move(changed);
  }
  return fabric.with_units(std::move(templates), fabric.unit_templates());
}

void remove_devices(UnitParts& parts, const std::function<bool(const Device&)>& unwanted) {
  std::vector<bool> gone(parts.devices.size());
  std::vector<DeviceIndex> moved(parts.devices.size());
  std::vector<Device> kept;
  for (std::size_t i = 0; i < parts.devices.size(); ++i) {
    gone[i] = unwanted(parts.devices[i]);
    moved[i] = static_cast<DeviceIndex>(kept.size());
    if (!gone[i]) kept.push_back(std::move(parts.devices[i]));
  }
  parts.devices = std::move(kept);
  std::erase_if(parts.links, [&](const Link& link) { return gone[link.a] || gone[link.b]; });
  for (Link& link : parts.links) {
    link.a = moved[link.a];
    link.b = moved[link.b];
  }
}

void take_down_links(UnitParts& parts, const std::function<bool(const Link&)>& which) {
  for (Link& link : parts.links)
    if (which(link)) link.count = 0;
}

bool is_nvlink(const Link& link) {
  return link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi;
}

}  // namespace isleway
