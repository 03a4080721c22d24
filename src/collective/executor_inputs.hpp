// Schedules on inputs that are made when they are read.
#pragma once

#include "isleway/collective/executor.hpp"

namespace isleway {

/// Gives a part of a rank's input that is not in memory: true where it filled all of `out`.
using InputSource =
    std::function<bool(std::int32_t rank, std::int64_t offset, std::span<std::byte> out)>;

/// As execute_schedule, but asks `input` first for what a rank's input holds.
Result<void> execute_schedule_from(const InputSource& input, const Schedule& schedule,
                                   std::span<const RankBuffers> buffers, const Reduction& reduce,
                                   const ExecutorOptions& options);

}  // namespace isleway
