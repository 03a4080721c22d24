// Layers' costs summed into those of stages, and their memory.
#include <algorithm>

#include "plan/train_state.hpp"

namespace isleway::plan {
namespace {

constexpr double kBf16 = 2;
constexpr double kMasterAndMoments = 12;      // three 32-bit numbers
constexpr double kGatheredLayers = 3;         // FSDP: in use, and prefetched
constexpr double kCollectiveBuffers = 0.4e9;  // NCCL's, for each kind of group in use

/// Seconds of a layer on GPUs that compute `speed` times as fast as those it was priced on.
void add_seconds(StageCost& stage, const LayerCost& layer, double speed) {
  const double spared = 1 - 1 / speed;
  stage.forward += layer.whole_forward() - layer.forward * spared;
  stage.backward += layer.whole_backward() - (layer.backward + layer.again) * spared;
  stage.weight_gradient += layer.weight_gradient / speed;
}

void add(StageCost& stage, const LayerCost& layer, double speed) {
  add_seconds(stage, layer, speed);
  stage.dense_weights += layer.dense_weights;
  stage.expert_weights += layer.expert_weights;
  stage.activations += layer.activations;
  stage.working = std::max(stage.working, layer.working);
}

void add_head(StageCost& stage, const LayerCost& head, double speed) {
  add_seconds(stage, head, speed);
  stage.logits += head.working;
}

/// Micro-batches of one virtual stage that are kept at once, summed over a rank's stages.
double kept(const TrainLayout& layout, std::int64_t micro_batches, int rank) {
  const double p = layout.pipeline, v = layout.virtual_stages,
               m = static_cast<double>(micro_batches);
  switch (layout.schedule) {
    case Schedule::interleaved: return std::min(m * v, 2 * (p - rank - 1) + (v - 1) * p + 1);
    case Schedule::dual_pipe: return std::min(m, p + 1);
    case Schedule::one_f_one_b:
    case Schedule::zero_bubble: break;
  }
  return std::min(m, p - rank);
}

/// Bytes of one weight of a rank, by what holds them.
struct PerWeight {
  double weights, gradients, optimizer;
};

PerWeight per_weight(const TrainJob& job, const TrainLayout& layout, double ranks) {
  // Weights in a narrow format are kept beside the 16-bit ones that the optimizer writes.
  const double narrow =
      model::math_bits(job.precision) < 16 ? model::bytes_per_element(job.precision) : 0;
  PerWeight bytes{kBf16 + narrow, job.framework.gradient_bytes, kMasterAndMoments};
  if (layout.sharding != Sharding::none) bytes.optimizer /= ranks;
  if (layout.sharding == Sharding::gradients) bytes.gradients /= ranks;
  if (layout.sharding == Sharding::parameters) {
    const double shards =
        layout.shard_group > 0 ? std::min<double>(layout.shard_group, ranks) : ranks;
    bytes = {4 / shards, 4 / shards, 8 / shards};  // 32-bit weights are the master copy
    if (!gathers_layers(layout)) {  // whole weights and gradients stay for all micro-batches
      bytes.weights += kBf16;
      bytes.gradients += job.framework.gradient_bytes;
    }
  }
  return bytes;
}

}  // namespace

std::vector<StageCost> stage_costs(const TrainJob& job, const TrainLayout& layout,
                                   const std::vector<LayerCost>& costs,
                                   const std::vector<StageGpus>& gpus) {
  const model::Transformer& transformer = job.model;
  std::vector<double> speeds;
  for (const StageGpus& rank : gpus) speeds.push_back(rank.speed);
  const auto speed_of = [&](std::size_t stage) { return speeds[stage % speeds.size()]; };
  std::vector<StageCost> stages;
  for (const StageLayers& part :
       split_layers(static_cast<int>(transformer.layer_count()), layout.stages(), speeds)) {
    StageCost stage;
    stage.layers = part.count();
    for (int i = part.first; i < part.last; ++i)
      add(stage, costs[transformer.order[static_cast<std::size_t>(i)]], speed_of(stages.size()));
    stages.push_back(stage);
  }
  const LayerCost& head = costs.back();
  const double embedding = head.dense_weights;
  stages.front().dense_weights += embedding;
  if (!transformer.tied || layout.stages() > 1) stages.back().dense_weights += embedding;
  const double last = speed_of(stages.size() - 1);
  add_head(stages.back(), head, last);
  for (const std::uint8_t kind : transformer.mtp_order) add(stages.back(), costs[kind], last);
  if (!transformer.mtp_order.empty()) add_head(stages.back(), head, last);
  return stages;
}

std::vector<StageMemory> train_memory(const TrainJob& job, const TrainLayout& layout,
                                      const std::vector<StageCost>& stages,
                                      const TrainingConstants& constants) {
  const std::int64_t micro_batches =
      job.global_batch / (std::int64_t{layout.data} * layout.micro_batch);
  const PerWeight dense = per_weight(job, layout, layout.data * layout.context);
  const PerWeight expert = per_weight(job, layout, std::max(1, layout.expert_data()));
  std::vector<StageMemory> all;
  for (int rank = 0; rank < layout.pipeline; ++rank) {
    StageMemory memory;
    memory.stage = rank;
    double dense_weights = 0, expert_weights = 0, activations = 0, working = 0, largest_layer = 0;
    const auto add_stage = [&](const StageCost& stage) {
      dense_weights += stage.dense_weights;
      expert_weights += stage.expert_weights;
      activations += stage.activations / layout.virtual_stages;
      working = std::max(working, stage.working);
      memory.logits = std::max(memory.logits, stage.logits);
      memory.layers += stage.layers;
      if (stage.layers > 0)
        largest_layer =
            std::max(largest_layer, (stage.dense_weights + stage.expert_weights) / stage.layers);
    };
    for (int chunk = 0; chunk < layout.virtual_stages; ++chunk)
      add_stage(stages[static_cast<std::size_t>(chunk * layout.pipeline + rank)]);
    if (layout.schedule == Schedule::dual_pipe)  // the other direction's stage as well
      add_stage(stages[static_cast<std::size_t>(layout.pipeline - 1 - rank)]);
    memory.weights = dense_weights * dense.weights + expert_weights * expert.weights;
    memory.gradients = dense_weights * dense.gradients + expert_weights * expert.gradients;
    memory.optimizer = dense_weights * dense.optimizer + expert_weights * expert.optimizer;
    if (gathers_layers(layout))
      memory.buffers +=
          kGatheredLayers * largest_layer * kBf16 + largest_layer * job.framework.gradient_bytes;
    memory.activations = activations * kept(layout, micro_batches, rank) + working;
    const int groups = (layout.tensor > 1) + (layout.context > 1) + (layout.expert > 1) +
                       (layout.pipeline > 1) + (layout.data > 1);
    memory.buffers += constants.context_bytes + kCollectiveBuffers * groups +
                      constants.fragmentation * (memory.activations + memory.logits);
    all.push_back(memory);
  }
  return all;
}

}  // namespace isleway::plan
