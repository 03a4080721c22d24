// Machines joined to racks, and jobs on a part of what there is.
#pragma once

#include <span>

#include "isleway/fabric/fabric.hpp"

namespace isleway {

/// Only the first `n` GPUs in all take part, in rank order. Error: there are fewer.
Result<Fabric> with_first_ranks(const Fabric& fabric, int n);

/// Only these GPUs take part; `ranks` is sorted and holds none twice.
Result<Fabric> with_ranks(const Fabric& fabric, std::span<const GpuId> ranks);

/// Every `hosts` machines after one another share their NVSwitches, as the trays of a rack
/// do: chip k of each is the same. Error: machines of several hosts, or without NVSwitch.
Result<Fabric> with_joined_hosts(const Fabric& fabric, int hosts);

}  // namespace isleway
