// From a network plan to switches and cables.
#pragma once

#include "isleway/fabric/network.hpp"

namespace isleway {

constexpr std::uint32_t no_trunk = ~std::uint32_t{0};

/// What a network is made of. Trunks go from the lower switch (a) to the upper one (b), or
/// between switches of one tier (dragonfly+).
struct Tiers {
  std::vector<NetSwitch> switches;
  std::vector<Link> trunks;
  std::vector<Network::Ends> ends;
  std::vector<NicAttachment> attachments;
};

/// Error: the plan makes no sense, or cannot hold that many NICs.
Result<Tiers> build_tiers(const NetworkPlan& plan, const std::vector<std::vector<NicPort>>& nics,
                          const std::vector<std::uint32_t>& unit_template);

}  // namespace isleway
