// Which units and which network switches are interchangeable.
#pragma once

#include <cstdint>
#include <vector>

#include "isleway/fabric/fabric.hpp"

namespace isleway {

/// Classes of units and of switches such that every member of a class has the same cables
/// to the same classes (colour refinement, the coarsest such partition). A maximum flow is
/// the same when each class is merged into one vertex: averaging a flow over a class
/// changes neither its size nor whether it fits.
struct Alike {
  std::vector<std::uint32_t> of_unit, of_switch;
  std::uint32_t unit_classes = 0, switch_classes = 0;
};

/// `marks[u]` sets units apart that differ for the caller's reasons, beyond their template.
Alike find_alike(const Fabric& fabric, const std::vector<std::uint32_t>& marks);

}  // namespace isleway
