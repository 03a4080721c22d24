// An MSCCL++ execution plan as its JSON says, before it is made into streams.
#pragma once

#include <string>
#include <vector>

#include "isleway/formats/algorithm.hpp"

namespace isleway::formats {

enum class PlanChannel : std::uint8_t { none, memory, port, multicast };

/// Where an operation reads or writes: the own rank's memory, another's, or that of all ranks of
/// a multicast group at once.
struct PlanBuffer {
  int rank = 0;  ///< kGroup: of `group`
  AlgorithmPlace place;
  int chunks = 0;
  const std::vector<int>* group = nullptr;
  static constexpr int kGroup = -1;
};

/// A channel between two ranks, by its number in the whole plan: equal at both ends.
using PlanLink = int;

struct PlanOperation {
  std::string name;
  std::string way;  ///< where it stands: "gpus[0].threadblocks[1].ops[3]"
  PlanChannel channel = PlanChannel::none;
  std::vector<PlanBuffer> sources, targets;
  std::vector<PlanLink> links;
  int part = 0, parts = 1;
  int barrier = 0;
  std::vector<int> semaphores;
  /// A pipeline: what it repeats.
  std::vector<PlanOperation> inner;
  int loop_chunks = 0;
  std::int64_t unit_bytes = 0;
};

struct PlanThreadblock {
  int rank = 0;
  std::vector<PlanOperation> operations;
};

struct ExecutionPlan {
  Algorithm head;  ///< all but its streams
  std::vector<PlanThreadblock> threadblocks;
  std::vector<std::vector<int>> semaphores;  ///< by rank: what each starts with
  /// By link: the two ranks that it joins.
  std::vector<std::pair<int, int>> links;
  /// Multicast groups, which PlanBuffer::group points into.
  std::vector<std::vector<std::vector<int>>> groups;  ///< by rank
};

/// Error: damage, with its place.
Result<ExecutionPlan> parse_plan(std::string_view text, const std::string& file);

}  // namespace isleway::formats
