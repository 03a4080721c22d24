// The critical path of algorithms that pass messages on through a row of hops.
#pragma once

#include <vector>

#include "collective/cut.hpp"

namespace isleway {

struct Leg {
  Port from, to;
};

/// The first message crosses every hop, one after the other; from then on the hops work at
/// once. The bytes that cross hop number `loaded` are in the load of the busiest link. Of the
/// messages behind the first, only what each costs its sender remains.
std::vector<CriticalStep> pipeline_path(const std::vector<Leg>& hops, std::size_t loaded,
                                        const Loops& loops);

}  // namespace isleway
