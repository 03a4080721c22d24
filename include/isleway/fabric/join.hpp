// Machines joined to racks, and jobs on a part of what there is.
#pragma once

#include "isleway/fabric/fabric.hpp"

namespace isleway {

/// Only the first `n` GPUs in all take part, in rank order. Error: there are fewer.
Result<Fabric> with_first_ranks(const Fabric& fabric, int n);

/// Every `hosts` machines after one another share their NVSwitches, as the trays of a rack
/// do: chip k of each is the same. Error: machines of several hosts, or without NVSwitch.
Result<Fabric> with_joined_hosts(const Fabric& fabric, int hosts);

}  // namespace isleway
