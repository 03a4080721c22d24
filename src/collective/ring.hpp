// The two shapes that a ring's collectives take.
#pragma once

#include "collective/cut.hpp"
#include "collective/ring_order.hpp"

namespace isleway {

/// all_reduce, all_gather, reduce_scatter: every rank passes a chunk on in every step.
std::unique_ptr<Schedule> make_lockstep_ring(const CollectiveCall& call, RingOrder order,
                                             const Chunking& chunking);

/// broadcast, reduce: one pipeline from the root all round, or all round to the root.
std::unique_ptr<Schedule> make_chain(const CollectiveCall& call, RingOrder order,
                                     const Chunking& chunking);

}  // namespace isleway
