#include "isleway/fabric/network.hpp"

#include <algorithm>

#include "fabric/tiers.hpp"

namespace isleway {

Result<Network> Network::build(const NetworkPlan& plan,
                               const std::vector<std::vector<NicPort>>& nics,
                               const std::vector<std::uint32_t>& unit_template) {
  auto tiers = build_tiers(plan, nics, unit_template);
  if (!tiers) return tl::unexpected(tiers.error());
  Network network;
  network.plan_ = plan;
  network.switches_ = std::move(tiers->switches);
  network.trunks_ = std::move(tiers->trunks);
  network.ends_ = std::move(tiers->ends);
  network.attachments_ = std::move(tiers->attachments);
  network.up_.assign(network.switches_.size(), no_trunk);
  for (std::uint32_t i = 0; i < network.ends_.size(); ++i) {
    const Ends ends = network.ends_[i];
    if (network.switches_[ends.a].tier < network.switches_[ends.b].tier) {
      network.up_[ends.a] = i;
    } else {
      network.across_.push_back({ends.a, ends.b, i});
      network.across_.push_back({ends.b, ends.a, i});
    }
  }
  std::sort(network.across_.begin(), network.across_.end());
  return network;
}

bool Network::route(std::uint32_t leaf_from, std::uint32_t leaf_to, std::vector<Hop>& out) const {
  const std::size_t start = out.size();
  std::vector<Hop> down;
  const auto give_up = [&] {
    out.resize(start);
    return false;
  };
  // Both ends climb, the lower one first, until they meet or a global bundle joins them.
  std::uint32_t from = leaf_from, to = leaf_to;
  while (from != to) {
    const bool level = switches_[from].tier == switches_[to].tier;
    if (level) {
      const std::array<std::uint32_t, 3> key = {from, to, 0};
      const auto found = std::lower_bound(across_.begin(), across_.end(), key);
      if (found != across_.end() && (*found)[0] == from && (*found)[1] == to) {
        const std::uint32_t trunk = (*found)[2];
        if (!trunks_[trunk].up()) return give_up();
        out.push_back({trunk, ends_[trunk].a == from, 1});
        from = to;
        break;
      }
    }
    const bool climb_from = switches_[from].tier <= switches_[to].tier;
    const bool climb_to = switches_[to].tier <= switches_[from].tier;
    if (climb_from) {
      const std::uint32_t trunk = up_[from];
      if (trunk == no_trunk || !trunks_[trunk].up()) return give_up();
      out.push_back({trunk, true, 1});
      from = ends_[trunk].b;
    }
    if (climb_to) {
      const std::uint32_t trunk = up_[to];
      if (trunk == no_trunk || !trunks_[trunk].up()) return give_up();
      down.push_back({trunk, false, 1});
      to = ends_[trunk].b;
    }
  }
  out.insert(out.end(), down.rbegin(), down.rend());
  return true;
}

}  // namespace isleway
