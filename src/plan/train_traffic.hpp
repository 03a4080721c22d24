// Traffic inside a pipeline stage and between stages, for pricing and for the table of it.
#pragma once

#include "plan/train_state.hpp"

namespace isleway::plan {

/// From one stage to the next.
struct StageHop {
  GroupShape group;
  double bytes = 0, seconds = 0;
  const CostCurve* curve = nullptr;  ///< null: one stage

  /// Seconds of a step that hops alone delay it: the way down and back up.
  double shown(const Pipeline& pipeline) const;
};
Result<StageHop> stage_hop(const TrainJob& job, const TrainLayout& layout,
                           const Interconnect& interconnect);

/// A row for each kind of traffic but data parallelism's, on the busiest rank.
std::vector<TrafficRow> traffic_rows(const TrainJob& job, const TrainLayout& layout,
                                     const std::vector<LayerCost>& costs,
                                     const Interconnect& interconnect, const StageHop& hop,
                                     const Pipeline& pipeline);

}  // namespace isleway::plan
