#include "engine/packet/regions.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <ranges>

#include "engine/link_use.hpp"

namespace isleway {
namespace {

constexpr std::uint32_t kNowhere = UINT32_MAX;

/// The shortest latency of a link that carries anything; nothing without any.
std::int64_t quickest(const Network& network) {
  std::int64_t least = INT64_MAX;
  const auto look = [&](const Link& link) {
    if (link.up()) least = std::min(least, link.latency.ps());
  };
  for (const NicAttachment& nic : network.attachments()) look(nic.cable);
  for (const Link& trunk : network.trunks()) look(trunk);
  return least == INT64_MAX ? 0 : least;
}

}  // namespace

Regions::Regions(const Fabric& fabric) : fabric_(fabric) {
  const std::size_t nics = fabric.network().attachments().size();
  const std::size_t share = std::max(kNics, (nics + kMost - 1) / kMost);
  lookahead_ = quickest(fabric.network());
  std::size_t in_last = 0;
  first_nic_.push_back(0);
  for (std::uint32_t u = 0; u < fabric.unit_count(); ++u) {
    const std::size_t own = fabric.unit(u).nics().size();
    if (in_last > 0 && in_last + own > share && lookahead_ > 0) {
      ++count_;
      in_last = 0;
    }
    in_last += own;
    of_unit_.push_back(count_ - 1);
    first_nic_.push_back(first_nic_.back() + static_cast<std::uint32_t>(own));
  }
  count_ = std::min(count_, kMost);
  for (std::uint32_t& region : of_unit_) region = std::min(region, count_ - 1);
  place_switches();
  parent_.resize(count_);
  std::iota(parent_.begin(), parent_.end(), 0U);
  number_ = parent_;
}

std::uint32_t Regions::lower_end(std::size_t trunk) const {
  const auto [a, b] = fabric_.network().trunk_ends()[trunk];
  const std::vector<NetSwitch>& switches = fabric_.network().switches();
  return switches[b].tier < switches[a].tier ? b : a;
}

/// Beside what is below them; among several, where there is the least to do so far.
void Regions::place_switches() {
  const Network& network = fabric_.network();
  std::vector<std::vector<std::uint32_t>> below(network.switches().size());
  for (std::uint32_t u = 0; u + 1 < first_nic_.size(); ++u)
    for (std::uint32_t n = first_nic_[u]; n < first_nic_[u + 1]; ++n)
      below[network.attachments()[n].leaf].push_back(of_unit_[u]);
  std::vector<std::size_t> cables(network.switches().size()), load(count_);
  for (std::size_t t = 0; t < network.trunks().size(); ++t)
    cables[lower_end(t)] += network.trunks()[t].count;

  of_switch_.assign(network.switches().size(), 0);
  std::vector<std::uint32_t> order(network.switches().size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t s) { return network.switches()[s].tier; });
  std::vector<std::vector<std::uint32_t>> above(network.switches().size());
  for (std::size_t t = 0; t < network.trunks().size(); ++t) {
    const auto [a, b] = network.trunk_ends()[t];
    const std::uint32_t low = lower_end(t);
    above[low].push_back(low == a ? b : a);
  }
  for (const std::uint32_t s : order) {
    std::uint32_t best = kNowhere;
    for (const std::uint32_t region : below[s])
      if (best == kNowhere || load[region] < load[best]) best = region;
    if (best == kNowhere) best = 0;
    of_switch_[s] = best;
    load[best] += cables[s];
    for (const std::uint32_t up : above[s]) below[up].push_back(best);
  }
}

std::uint32_t Regions::root(std::uint32_t region) const {
  while (parent_[region] != region) region = parent_[region];
  return region;
}

void Regions::merge(std::uint32_t a, std::uint32_t b) {
  a = root(a);
  b = root(b);
  parent_[std::max(a, b)] = std::min(a, b);
}

void Regions::settle() {
  count_ = 0;
  for (std::uint32_t r = 0; r < parent_.size(); ++r)
    if (parent_[r] == r) number_[r] = count_++;
}

std::uint32_t Regions::of(LinkId link) const {
  std::uint32_t region = 0;
  if (link >= fabric_.first_trunk()) {
    region = of_switch_[lower_end(link - fabric_.first_trunk())];
  } else if (link >= fabric_.first_cable()) {
    const auto next = std::ranges::upper_bound(first_nic_, link - fabric_.first_cable());
    region = of_unit_[static_cast<std::size_t>(next - first_nic_.begin()) - 1];
  } else {
    // Units' links come one unit after the other.
    const auto units = std::views::iota(std::uint32_t{0}, fabric_.unit_count());
    const auto next = std::ranges::upper_bound(
        units, link, {}, [&](std::uint32_t unit) { return fabric_.link_id(unit, 0); });
    region = of_unit_[static_cast<std::size_t>(next - units.begin()) - 1];
  }
  return number(region);
}

Result<Division> divide(const Fabric& fabric, const Schedule& schedule, const Wiring& wiring) {
  Division out{Regions(fabric), {}, {}};
  out.of_agent.assign(static_cast<std::size_t>(schedule.agents()), 0);
  if (out.regions.count() == 1) return out;

  std::optional<Error> error;
  schedule.loads([&](const Load& load) {
    const auto exists = [&](Port port) {
      return port.agent >= 0 && port.agent < schedule.agents();
    };
    // What does not exist, its programs tell better.
    if (error || load.from == load.to || !exists(load.from) || !exists(load.to)) return;
    auto connection = checked_connection(schedule, wiring, load.from, load.to);
    if (connection) out.connections.push_back({load.from, load.to, *connection});
    else error = connection.error();
  });
  if (error) return tl::unexpected(*error);

  // An agent that is in several regions, or beside another one, keeps them together.
  std::vector<std::uint32_t> home(out.of_agent.size(), kNowhere);
  const auto settle_in = [&](std::int32_t agent, std::uint32_t region) {
    std::uint32_t& own = home[static_cast<std::size_t>(agent)];
    if (own == kNowhere) own = region;
    else out.regions.merge(own, region);
  };
  for (const Division::Made& made : out.connections) {
    if (made.connection.route == nullptr) continue;
    const std::vector<Hop>& hops = made.connection.route->hops;
    const auto in_network = [&](const Hop& hop) { return hop.link >= fabric.first_cable(); };
    for (const Hop& hop : hops) {
      settle_in(made.from.agent, out.regions.of(hop.link));
      if (in_network(hop)) break;
    }
    for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
      settle_in(made.to.agent, out.regions.of(hop->link));
      if (in_network(*hop)) break;
    }
  }
  // Who sends only to itself or beside itself lives with its neighbour.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Division::Made& made : out.connections) {
      if (made.connection.route != nullptr) continue;
      std::uint32_t& a = home[static_cast<std::size_t>(made.from.agent)];
      std::uint32_t& b = home[static_cast<std::size_t>(made.to.agent)];
      if (a == b) continue;
      changed = changed || a == kNowhere || b == kNowhere;
      if (a != kNowhere && b != kNowhere) out.regions.merge(a, b);
      else a = b = std::min(a, b);
    }
  }
  out.regions.settle();
  for (std::size_t agent = 0; agent < home.size(); ++agent)
    out.of_agent[agent] = out.regions.number(home[agent] == kNowhere ? 0 : home[agent]);
  return out;
}

}  // namespace isleway
