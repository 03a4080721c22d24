// What TrainModel keeps, and the pieces that a price is made of.
#pragma once

#include <map>
#include <mutex>
#include <tuple>

#include "isleway/plan/train.hpp"
#include "plan/layer_cost.hpp"
#include "plan/pipeline.hpp"
#include "plan/stages.hpp"

namespace isleway::plan {

/// Costs of layers depend on few of a layout's numbers; a search asks for the same ones again.
using CostKey =
    std::tuple<int, int, int, int, int, model::Recompute, bool, ContextMethod, Order, int, int>;

/// The slowest and the smallest GPU of one pipeline rank's.
struct StageGpus {
  double speed = 1;   ///< over the slowest of all
  double memory = 0;  ///< bytes
};

struct TrainModel::State {
  TrainJob job;
  const Interconnect& interconnect;
  ComputeModel compute;
  double capacity;
  Result<TrainingConstants> constants;
  GpuSpread spread;
  /// Behind a pointer, so that a model can be moved.
  std::unique_ptr<std::mutex> mutex = std::make_unique<std::mutex>();
  mutable std::map<CostKey, Result<std::vector<LayerCost>>> costs = {};

  Result<const std::vector<LayerCost>*> layer_costs(const TrainLayout& layout) const;
  /// By pipeline rank.
  std::vector<StageGpus> stage_gpus(const TrainLayout& layout) const;
};

/// One virtual stage: sums over its layers.
struct StageCost {
  double forward = 0, backward = 0, weight_gradient = 0;
  double dense_weights = 0, expert_weights = 0, activations = 0, working = 0, logits = 0;
  int layers = 0;
};

/// By depth. The first stage has the embedding, the last one the head and further tokens' modules.
/// Faster GPUs get more layers.
std::vector<StageCost> stage_costs(const TrainJob& job, const TrainLayout& layout,
                                   const std::vector<LayerCost>& costs,
                                   const std::vector<StageGpus>& gpus);

/// By pipeline rank.
std::vector<StageMemory> train_memory(const TrainJob& job, const TrainLayout& layout,
                                      const std::vector<StageCost>& stages,
                                      const TrainingConstants& constants);

/// What data parallelism adds: seconds per step, all and shown.
struct DataTraffic {
  double time = 0, shown = 0, beside = 0;
  std::vector<TrafficRow> rows;
};

/// Over the pipeline rank that ends a step. With sharded parameters, what gathering weights
/// adds to each layer is put into `costs` first by gather_layers().
Result<DataTraffic> data_traffic(const TrainJob& job, const TrainLayout& layout,
                                 const std::vector<StageCost>& stages,
                                 const Interconnect& interconnect,
                                 const TrainingConstants& constants);

/// FSDP's gathers and scatters, layer by layer: adds what compute does not hide to the costs'
/// passes; the rest of what is known about them goes to `traffic`.
Result<void> gather_layers(const TrainJob& job, const TrainLayout& layout,
                           const Interconnect& interconnect, const TrainingConstants& constants,
                           std::vector<LayerCost>& costs, DataTraffic& traffic);

/// Weights are gathered anew for each micro-batch. Software keeps them where a pipeline would
/// gather them too often.
inline bool gathers_layers(const TrainLayout& layout) {
  return layout.sharding == Sharding::parameters && layout.pipeline == 1;
}

}  // namespace isleway::plan
