// How long a pipeline takes, by formula and by going through its schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "isleway/plan/train_layout.hpp"

namespace isleway::plan {

/// Seconds of one virtual stage for one micro-batch.
struct StageTimes {
  double forward = 0, backward = 0;
  double weight_gradient = 0;  ///< the part of `backward` that nothing waits for
};

struct Pipeline {
  Schedule schedule = Schedule::one_f_one_b;
  int ranks = 1;
  int virtual_stages = 1;  ///< of a rank
  std::int64_t micro_batches = 1;
  double hop = 0;       ///< seconds from one stage to the next
  bool blocks = false;  ///< a rank waits for what it sends
  /// By depth: stage s is on rank s mod ranks. DualPipe: of one direction, the other mirrored.
  std::vector<StageTimes> stages;
};

/// Seconds of the busiest rank, without waiting.
double busiest_rank(const Pipeline& pipeline);

/// Close enough to rank layouts by.
double pipeline_formula(const Pipeline& pipeline);

/// Every forward and backward of every rank in its order, each after what it waits for. Long
/// runs are cut short where they have become regular.
double simulate_pipeline(const Pipeline& pipeline);

}  // namespace isleway::plan
