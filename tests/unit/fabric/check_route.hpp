// What makes a route a route.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "isleway/fabric.hpp"

namespace isleway::testing {

/// A device of a unit or, past all units, a network switch.
using Place = std::pair<std::uint32_t, std::uint32_t>;

/// The two ends of every link of a fabric, by link number.
inline std::vector<std::pair<Place, Place>> ends_of_links(const Fabric& fabric) {
  constexpr std::uint32_t network = ~0u;
  std::vector<std::pair<Place, Place>> ends;
  for (std::uint32_t u = 0; u < fabric.unit_count(); ++u)
    for (const Link& link : fabric.unit(u).links()) ends.push_back({{u, link.a}, {u, link.b}});
  auto attachment = fabric.network().attachments().begin();
  for (std::uint32_t u = 0; u < fabric.unit_count(); ++u)
    for (DeviceIndex nic : fabric.unit(u).nics())
      ends.push_back({{u, nic}, {network, (attachment++)->leaf}});
  for (const Network::Ends trunk : fabric.network().trunk_ends())
    ends.push_back({{network, trunk.a}, {network, trunk.b}});
  return ends;
}

/// Empty when bytes are neither lost nor made on the way: all leave `from`, what enters any
/// other place leaves it, all reach `to`, and every link used is up. Else what is wrong.
inline std::string flaw(const Fabric& fabric, const std::vector<std::pair<Place, Place>>& ends,
                        const Route& route, DeviceRef from, DeviceRef to) {
  std::map<Place, double> surplus;
  surplus[{from.unit, from.device}] += 1;
  surplus[{to.unit, to.device}] -= 1;
  for (const Hop& hop : route.hops) {
    if (!fabric.link(hop.link).up()) return fabric.link_name(hop.link) + " is down";
    if (!(hop.share > 0)) return fabric.link_name(hop.link) + " carries nothing";
    const auto& [a, b] = ends[hop.link];
    surplus[hop.forward ? a : b] -= static_cast<double>(hop.share);
    surplus[hop.forward ? b : a] += static_cast<double>(hop.share);
  }
  for (const auto& [place, sum] : surplus)
    if (std::abs(sum) > 1e-5) return "bytes are lost or made on the way";
  return "";
}

}  // namespace isleway::testing
