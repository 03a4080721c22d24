#include "plan/layer_cost.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace isleway::plan {
namespace {

using model::Operation;
using model::Recompute;

constexpr double kBf16 = 2;

void add_memory(const TrainJob& job, const TrainLayout& layout, const model::Layer& layer,
                LayerCost& cost) {
  const std::int64_t hidden = job.model.hidden;
  const auto kept = [&](Recompute recompute) {
    return model::activation_bytes(layer, hidden, shard_of(layout), work_of(job, layout), recompute,
                                   job.framework.fused_attention);
  };
  cost.activations = kept(layout.recompute);
  if (layout.recompute == Recompute::full) cost.working = kept(Recompute::none);
  const model::LayerParameters weights = model::parameters(layer, hidden);
  cost.dense_weights = static_cast<double>(weights.sharded()) / layout.tensor +
                       static_cast<double>(weights.replicated);
  cost.expert_weights =
      static_cast<double>(weights.experts) / (layout.expert * layout.expert_tensor);
}

void add_head_memory(const TrainJob& job, const TrainLayout& layout, LayerCost& cost) {
  cost.dense_weights = static_cast<double>(job.model.vocabulary * job.model.hidden) / layout.tensor;
  cost.working = model::logits_bytes(job.model, shard_of(layout), work_of(job, layout),
                                     job.framework.logit_bytes);
}

/// Everything that prices of layers are made from.
class LayerPricer {
 public:
  LayerPricer(const TrainJob& job, const TrainLayout& layout, const Interconnect& interconnect,
              const ComputeModel& compute, const TrainingConstants& constants)
      : job_(job),
        layout_(layout),
        interconnect_(interconnect),
        compute_(compute),
        constants_(constants),
        groups_(groups_of(layout)),
        shard_(shard_of(layout)),
        work_(work_of(job, layout)) {}

  Result<LayerCost> layer(const model::Layer& layer);
  Result<LayerCost> head();

 private:
  void add_kernels(const std::vector<Operation>& operations, LayerCost& cost);
  void add_host(LayerCost& cost) const;
  double kernel(const Operation& op, bool backward) const;
  double unfused_attention(bool backward) const;
  double seconds(Collective collective, const GroupShape& group, double bytes);
  void add_tensor(const model::LayerTraffic& traffic, LayerCost& cost);
  void add_context(const model::LayerTraffic& traffic, LayerCost& cost);
  void add_experts(const model::Layer& layer, const model::LayerTraffic& traffic, LayerCost& cost);
  double copies(const model::FeedForward& feed) const;
  double computed_again(const Operation& op) const;

  const TrainJob& job_;
  const TrainLayout& layout_;
  const Interconnect& interconnect_;
  const ComputeModel& compute_;
  const TrainingConstants& constants_;
  Groups groups_;
  model::Shard shard_;
  model::Work work_;
  std::optional<Error> error_;
  int kernels_ = 0;
  double gemms_forward_ = 0, gemms_backward_ = 0, attention_forward_ = 0, attention_backward_ = 0;
};

double LayerPricer::seconds(Collective collective, const GroupShape& group, double bytes) {
  if (group.ranks() < 2 || bytes <= 0) return 0;
  const auto curve = interconnect_.curve(collective, group);
  if (curve) return (*curve)->seconds(bytes);
  if (!error_) error_ = curve.error();
  return 0;
}

/// The share of an operation that the backward pass repeats.
double LayerPricer::computed_again(const Operation& op) const {
  if (layout_.recompute == Recompute::full) return 1;
  if (layout_.recompute == Recompute::selective)
    return op.kind == Operation::Kind::attention && !job_.framework.fused_attention;
  const bool alternate = layout_.recompute == Recompute::alternate;
  if (layout_.recompute != Recompute::pointwise && !alternate) return 0;
  if (alternate && op.kind == Operation::Kind::gemm) return 0.5;
  const std::string_view name = op.name;
  return name == "activation" || name == "expert activation" || name == "norm and residual" ||
         name == "kv up" || name == "q up" || name == "low-rank norms";
}

/// One kernel's seconds on this cluster, for hours.
double LayerPricer::kernel(const Operation& op, bool backward) const {
  const std::string_view name = op.name;
  // The router and the vocabulary stay in 16 bits whatever the recipe.
  const auto precision =
      name == "router" || name == "vocabulary" ? model::Precision::bf16 : job_.precision;
  double seconds = 0;
  if (op.kind == Operation::Kind::memory) {
    Operation more = op;
    more.elements *= constants_.pointwise * job_.framework.pointwise;
    seconds = compute_.operation(more, precision, backward).seconds();
  } else if (op.kind == Operation::Kind::attention && !job_.framework.fused_attention) {
    seconds = unfused_attention(backward);
  } else {
    seconds = compute_.operation(op, precision, backward).seconds();
    if (op.kind == Operation::Kind::attention && !job_.framework.newest_attention)
      seconds /= compute_.kernels().flash2;
  }
  return seconds / constants_.sustained;
}

/// Two batched products, over all keys since a mask saves none of them, and the kernels between
/// that read and write the scores: scale and mask, softmax, dropout.
double LayerPricer::unfused_attention(bool backward) const {
  constexpr double kScoreTraffic = 4;
  const double passes = backward ? 2 : 1;
  const auto heads = static_cast<std::int64_t>(
      std::max<std::int64_t>(1, job_.model.first_attention()->heads / layout_.tensor));
  const std::int64_t batch = heads * work_.sequences;
  const std::int64_t rows = work_.tokens / std::max<std::int64_t>(1, work_.sequences);
  const auto keys = static_cast<std::int64_t>(work_.spread ? 2 * work_.context : work_.context);
  const std::int64_t width = job_.model.first_attention()->head_dim;
  const double products =
      compute_.gemm({rows, keys, width, batch}, model::Precision::bf16).seconds() +
      compute_.gemm({rows, width, keys, batch}, model::Precision::bf16).seconds();
  const double scores = static_cast<double>(batch * rows) * static_cast<double>(keys) * kBf16;
  const Time between = compute_.memory(Bytes(static_cast<std::int64_t>(kScoreTraffic * scores)), 3);
  return passes * (products + between.seconds());
}

void LayerPricer::add_kernels(const std::vector<Operation>& operations, LayerCost& cost) {
  gemms_forward_ = gemms_backward_ = attention_forward_ = attention_backward_ = 0;
  kernels_ = 0;
  const int per_expert = model::math_bits(job_.precision) < 16 ? 2 : 1;
  for (const Operation& op : operations) {
    const double forward = kernel(op, false), backward = kernel(op, true);
    cost.forward += forward;
    cost.backward += backward;
    cost.again += computed_again(op) * forward;
    if (op.kind == Operation::Kind::gemm) {
      gemms_forward_ += forward;
      gemms_backward_ += backward;
      cost.weight_gradient += backward / 2;
    } else if (op.kind == Operation::Kind::attention) {
      attention_forward_ += forward;
      attention_backward_ += backward;
    }
    // Training software multiplies expert by expert, and narrows each one's rows before.
    kernels_ += op.expert ? static_cast<int>(op.count) * per_expert : op.kernels;
  }
}

/// The host launches ahead of the GPU; where it cannot keep up, the GPU waits.
void LayerPricer::add_host(LayerCost& cost) const {
  if (job_.framework.graphs) return;
  const double calls = (cost.tensor.calls + cost.context.calls + cost.experts.calls) / 2;
  const double kernels =
      job_.framework.host * compute_.host_launch(kernels_).seconds() * constants_.launches;
  const double traffic = job_.framework.host * calls * constants_.collective_launch;
  // Each product has two in the backward pass, which full recomputation precedes.
  constexpr double kBackward = 2;
  const bool again = layout_.recompute == Recompute::full && cost.again > 0;
  cost.host_forward = std::max(0.0, kernels + traffic - cost.whole_forward());
  cost.host_backward =
      std::max(0.0, kernels * (kBackward + (again ? 1 : 0)) + traffic - cost.whole_backward());
}

void LayerPricer::add_tensor(const model::LayerTraffic& traffic, LayerCost& cost) {
  if (layout_.tensor == 1) return;
  const double bytes = traffic.tensor * kBf16;
  // With sequence parallelism an all-reduce falls into its two halves.
  const double once = layout_.sequence
                          ? seconds(Collective::all_gather, groups_.tensor, bytes) +
                                seconds(Collective::reduce_scatter, groups_.tensor, bytes)
                          : seconds(Collective::all_reduce, groups_.tensor, bytes);
  Passing& tensor = cost.tensor;
  tensor.bytes = bytes;
  const bool again = layout_.recompute == Recompute::full;
  tensor.calls = traffic.tensor_calls * (again ? 3 : 2) * (layout_.sequence ? 2 : 1);
  tensor.forward = once * traffic.tensor_calls;
  tensor.backward = tensor.forward * (again ? 2 : 1);
  const double share = job_.framework.tensor_overlap ? constants_.tensor_hidden : 0;
  tensor.shown_forward = tensor.forward - share * std::min(tensor.forward, gemms_forward_);
  tensor.shown_backward = tensor.backward - share * std::min(tensor.backward, gemms_backward_);
}

void LayerPricer::add_context(const model::LayerTraffic& traffic, LayerCost& cost) {
  if (layout_.context == 1 || traffic.context == 0) return;
  const int ranks = layout_.context;
  const double bytes = traffic.context * kBf16;
  Passing& context = cost.context;
  context.bytes = bytes;
  if (layout_.context_method == ContextMethod::all_gather) {
    context.forward = seconds(Collective::all_gather, groups_.context, bytes * ranks);
    context.backward =
        context.forward + seconds(Collective::reduce_scatter, groups_.context, bytes * ranks);
    context.shown_forward = context.forward;
    context.shown_backward = context.backward;
    context.calls = 3;
  } else if (layout_.context_method == ContextMethod::all_to_all) {
    // Queries and results go both ways as well.
    const double all = bytes + 2 * static_cast<double>(work_.tokens) *
                                   static_cast<double>(job_.model.hidden) / layout_.tensor * kBf16;
    context.forward = seconds(Collective::all_to_all, groups_.context, all);
    context.backward = context.forward;
    context.shown_forward = context.shown_backward = context.forward;
    context.bytes = all;
    context.calls = 2;
  } else {
    // Around the ring while a part of the attention is computed.
    const double step = seconds(Collective::sendrecv, groups_.context, bytes);
    const double twice = seconds(Collective::sendrecv, groups_.context, 2 * bytes);
    const double part = 1.0 / ranks;
    context.forward = (ranks - 1) * step;
    context.backward = (ranks - 1) * twice;
    context.shown_forward = (ranks - 1) * std::max(0.0, step - part * attention_forward_);
    context.shown_backward = (ranks - 1) * std::max(0.0, twice - part * attention_backward_);
    // Each part's result is merged into those before it, in 32 bits.
    const double merged = 12.0 * static_cast<double>(work_.tokens) * traffic.context_results;
    const double merge = compute_.memory(Bytes(static_cast<std::int64_t>(merged))).seconds();
    context.shown_forward += (ranks - 1) * merge;
    context.shown_backward += (ranks - 1) * merge;
    context.calls = 2 * (ranks - 1);
  }
}

/// Experts' traffic over what it were if a token went anew to each of its experts: it goes once
/// to each host that has some of them, or to each rank where all are on one host.
double LayerPricer::copies(const model::FeedForward& feed) const {
  if (!job_.framework.node_limited) return 1;
  const double ranks = layout_.expert * layout_.expert_tensor;
  const double domains = ranks / interconnect_.domain_size();
  const double ends = domains > 1 ? domains : ranks;
  const double picks = static_cast<double>(feed.topk);
  return ends * (1 - std::pow(1 - 1 / ends, picks)) / picks;
}

void LayerPricer::add_experts(const model::Layer& layer, const model::LayerTraffic& traffic,
                              LayerCost& cost) {
  if (traffic.experts == 0) return;
  Passing& experts = cost.experts;
  experts.bytes = traffic.experts * kBf16 * copies(layer.feed_forward);
  const bool again = layout_.recompute == Recompute::full;
  experts.calls = again ? 6 : 4;
  const double once = seconds(Collective::all_to_all, groups_.expert, experts.bytes);
  experts.forward = 2 * once;
  experts.backward = (again ? 4 : 2) * once;
  const double share = job_.framework.expert_overlap ? constants_.expert_hidden : 0;
  experts.shown_forward = experts.forward - share * std::min(experts.forward, cost.forward);
  experts.shown_backward = experts.backward - share * std::min(experts.backward, cost.backward);
}

Result<LayerCost> LayerPricer::layer(const model::Layer& layer) {
  LayerCost cost;
  add_kernels(model::operations(layer, job_.model.hidden, shard_, work_), cost);
  add_memory(job_, layout_, layer, cost);
  const model::LayerTraffic traffic = model::traffic(layer, job_.model.hidden, shard_, work_);
  add_tensor(traffic, cost);
  add_context(traffic, cost);
  add_experts(layer, traffic, cost);
  add_host(cost);
  if (error_) return tl::unexpected(*error_);
  return cost;
}

Result<LayerCost> LayerPricer::head() {
  LayerCost cost;
  add_kernels(model::head_operations(job_.model, shard_, work_), cost);
  cost.again = 0;
  add_head_memory(job_, layout_, cost);
  model::LayerTraffic traffic;
  traffic.tensor = static_cast<double>(work_.tokens * job_.model.hidden);
  traffic.tensor_calls = 1;
  add_tensor(traffic, cost);
  add_host(cost);
  if (error_) return tl::unexpected(*error_);
  return cost;
}

}  // namespace

model::Shard shard_of(const TrainLayout& layout) {
  return {layout.tensor, layout.expert_tensor, layout.expert, layout.sequence};
}

model::Work work_of(const TrainJob& job, const TrainLayout& layout) {
  model::Work work;
  work.tokens = job.sequence * layout.micro_batch / layout.context;
  work.sequences = layout.micro_batch;
  work.context = static_cast<double>(job.sequence) / 2;
  work.imbalance = job.imbalance;
  return work;
}

Result<std::vector<LayerCost>> layer_costs(const TrainJob& job, const TrainLayout& layout,
                                           const Interconnect& interconnect,
                                           const ComputeModel& compute,
                                           const TrainingConstants& constants) {
  LayerPricer pricer(job, layout, interconnect, compute, constants);
  std::vector<LayerCost> costs;
  for (const model::Layer& layer : job.model.kinds) {
    auto cost = pricer.layer(layer);
    if (!cost) return tl::unexpected(cost.error());
    costs.push_back(*cost);
  }
  auto head = pricer.head();
  if (!head) return tl::unexpected(head.error());
  costs.push_back(*head);
  return costs;
}

std::vector<LayerCost> layer_memory(const TrainJob& job, const TrainLayout& layout) {
  std::vector<LayerCost> costs(job.model.kinds.size() + 1);
  for (std::size_t i = 0; i < job.model.kinds.size(); ++i)
    add_memory(job, layout, job.model.kinds[i], costs[i]);
  add_head_memory(job, layout, costs.back());
  return costs;
}

}  // namespace isleway::plan
