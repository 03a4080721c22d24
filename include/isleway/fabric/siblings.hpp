// Links that are alike, and machines on which they are faster.
#pragma once

#include <vector>

#include "isleway/fabric/fabric.hpp"

namespace isleway {

/// The links of one kind and generation between devices of the same two kinds; all NIC cables;
/// all trunks. In order, `link` among them.
std::vector<LinkId> siblings(const Fabric& fabric, LinkId link);

/// Whose rate changes.
enum class Scope : std::uint8_t { alone, siblings };

/// A copy in which the link, or all its siblings, carry `factor` times what they carry now.
/// Links keep their numbers, so that a schedule wired on the one runs on the other too.
Result<Fabric> with_link_rate(const Fabric& fabric, LinkId link, Scope scope, double factor);

}  // namespace isleway
