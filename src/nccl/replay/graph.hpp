// The traces of all ranks as one graph, in which nodes that belong together are one.
#pragma once

#include <functional>

#include "isleway/nccl/replay.hpp"

namespace isleway::nccl {

struct TraceJob {
  enum class Kind : std::uint8_t { wait, compute, collective, message };
  Kind kind = Kind::wait;
  const formats::TraceNode* node = nullptr;  ///< of the first of its ranks
  std::vector<int> ranks;                    ///< of a message: sender, receiver
  std::string group;                         ///< of a collective
  int root = 0;                              ///< place in `ranks`
  Time delay;                                ///< while nothing moves
  std::vector<std::uint32_t> after;          ///< places of jobs before it
};

/// In an order in which every job stands behind those that it waits for.
Result<std::vector<TraceJob>> join_traces(std::span<const formats::ExecutionTrace> traces,
                                          const ReplayOptions& options, Notices& notices);

}  // namespace isleway::nccl
