// What one layer of each kind costs one rank for one micro-batch.
#pragma once

#include <vector>

#include "isleway/plan/train.hpp"
#include "plan/groups.hpp"
#include "plan/training_constants.hpp"

namespace isleway::plan {

/// One kind of traffic: seconds if nothing hid it, and what compute beside it does not hide.
struct Passing {
  double forward = 0, backward = 0;
  double shown_forward = 0, shown_backward = 0;
  double bytes = 0;  ///< of one call
  double calls = 0;  ///< in forward and backward
};

/// Seconds and bytes.
struct LayerCost {
  double forward = 0, backward = 0;            ///< compute
  double weight_gradient = 0;                  ///< the part of `backward` that nothing waits for
  double again = 0;                            ///< what recomputation adds to the backward pass
  double host_forward = 0, host_backward = 0;  ///< launches that the GPU waits for
  Passing tensor, context, experts;
  double gather_forward = 0, gather_backward = 0;  ///< FSDP: what compute does not hide
  double activations = 0;                          ///< bytes kept for the backward pass
  double working = 0;                              ///< bytes of a layer that is computed again
  double dense_weights = 0;                        ///< of this rank
  double expert_weights = 0;                       ///< of this rank

  double whole_forward() const {
    return forward + host_forward + tensor.shown_forward + context.shown_forward +
           experts.shown_forward + gather_forward;
  }
  double whole_backward() const {
    return backward + again + host_backward + tensor.shown_backward + context.shown_backward +
           experts.shown_backward + gather_backward;
  }
};

/// By kind of layer; the vocabulary's projection with the loss comes last. Depends on the
/// layout's tensor, context and expert sizes, its micro-batch and recomputation only. Error:
/// a group that nothing joins.
Result<std::vector<LayerCost>> layer_costs(const TrainJob& job, const TrainLayout& layout,
                                           const Interconnect& interconnect,
                                           const ComputeModel& compute,
                                           const TrainingConstants& constants);

/// The same with memory and weights only.
std::vector<LayerCost> layer_memory(const TrainJob& job, const TrainLayout& layout);

model::Shard shard_of(const TrainLayout& layout);
model::Work work_of(const TrainJob& job, const TrainLayout& layout);

}  // namespace isleway::plan
