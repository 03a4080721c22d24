// Moves real data as a schedule says: for the checker, and for virtual GPUs.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "isleway/core/error.hpp"
#include "isleway/engine/schedule.hpp"

namespace isleway {

/// A rank's memory. Where the two overlap, the call is in place.
struct RankBuffers {
  std::span<const std::byte> input;
  std::span<std::byte> output;
  std::span<std::byte> scratch = {};
  /// The input again, where the schedule may overwrite it.
  std::span<std::byte> spare_input = {};
};

/// into = into (+) from, element by element; both have the same length.
using Reduction = std::function<void(std::span<std::byte> into, std::span<const std::byte> from)>;

struct ExecutorOptions {
  /// Messages that a connection holds until the receiver takes one. Greater than zero.
  int credits = 8;
  /// The schedule's bytes must be whole elements of this size.
  int element_bytes = 4;
  /// Bytes of memory that stand for an element; 0: element_bytes.
  int stored_bytes = 0;
  /// Any of the streams that can go on may go first. Each seed is one such order.
  std::uint64_t order = 0;
  /// Told of each value before it is stored at `where`; an error ends the run.
  std::function<Result<void>(Port by, Region where, std::span<const std::byte> value)> on_store;
};

/// Runs every action of every stream, one at a time. `buffers` has one entry a rank. Error: a
/// region outside its buffer, a port that does not exist, messages of another size than the
/// receiver expects, messages that nobody takes, or ports that wait for one another for
/// ever; each names the port and the action.
Result<void> execute_schedule(const Schedule& schedule, std::span<const RankBuffers> buffers,
                              const Reduction& reduce, const ExecutorOptions& options = {});

}  // namespace isleway
