// The transfers of a program that wait for one another longest.
#pragma once

#include <functional>

#include "isleway/engine/schedule.hpp"

namespace isleway {

/// The chain with the most messages between agents, of these the one with the most bytes, through
/// the first `count(port)` actions of each stream: one round. A chain moves more bytes than the
/// busiest stream sends in that time where streams take turns; the closed form, which knows the
/// busiest stream's load, is given the rest.
std::vector<CriticalStep> longest_path(const Schedule& schedule,
                                       const std::function<std::int64_t(Port)>& count);

}  // namespace isleway
