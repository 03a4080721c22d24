// Which NIC's cable goes to which leaf switch.
#pragma once

#include "isleway/fabric/network.hpp"

namespace isleway {

struct Leaf {
  int group = 0;     ///< of hosts that share leaves (a scalable unit, a dragonfly group)
  int rail = 0;      ///< the rail it serves, or its number in the group
  double ports = 0;  ///< taken by NICs; a NIC slower than a port shares it with others
};

struct Leaves {
  std::vector<Leaf> leaves;
  std::vector<std::uint32_t> leaf_of_nic;  ///< in fabric order
};

/// What one switch of a plan can give.
struct SwitchPorts {
  int all = 0;
  /// Those that may lead down under an oversubscription of `ratio`; at least one leads up.
  int down(double ratio) const;
};

/// The rate of a port: the plan's, or that of the fastest NIC.
Rate port_rate(const NetworkPlan& plan, const std::vector<std::vector<NicPort>>& nics);

/// Error: a host or group that does not fit its leaves, in numbers.
Result<Leaves> assign_leaves(const NetworkPlan& plan, const std::vector<std::vector<NicPort>>& nics,
                             const std::vector<std::uint32_t>& unit_template);

}  // namespace isleway
