#include "isleway/fabric/siblings.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "fabric/edit.hpp"

namespace isleway {
namespace {

/// What siblings inside units have in common.
struct Kind {
  LinkKind kind;
  int generation;
  DeviceKind a, b;

  friend bool operator==(const Kind&, const Kind&) = default;
};

Kind kind_of(const Link& link, std::span<const Device> devices) {
  const auto [a, b] = std::minmax(devices[link.a].kind, devices[link.b].kind);
  return {link.kind, link.generation, a, b};
}

/// Where a link stands inside its unit; nothing for cables and trunks.
struct Place {
  std::uint32_t unit, link;
};
std::optional<Place> place_in_unit(const Fabric& fabric, LinkId link) {
  if (link >= fabric.first_cable()) return std::nullopt;
  std::uint32_t first = 0, last = fabric.unit_count();
  while (last - first > 1) {
    const std::uint32_t middle = (first + last) / 2;
    (fabric.link_id(middle, 0) <= link ? first : last) = middle;
  }
  return Place{first, link - fabric.link_id(first, 0)};
}

Kind kind_of(const Fabric& fabric, LinkId link) {
  const Place place = *place_in_unit(fabric, link);
  const Unit& unit = fabric.unit(place.unit);
  return kind_of(unit.link(place.link), unit.devices());
}

Fabric with_network_links(const Fabric& fabric, LinkId link, Scope scope, double factor) {
  const bool trunk = link >= fabric.first_trunk();
  const LinkId first = trunk ? fabric.first_trunk() : fabric.first_cable();
  return fabric.with_network(fabric.network().changed([&](auto&, auto& trunks, auto& attachments) {
    const auto change = [&](Link& one, std::size_t i) {
      if (scope == Scope::siblings || i == link - first) one.link_rate = one.link_rate * factor;
    };
    for (std::size_t i = 0; trunk && i < trunks.size(); ++i) change(trunks[i], i);
    for (std::size_t i = 0; !trunk && i < attachments.size(); ++i) change(attachments[i].cable, i);
  }));
}

}  // namespace

std::vector<LinkId> siblings(const Fabric& fabric, LinkId link) {
  std::vector<LinkId> all;
  if (link >= fabric.first_cable()) {
    const bool trunk = link >= fabric.first_trunk();
    all.resize((trunk ? fabric.link_count() : fabric.first_trunk()) -
               (trunk ? fabric.first_trunk() : fabric.first_cable()));
    std::iota(all.begin(), all.end(), trunk ? fabric.first_trunk() : fabric.first_cable());
    return all;
  }
  const Kind kind = kind_of(fabric, link);
  for (std::uint32_t unit = 0; unit < fabric.unit_count(); ++unit) {
    const Unit& in = fabric.unit(unit);
    for (std::uint32_t i = 0; i < in.links().size(); ++i)
      if (kind_of(in.link(i), in.devices()) == kind) all.push_back(fabric.link_id(unit, i));
  }
  return all;
}

Result<Fabric> with_link_rate(const Fabric& fabric, LinkId link, Scope scope, double factor) {
  const auto place = place_in_unit(fabric, link);
  if (!place) return with_network_links(fabric, link, scope, factor);
  if (scope == Scope::alone)
    return edit_unit(fabric, place->unit, [&](UnitParts& parts) -> Result<void> {
      Link& one = parts.links[place->link];
      one.link_rate = one.link_rate * factor;
      return {};
    });
  const Kind kind = kind_of(fabric, link);
  return edit_all_units(fabric, [&](UnitParts& parts) -> Result<void> {
    for (Link& one : parts.links)
      if (kind_of(one, parts.devices) == kind) one.link_rate = one.link_rate * factor;
    return {};
  });
}

}  // namespace isleway
