#include "isleway/plan/train.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "plan/train_state.hpp"
#include "plan/train_traffic.hpp"

namespace isleway::plan {
namespace {

/// Bytes that the optimizer reads and writes for a weight: gradient, master copy and two
/// moments in 32 bits, the 16-bit weight; and the gradients once more for their norm.
constexpr double kOptimizerBytes = 34;

constexpr std::array<const char*, kParts> kPartNames = {
    "compute", "recompute", "tensor", "context",   "experts",
    "stages",  "bubble",    "data",   "optimizer", "host"};

double optimizer_seconds(const TrainLayout& layout, const std::vector<StageCost>& stages,
                         const ComputeModel& compute, const TrainingConstants& constants) {
  double most = 0;
  const bool sharded = layout.sharding != Sharding::none;
  const double dense = sharded ? layout.data * layout.context : 1;
  const double experts = sharded ? std::max(1, layout.expert_data()) : 1;
  for (int rank = 0; rank < layout.pipeline; ++rank) {
    double weights = 0;
    for (std::size_t s = static_cast<std::size_t>(rank); s < stages.size();
         s += static_cast<std::size_t>(layout.pipeline))
      weights += stages[s].dense_weights / dense + stages[s].expert_weights / experts;
    most = std::max(most, weights);
  }
  return most * kOptimizerBytes /
         (compute.memory_rate().bytes_per_second() * constants.optimizer_rate);
}

Pipeline pipeline_of(const TrainJob& job, const TrainLayout& layout,
                     const std::vector<StageCost>& stages, double hop) {
  Pipeline pipeline;
  pipeline.schedule = layout.schedule;
  pipeline.ranks = layout.pipeline;
  pipeline.virtual_stages = layout.virtual_stages;
  pipeline.micro_batches = job.global_batch / (std::int64_t{layout.data} * layout.micro_batch);
  pipeline.hop = hop;
  pipeline.blocks = !job.framework.pipeline_overlap;
  for (const StageCost& stage : stages)
    pipeline.stages.push_back({stage.forward * job.straggler, stage.backward * job.straggler,
                               stage.weight_gradient * job.straggler});
  return pipeline;
}

/// Divides `whole`, what the busiest rank's passes take, by what they are made of.
void add_passes(const TrainJob& job, const std::vector<LayerCost>& costs, double whole,
                TrainEstimate& estimate) {
  std::array<double, kParts> sums{};
  const auto add = [&](Part part, double seconds) {
    sums[static_cast<std::size_t>(part)] += seconds;
  };
  const auto add_layer = [&](const LayerCost& cost) {
    add(Part::compute, cost.forward + cost.backward);
    add(Part::recompute, cost.again);
    add(Part::host, cost.host_forward + cost.host_backward);
    add(Part::tensor, cost.tensor.shown_forward + cost.tensor.shown_backward);
    add(Part::context, cost.context.shown_forward + cost.context.shown_backward);
    add(Part::experts, cost.experts.shown_forward + cost.experts.shown_backward);
    add(Part::data, cost.gather_forward + cost.gather_backward);
  };
  for (const std::uint8_t kind : job.model.order) add_layer(costs[kind]);
  for (const std::uint8_t kind : job.model.mtp_order) add_layer(costs[kind]);
  add_layer(costs.back());
  double all = 0;
  for (const double sum : sums) all += sum;
  for (std::size_t i = 0; i < kParts; ++i)
    if (all > 0) estimate.parts[i] += Time::seconds(sums[i] / all * whole);
}

/// Of all GPUs over the slowest.
double mean_speed(const GpuSpread& spread) {
  if (spread.speed.empty()) return 1;
  return std::accumulate(spread.speed.begin(), spread.speed.end(), 0.0) /
         static_cast<double>(spread.speed.size());
}

}  // namespace

const char* name_of(Part part) { return kPartNames[static_cast<std::size_t>(part)]; }

TrainModel::TrainModel(TrainJob job, const Interconnect& interconnect, ComputeModel compute,
                       const Parts& parts, double memory_capacity, GpuSpread spread) {
  auto constants = TrainingConstants::read(parts, compute.part().generation);
  state_ = std::make_unique<State>(State{std::move(job), interconnect, std::move(compute),
                                         memory_capacity, std::move(constants), std::move(spread)});
}
TrainModel::~TrainModel() = default;
TrainModel::TrainModel(TrainModel&&) noexcept = default;

const TrainJob& TrainModel::job() const { return state_->job; }
const Interconnect& TrainModel::interconnect() const { return state_->interconnect; }
const ComputeModel& TrainModel::compute() const { return state_->compute; }
double TrainModel::capacity() const { return state_->capacity; }
const GpuSpread& TrainModel::spread() const { return state_->spread; }

Result<const std::vector<LayerCost>*> TrainModel::State::layer_costs(
    const TrainLayout& layout) const {
  // Strides of groups follow from the sizes inside them; expert groups may span the data ranks.
  const bool usual = layout.order == kUsualOrder;
  const CostKey key{layout.tensor,          layout.context,
                    layout.expert,          layout.expert_tensor,
                    layout.micro_batch,     layout.recompute,
                    layout.sequence,        layout.context_method,
                    layout.order,           usual ? 1 : layout.pipeline,
                    usual ? 1 : layout.data};
  const std::lock_guard lock(*mutex);
  auto known = costs.find(key);
  if (known == costs.end())
    known =
        costs.emplace(key, plan::layer_costs(job, layout, interconnect, compute, *constants)).first;
  if (!known->second) return tl::unexpected(known->second.error());
  return &*known->second;
}

std::vector<StageGpus> TrainModel::State::stage_gpus(const TrainLayout& layout) const {
  const auto stages = static_cast<std::size_t>(layout.pipeline);
  if (spread.speed.empty()) return std::vector<StageGpus>(stages, {1, capacity});
  std::vector<StageGpus> gpus(
      stages, {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()});
  const auto stride = static_cast<std::size_t>(groups_of(layout).pipeline.stride[0]);
  for (std::size_t rank = 0; rank < spread.speed.size(); ++rank) {
    StageGpus& stage = gpus[rank / stride % stages];
    stage.speed = std::min(stage.speed, spread.speed[rank]);
    stage.memory = std::min(stage.memory, spread.memory[rank]);
  }
  return gpus;
}

Result<TrainEstimate> TrainModel::price(const TrainLayout& layout, bool exact) const {
  const State& state = *state_;
  if (!state.constants) return tl::unexpected(state.constants.error());
  const TrainingConstants& constants = *state.constants;
  if (auto no = objection(layout)) return tl::unexpected(*no);
  const auto known = state.layer_costs(layout);
  if (!known) return tl::unexpected(known.error());

  std::vector<LayerCost> costs = **known;
  DataTraffic gathers;
  if (auto done = gather_layers(state.job, layout, state.interconnect, constants, costs, gathers);
      !done)
    return tl::unexpected(done.error());
  const std::vector<StageGpus> gpus = state.stage_gpus(layout);
  const std::vector<StageCost> stages = stage_costs(state.job, layout, costs, gpus);
  auto data = data_traffic(state.job, layout, stages, state.interconnect, constants);
  if (!data) return tl::unexpected(data.error());
  const auto hop = stage_hop(state.job, layout, state.interconnect);
  if (!hop) return tl::unexpected(hop.error());

  TrainEstimate estimate;
  estimate.layout = layout;
  const Pipeline pipeline = pipeline_of(state.job, layout, stages, hop->seconds);
  estimate.micro_batches = pipeline.micro_batches;
  const double passes = exact ? simulate_pipeline(pipeline) : pipeline_formula(pipeline);
  const double busiest = busiest_rank(pipeline);
  const double optimizer = optimizer_seconds(layout, stages, state.compute, constants);
  const double shown = data->shown + constants.beside * data->beside;
  estimate.step = Time::seconds(passes + shown + optimizer + constants.step_overhead);

  add_passes(state.job, costs, busiest, estimate);
  const auto part = [&](Part which) -> Time& {
    return estimate.parts[static_cast<std::size_t>(which)];
  };
  const double waiting = std::max(0.0, passes - busiest);
  const double hops = std::min(waiting, hop->shown(pipeline));
  part(Part::pipeline) += Time::seconds(hops);
  part(Part::bubble) += Time::seconds(waiting - hops);
  part(Part::data) += Time::seconds(shown);
  part(Part::optimizer) += Time::seconds(optimizer);
  part(Part::host) += Time::seconds(constants.step_overhead);

  const double tokens = static_cast<double>(state.job.global_batch * state.job.sequence);
  const double step = estimate.step.seconds();
  estimate.tokens_per_gpu_second = tokens / step / layout.ranks();
  estimate.model_flops =
      estimate.tokens_per_gpu_second *
      model::training_flops(state.job.model, static_cast<double>(state.job.sequence),
                            model::FlopConvention::full);
  estimate.mfu = estimate.model_flops / state.compute.peak_flops(state.job.precision) /
                 mean_speed(state.spread);
  estimate.memory = train_memory(state.job, layout, stages, constants);
  estimate.capacity = state.capacity;
  for (std::size_t rank = 0; rank < estimate.memory.size(); ++rank) {
    StageMemory& memory = estimate.memory[rank];
    memory.capacity = gpus[rank].memory;
    if (memory.total() * estimate.capacity <= estimate.needed * memory.capacity) continue;
    estimate.needed = memory.total();
    estimate.capacity = memory.capacity;
  }
  if (exact) {
    estimate.traffic = traffic_rows(state.job, layout, costs, state.interconnect, *hop, pipeline);
    for (auto* rows : {&gathers.rows, &data->rows})
      estimate.traffic.insert(estimate.traffic.end(), rows->begin(), rows->end());
  }
  return estimate;
}

}  // namespace isleway::plan
