// The table over a cluster.
#pragma once

#include "check/facts.hpp"
#include "isleway/check/finding.hpp"
#include "isleway/check/profile.hpp"

namespace isleway::check {

/// One row a node, when there are several.
void add_node_table(const Facts& facts, const Profile& profile, Report& report);

}  // namespace isleway::check
