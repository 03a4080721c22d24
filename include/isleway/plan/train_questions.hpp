// What limits a layout, and what other hardware would change.
#pragma once

#include <string>
#include <vector>

#include "isleway/plan/train_search.hpp"

namespace isleway::plan {

/// The traffic that costs most time that nothing hides; null when compute alone decides.
const TrafficRow* ceiling(const TrainEstimate& estimate);

/// The same job on changed hardware.
struct WhatIf {
  std::string change;
  Time step;       ///< of the layout as it is
  Time best_step;  ///< of the best of the given layouts there
  TrainLayout best;
  std::string why_not;  ///< where the change cannot be made here
};

/// Twice the NICs' rate, NVLink of the next generation (twice the rate), and NVLink domains of
/// 64 or 72 GPUs. `layouts`: those that may be best there; the first is the plan's.
std::vector<WhatIf> what_ifs(const TrainModel& model, const std::vector<TrainEstimate>& layouts,
                             const Parts& parts);

/// How far one tensor-parallel group may grow before its traffic takes longer than the matrix
/// multiplies that could hide it.
struct TensorStep {
  int tensor = 1;
  Time compute, traffic;  ///< of one layer, forward and backward
  Rate needed;            ///< bus bandwidth at which both take as long
  Rate available;         ///< of this machine's group; zero where there are too few GPUs
};
std::vector<TensorStep> tensor_steps(const TrainModel& model, int micro_batch);

/// The largest tensor-parallel group for which `rate` a GPU suffices inside an island of
/// `island` GPUs; what leaves the island goes at `way` a GPU.
int largest_tensor(const std::vector<TensorStep>& steps, Rate rate, int island, Rate way);

}  // namespace isleway::plan
