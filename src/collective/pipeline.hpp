// The critical path of algorithms that pass messages on through a row of legs.
#pragma once

#include <vector>

#include "collective/cut.hpp"

namespace isleway {

/// One of the connections that a message takes one after the other.
struct Leg {
  Port from, to;
};

/// The first message crosses every leg, one after the other; from then on the legs work at
/// once. The bytes that cross leg number `loaded` are in the load of the busiest link. Of the
/// messages behind the first, only what each costs its sender remains.
std::vector<CriticalStep> pipeline_path(const std::vector<Leg>& legs, std::size_t loaded,
                                        const Loops& loops);

}  // namespace isleway
