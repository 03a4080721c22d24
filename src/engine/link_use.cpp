#include "engine/link_use.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isleway {

std::uint32_t LinkUse::resource(LinkId link, Share share, const Link& properties) {
  std::uint32_t& known = resource_of_link_[std::size_t{link} * kShares + share];
  if (known != kNone) return known;
  known = static_cast<std::uint32_t>(capacity_.size());
  const double one_way = properties.rate().bytes_per_second();
  capacity_.push_back(share == both ? 2 * properties.efficiency.duplex * one_way : one_way);
  resource_of_.push_back({link, share});
  wire_.push_back(0);
  weighted_.push_back(0);
  return known;
}

void LinkUse::append_uses(std::span<const Hop> hops, Mover mover, std::vector<Usage>& uses) {
  for (const Hop& hop : hops) {
    const Link& link = fabric_.link(hop.link);
    const bool copy = mover == Mover::copy_engine;
    const double efficiency = copy ? link.efficiency.copy_engine : link.efficiency.sm;
    // Without any efficiency nothing gets through; the nominal rate is then beside the point.
    const double weight = hop.share / std::max(efficiency, 1e-9);
    uses.push_back({resource(hop.link, hop.forward ? forward : backward, link), weight});
    if (copy && link.efficiency.duplex < 1)
      uses.push_back({resource(hop.link, both, link), weight});
  }
}

LinkUse::Way LinkUse::way(const Route* route, Mover mover) {
  if (route == nullptr) return kLocal;
  // Routes are aligned, so that the lowest bit is free for the mover.
  const auto key = reinterpret_cast<std::uintptr_t>(route) | static_cast<std::uintptr_t>(mover);
  const auto [found, is_new] = way_of_route_.try_emplace(key, static_cast<Way>(ways_.size()));
  if (!is_new) return found->second;
  WayInfo way{route, uses_.size(), 0, 0};
  append_uses(route->hops, mover, uses_);
  way.use_count = uses_.size() - way.first_use;
  ways_.push_back(way);
  return found->second;
}

std::vector<std::uint32_t> LinkUse::resources_of(LinkId link) const {
  std::vector<std::uint32_t> found;
  for (const Share share : {forward, backward, both})
    if (const std::uint32_t r = known_resource(link, share); r != kNone) found.push_back(r);
  return found;
}

void LinkUse::add(std::span<const Hop> hops, Mover mover, double wire_bytes) {
  scratch_.clear();
  append_uses(hops, mover, scratch_);
  for (const Usage& use : scratch_) weighted_[use.resource] += wire_bytes * use.weight;
  for (const Hop& hop : hops)
    wire_[known_resource(hop.link, hop.forward ? forward : backward)] += wire_bytes * hop.share;
}

std::vector<double> LinkUse::busy_seconds() const {
  std::vector<double> seconds = weighted_;
  for (Way way = 0; way < ways_.size(); ++way)
    for (const Usage& use : uses(way)) seconds[use.resource] += ways_[way].wire_bytes * use.weight;
  for (std::size_t r = 0; r < seconds.size(); ++r)
    if (seconds[r] > 0) seconds[r] /= capacity_[r];
  return seconds;
}

std::optional<std::uint32_t> LinkUse::dead_resource(std::span<const Usage> uses) const {
  for (const Usage& use : uses)
    if (capacity_[use.resource] <= 0) return use.resource;
  return std::nullopt;
}

std::vector<LinkLoad> LinkUse::loads(Time whole) const {
  std::vector<double> wire = wire_;
  for (const WayInfo& way : ways_) {
    if (way.route == nullptr || way.wire_bytes <= 0) continue;
    for (const Hop& hop : way.route->hops)
      wire[known_resource(hop.link, hop.forward ? forward : backward)] +=
          way.wire_bytes * hop.share;
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < wire.size(); ++r)
    if (wire[r] > 0) order.push_back(r);
  std::ranges::sort(order, {}, [this](std::uint32_t r) {
    return std::uint64_t{resource_of_[r].link} * kShares + resource_of_[r].share;
  });

  const std::vector<double> seconds = busy_seconds();
  std::vector<LinkLoad> loads;
  loads.reserve(order.size());
  for (const std::uint32_t r : order) {
    LinkLoad load;
    load.link = resource_of_[r].link;
    load.forward = resource_of_[r].share == forward;
    load.wire_bytes = wire[r];
    double busy = seconds[r];
    // A link whose two directions share a capacity is as busy as that is.
    if (const std::uint32_t shared = known_resource(load.link, both); shared != kNone)
      busy = std::max(busy, seconds[shared]);
    if (whole > Time()) load.busy = std::min(1.0, busy / whole.seconds());
    loads.push_back(load);
  }
  return loads;
}

void LinkUse::report(Outcome& outcome) const {
  outcome.loads = loads(outcome.time);
  outcome.bottleneck = -1;
  for (std::size_t i = 0; i < outcome.loads.size(); ++i)
    if (outcome.bottleneck < 0 || outcome.loads[i].busy > outcome.loads[outcome.bottleneck].busy)
      outcome.bottleneck = static_cast<int>(i);
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
