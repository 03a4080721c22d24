// An algorithm that a file holds, as a schedule.
#pragma once

#include <memory>

#include "isleway/collective/collective.hpp"
#include "isleway/formats/algorithm.hpp"

namespace isleway {

/// What the algorithm does. Error: a collective that is not known here.
Result<Collective> collective_of(const formats::Algorithm& algorithm);

/// The largest size from `bytes` downwards that divides into equal chunks of whole 16-byte words.
std::int64_t program_size(const formats::Algorithm& algorithm, std::int64_t bytes);

/// Runs the algorithm on numbers, at a size small enough to be quick, in several orders of what
/// may go first. Error: what check_schedule() finds. Ok without a run where even that size has
/// too many elements to hold.
Result<void> prove_program(const formats::Algorithm& algorithm);

/// `call` must be of a size that program_size() gives. A message holds at most `slot_bytes`:
/// larger chunks go in several rounds through all steps, as MSCCL's do; one-sided algorithms
/// have no slots. Streams in the network belong to one agent. Error: another number of ranks, a
/// step outside the buffers that the collective has, more steps than can be held.
Result<std::unique_ptr<Schedule>> make_program(const formats::Algorithm& algorithm,
                                               const CollectiveCall& call, std::int64_t slot_bytes);

}  // namespace isleway
