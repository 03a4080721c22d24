#include "fabric/tiers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fabric/leaves.hpp"

namespace isleway {
namespace {

using Shape = NetworkPlan::Shape;
using Vertices = std::vector<std::uint32_t>;

Result<void> check_plan(const NetworkPlan& plan) {
  const auto wrong = [&](std::string_view what, std::string expected) {
    return fail(fmt::format("network {}: {}", plan.name, what), std::move(expected));
  };
  if (plan.leaf_ports < 2 || plan.leaf_ports > 1024)
    return wrong(fmt::format("switches with {} ports", plan.leaf_ports), "2 to 1024");
  for (double ratio : {plan.oversubscription, plan.upper_oversubscription})
    if (!(ratio > 0 && ratio <= plan.leaf_ports))
      return wrong(fmt::format("an oversubscription of {}", ratio),
                   "downlinks over uplinks, above 0 and at most the ports of a switch");
  if (!(plan.efficiency > 0 && plan.efficiency <= 1))
    return wrong(fmt::format("an efficiency of {}", plan.efficiency), "above 0 and at most 1");
  if (plan.hosts_per_group < 0 || plan.groups_joined < 0)
    return wrong("a negative number of hosts or cables", "0 (derived) or more");
  if (plan.switch_latency < Time() || plan.cable_latency < Time())
    return wrong("a negative latency", "0 or more");
  return {};
}

class Builder {
 public:
  Builder(const NetworkPlan& plan, const std::vector<std::vector<NicPort>>& nics)
      : plan_(plan), rate_(port_rate(plan, nics)), ports_{plan.leaf_ports} {}

  void one_switch(std::size_t nics) {
    leaves_.leaves.push_back({});
    leaves_.leaf_of_nic.assign(nics, 0);
    add_switch("network", 0, 1);
  }

  void add_leaves(Leaves leaves) {
    leaves_ = std::move(leaves);
    const bool numbered = plan_.shape == Shape::fat_tree_2 || plan_.shape == Shape::fat_tree_3;
    for (std::size_t i = 0; i < leaves_.leaves.size(); ++i) {
      const Leaf& leaf = leaves_.leaves[i];
      add_switch(
          numbered ? fmt::format("leaf{}", i) : fmt::format("leaf{}.{}", leaf.group, leaf.rail), 0,
          1);
    }
  }

  void attach(const std::vector<std::vector<NicPort>>& nics, const Vertices& unit_template) {
    tiers_.attachments.reserve(leaves_.leaf_of_nic.size());
    for (std::uint32_t t : unit_template)
      for (const NicPort& nic : nics[t])
        tiers_.attachments.push_back({leaves_.leaf_of_nic[tiers_.attachments.size()], cable(nic)});
  }

  /// A spine group over all leaves; with three tiers, one over each pod and a core over all.
  Result<void> tree(bool three_tiers) {
    const Vertices leaves = all_leaves();
    if (leaves.size() < 2) return {};
    if (!three_tiers) return join_above({leaves}, "spine", ports_.all, leaf_uplinks());

    const int down = ports_.down(plan_.upper_oversubscription);
    std::vector<Vertices> pods;
    for (std::uint32_t leaf : leaves) {
      const bool full = pods.empty() || static_cast<int>(pods.back().size()) == down ||
                        (plan_.shape == Shape::rail &&  // a pod serves one rail
                         leaves_.leaves[pods.back().back()].rail != leaves_.leaves[leaf].rail);
      if (full) pods.emplace_back();
      pods.back().push_back(leaf);
    }
    const auto first_spine = static_cast<std::uint32_t>(tiers_.switches.size());
    return join_above(pods, "spine", down, leaf_uplinks()).and_then([&]() -> Result<void> {
      if (pods.size() < 2) return {};
      Vertices spines(pods.size());
      std::iota(spines.begin(), spines.end(), first_spine);
      const double above = largest(pods) * leaf_uplinks() / plan_.upper_oversubscription;
      return join_above({spines}, "core", ports_.all, whole_cables(above));
    });
  }

  /// Groups of leaves under a spine group each, and cables between every two groups.
  Result<void> dragonfly_plus() {
    if (leaves_.leaves.size() < 2) return {};
    std::vector<Vertices> groups;
    for (std::uint32_t i = 0; i < leaves_.leaves.size(); ++i) {
      groups.resize(static_cast<std::size_t>(leaves_.leaves[i].group) + 1);
      groups.back().push_back(i);
    }
    const int down = ports_.down(plan_.upper_oversubscription);
    const auto first_spine = static_cast<std::uint32_t>(tiers_.switches.size());
    return join_above(groups, "spine", down, leaf_uplinks()).and_then([&]() -> Result<void> {
      if (groups.size() < 2) return {};
      return join_groups(first_spine, static_cast<int>(groups.size()), ports_.all - down);
    });
  }

  Tiers take() { return std::move(tiers_); }
  std::size_t leaf_count() const { return leaves_.leaves.size(); }

 private:
  /// Leaves in the order in which pods take them: a rail at a time where there are rails.
  Vertices all_leaves() const {
    Vertices order(leaves_.leaves.size());
    std::iota(order.begin(), order.end(), 0u);
    if (plan_.shape == Shape::rail)
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
        return leaves_.leaves[a].rail < leaves_.leaves[b].rail;
      });
    return order;
  }

  static int whole_cables(double cables) {
    return std::max(1, static_cast<int>(std::ceil(cables - 1e-9)));
  }
  static double largest(const std::vector<Vertices>& groups) {
    std::size_t size = 0;
    for (const Vertices& group : groups) size = std::max(size, group.size());
    return static_cast<double>(size);
  }

  /// All leaves are cabled like the fullest one, as installers do.
  int leaf_uplinks() const {
    double fullest = 0;
    for (const Leaf& leaf : leaves_.leaves) fullest = std::max(fullest, leaf.ports);
    return whole_cables(fullest / plan_.oversubscription);
  }

  /// Adds one group of switches above each group of `lower`, all of the size that the
  /// largest needs. Every lower switch reaches every member by some of its uplinks.
  Result<void> join_above(const std::vector<Vertices>& lower, std::string_view name, int ports_down,
                          int uplinks) {
    const double most = largest(lower);
    const int tier = tiers_.switches[lower.front().front()].tier + 1;
    if (most > ports_down)
      return fail(fmt::format("network {}: {:.0f} switches of tier {} under one {}", plan_.name,
                              most, tier - 1, name),
                  fmt::format("at most {}: each takes a port of every switch above", ports_down),
                  "use more leaf_ports, more oversubscription, or a network with more tiers");
    // As few as have the ports, but a number over which the uplinks spread evenly.
    int members = whole_cables(most * uplinks / ports_down);
    while (uplinks % members != 0) ++members;

    for (std::size_t i = 0; i < lower.size(); ++i) {
      const std::uint32_t upper = add_switch(fmt::format("{}{}", name, i), tier, members);
      for (std::uint32_t below : lower[i])
        if (auto joined = join(below, upper, uplinks); !joined) return joined;
    }
    return {};
  }

  Result<void> join_groups(std::uint32_t first_spine, int groups, int ports_of_member) {
    const int global = ports_of_member * tiers_.switches[first_spine].members;
    const int each = plan_.groups_joined > 0 ? plan_.groups_joined : global / (groups - 1);
    if (each < 1 || static_cast<std::int64_t>(each) * (groups - 1) > global)
      return fail(fmt::format("network {}: {} groups joined by {} cables each", plan_.name, groups,
                              std::max(each, 1)),
                  fmt::format("at most {} cables leave a group", global),
                  "use larger groups (hosts_per_group), more leaf_ports or fewer groups_joined");
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(groups); ++i)
      for (std::uint32_t k = i + 1; k < static_cast<std::uint32_t>(groups); ++k)
        if (auto joined = join(first_spine + i, first_spine + k, each); !joined) return joined;
    return {};
  }

  std::uint32_t add_switch(std::string name, int tier, int members) {
    tiers_.switches.push_back({std::move(name), tier, members, members});
    return static_cast<std::uint32_t>(tiers_.switches.size() - 1);
  }

  Result<void> join(std::uint32_t lower, std::uint32_t upper, int cables) {
    Link link = wire();
    if (cables > std::numeric_limits<decltype(link.count)>::max())
      return fail(fmt::format("network {}: a bundle of {} cables", plan_.name, cables),
                  "at most 65535", "use smaller switches (leaf_ports)");
    link.count = link.count_max = static_cast<std::uint16_t>(cables);
    link.link_rate = rate_;
    link.latency = plan_.cable_latency + plan_.switch_latency;
    tiers_.trunks.push_back(link);
    tiers_.ends.push_back({lower, upper});
    return {};
  }

  /// The cable of a NIC. A switch's latency is spread over the links on both its sides, so
  /// that n switches in a row add n times the latency of one.
  Link cable(const NicPort& nic) const {
    Link link = wire();
    link.link_rate = plan_.port_rate.is_zero() ? nic.rate : std::min(nic.rate, plan_.port_rate);
    link.latency = plan_.cable_latency + plan_.switch_latency.scaled(0.5);
    return link;
  }

  Link wire() const {
    Link link;
    link.kind = LinkKind::network;
    link.efficiency.sm = link.efficiency.copy_engine = plan_.efficiency;
    return link;
  }

  const NetworkPlan& plan_;
  const Rate rate_;
  const SwitchPorts ports_;
  Leaves leaves_;
  Tiers tiers_;
};

Result<void> build_shape(Builder& builder, const NetworkPlan& plan) {
  switch (plan.shape) {
    case Shape::ideal: return {};
    case Shape::rail:
      return builder.tree(builder.leaf_count() > static_cast<std::size_t>(plan.leaf_ports));
    case Shape::fat_tree_2: return builder.tree(false);
    case Shape::fat_tree_3: return builder.tree(true);
    case Shape::dragonfly_plus: return builder.dragonfly_plus();
  }
  return {};
}

}  // namespace

Result<Tiers> build_tiers(const NetworkPlan& plan, const std::vector<std::vector<NicPort>>& nics,
                          const std::vector<std::uint32_t>& unit_template) {
  if (auto checked = check_plan(plan); !checked) return tl::unexpected(checked.error());
  Builder builder(plan, nics);
  if (plan.shape == Shape::ideal) {
    std::size_t count = 0;
    for (std::uint32_t t : unit_template) count += nics[t].size();
    builder.one_switch(count);
  } else {
    auto leaves = assign_leaves(plan, nics, unit_template);
    if (!leaves) return tl::unexpected(leaves.error());
    builder.add_leaves(*std::move(leaves));
  }
  builder.attach(nics, unit_template);
  if (auto built = build_shape(builder, plan); !built) return tl::unexpected(built.error());
  return builder.take();
}

}  // namespace isleway
