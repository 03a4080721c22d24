#include "engine/link_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace isleway {

std::uint32_t LinkUse::resource(LinkId link, Share share, const Link& properties) {
  const auto next = static_cast<std::uint32_t>(capacity_.size());
  const auto [found, is_new] = resource_of_link_.try_emplace(std::uint64_t{link} * 3 + share, next);
  if (is_new) {
    const double one_way = properties.rate().bytes_per_second();
    capacity_.push_back(share == both ? 2 * properties.efficiency.duplex * one_way : one_way);
    resource_of_.emplace_back(link, share);
  }
  return found->second;
}

LinkUse::Way LinkUse::way(const Route* route, Mover mover) {
  if (route == nullptr) return kLocal;
  // Routes are aligned, so that the lowest bit is free for the mover.
  const auto key = reinterpret_cast<std::uintptr_t>(route) | static_cast<std::uintptr_t>(mover);
  const auto [found, is_new] = way_of_route_.try_emplace(key, static_cast<Way>(ways_.size()));
  if (!is_new) return found->second;

  WayInfo way{route, uses_.size(), 0, 0};
  for (const Hop& hop : route->hops) {
    const Link& link = fabric_.link(hop.link);
    const bool copy = mover == Mover::copy_engine;
    const double efficiency = copy ? link.efficiency.copy_engine : link.efficiency.sm;
    // Without any efficiency nothing gets through; the nominal rate is then beside the point.
    const double weight = hop.share / std::max(efficiency, 1e-9);
    uses_.push_back({resource(hop.link, hop.forward ? forward : backward, link), weight});
    if (copy && link.efficiency.duplex < 1)
      uses_.push_back({resource(hop.link, both, link), weight});
  }
  way.use_count = uses_.size() - way.first_use;
  ways_.push_back(way);
  return found->second;
}

std::vector<double> LinkUse::busy_seconds() const {
  std::vector<double> seconds(capacity_.size(), 0);
  for (Way way = 0; way < ways_.size(); ++way)
    for (const Usage& use : uses(way)) seconds[use.resource] += ways_[way].wire_bytes * use.weight;
  for (std::size_t r = 0; r < seconds.size(); ++r)
    if (seconds[r] > 0) seconds[r] /= capacity_[r];
  return seconds;
}

std::string LinkUse::dead_link(Way way) const {
  for (const Usage& use : uses(way))
    if (capacity_[use.resource] <= 0) return fabric_.link_name(resource_of_[use.resource].first);
  return {};
}

void LinkUse::report(Outcome& outcome) const {
  const std::vector<double> seconds = busy_seconds();
  const double whole = outcome.time.seconds();
  // A link whose two directions share a capacity is as busy as that is.
  std::map<LinkId, double> shared;
  for (std::size_t r = 0; r < seconds.size(); ++r)
    if (resource_of_[r].second == both) shared[resource_of_[r].first] = seconds[r];

  std::map<std::pair<LinkId, bool>, LinkLoad> loads;
  for (const WayInfo& way : ways_) {
    if (way.route == nullptr || way.wire_bytes <= 0) continue;
    for (const Hop& hop : way.route->hops) {
      LinkLoad& load = loads[{hop.link, !hop.forward}];
      load.link = hop.link;
      load.forward = hop.forward;
      load.wire_bytes += way.wire_bytes * hop.share;
    }
  }
  outcome.loads.clear();
  outcome.bottleneck = -1;
  for (auto& [key, load] : loads) {
    const auto found =
        resource_of_link_.find(std::uint64_t{load.link} * 3 + (load.forward ? forward : backward));
    double busy = seconds[found->second];
    if (const auto both_ways = shared.find(load.link); both_ways != shared.end())
      busy = std::max(busy, both_ways->second);
    load.busy = whole > 0 ? std::min(1.0, busy / whole) : 0;
    outcome.loads.push_back(load);
    if (outcome.bottleneck < 0 || load.busy > outcome.loads[outcome.bottleneck].busy)
      outcome.bottleneck = static_cast<int>(outcome.loads.size()) - 1;
  }
}

Result<Connection> checked_connection(const Schedule& schedule, const Wiring& wiring, Port from,
                                      Port to) {
  const Connection connection = wiring.connection(from, to);
  if (connection.route != nullptr && !connection.route->exists())
    return fail(fmt::format("there is no way from {} to {}", port_text(schedule, from),
                            port_text(schedule, to)),
                "every rank reaches those that it sends to",
                "look for links or NICs that are down, or leave one of the two ranks out");
  if (connection.cap.is_zero())
    return fail(fmt::format("{} can move nothing to {}", port_text(schedule, from),
                            port_text(schedule, to)),
                "a cap above zero");
  return connection;
}

}  // namespace isleway
