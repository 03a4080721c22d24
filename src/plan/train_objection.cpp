// Why a layout cannot be, and the nearest that can.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/train_state.hpp"

namespace isleway::plan {
namespace {

/// The divisor of `whole` nearest to `wanted`.
std::int64_t nearest_divisor(std::int64_t whole, std::int64_t wanted) {
  const auto divides = [&](std::int64_t n) { return n >= 1 && n <= whole && whole % n == 0; };
  for (std::int64_t away = 0; away <= std::max(whole, wanted); ++away) {
    if (divides(wanted - away)) return wanted - away;
    if (divides(wanted + away)) return wanted + away;
  }
  return 1;
}

Error wrong(std::string what, std::string expected, std::string hint = {}) {
  return Error{{}, std::move(what), std::move(expected), std::move(hint)};
}

using Objection = std::optional<Error>;

Objection check_ranks(const TrainLayout& layout, int ranks) {
  if (layout.ranks() == ranks) return std::nullopt;
  const std::int64_t model_ranks = std::int64_t{layout.tensor} * layout.context * layout.pipeline;
  if (ranks % model_ranks == 0)
    return wrong(
        fmt::format("the layout is for {} GPUs, the machine has {}", layout.ranks(), ranks), "",
        fmt::format("dp={}", ranks / model_ranks));
  return wrong(
      fmt::format("TP {} x CP {} x PP {} = {} does not divide {} GPUs", layout.tensor,
                  layout.context, layout.pipeline, model_ranks, ranks),
      "",
      fmt::format("pp={}", nearest_divisor(
                               std::max<std::int64_t>(
                                   1, ranks / std::max<std::int64_t>(
                                                  1, std::int64_t{layout.tensor} * layout.context)),
                               layout.pipeline)));
}

Objection check_tensor(const TrainLayout& layout, const model::Transformer& model) {
  for (const model::Layer& layer : model.kinds) {
    const model::Mixer& mixer = layer.mixer;
    if (mixer.heads > 0 && mixer.heads % layout.tensor != 0)
      return wrong(fmt::format("TP {} does not divide {} heads", layout.tensor, mixer.heads), "",
                   fmt::format("tp={}", nearest_divisor(mixer.heads, layout.tensor)));
    if (mixer.kind == model::MixerKind::attention && mixer.kv_heads % layout.tensor != 0 &&
        layout.tensor % mixer.kv_heads != 0)
      return wrong(fmt::format("TP {} and {} key-value heads do not divide one another",
                               layout.tensor, mixer.kv_heads),
                   "", fmt::format("tp={}", nearest_divisor(mixer.kv_heads, layout.tensor)));
    for (const std::int64_t width : {layer.feed_forward.dense, layer.feed_forward.shared})
      if (width % layout.tensor != 0)
        return wrong(
            fmt::format("TP {} does not divide a feed-forward width of {}", layout.tensor, width),
            "", fmt::format("tp={}", nearest_divisor(width, layout.tensor)));
  }
  return std::nullopt;
}

Objection check_experts(const TrainLayout& layout, const model::Transformer& model) {
  const std::int64_t experts = model.experts();
  if (layout.expert == 1 && layout.expert_tensor == 1) return std::nullopt;
  if (experts == 0)
    return wrong(fmt::format("EP {} for a model without experts", layout.expert), "ep=1");
  if (layout.expert > experts)
    return wrong(fmt::format("EP {} is more than {} experts", layout.expert, experts), "",
                 fmt::format("ep={}", experts));
  if (experts % layout.expert != 0)
    return wrong(fmt::format("EP {} does not divide {} experts", layout.expert, experts), "",
                 fmt::format("ep={}", nearest_divisor(experts, layout.expert)));
  const std::int64_t stage = std::int64_t{layout.tensor} * layout.context * layout.data;
  const std::int64_t together = std::int64_t{layout.expert} * layout.expert_tensor;
  if (stage % together != 0)
    return wrong(fmt::format("EP {} x ETP {} does not divide the {} ranks of a pipeline stage",
                             layout.expert, layout.expert_tensor, stage),
                 "", fmt::format("ep={}", nearest_divisor(stage, layout.expert)));
  return std::nullopt;
}

Objection check_pipeline(const TrainLayout& layout, const TrainJob& job) {
  const std::int64_t layers = job.model.layer_count();
  // The embedding and the loss may have a stage each of their own.
  if (layout.stages() > layers + 2)
    return wrong(fmt::format("{} stages for {} layers", layout.stages(), layers), "",
                 layout.virtual_stages > 1
                     ? fmt::format("vp={}", std::max<std::int64_t>(1, layers / layout.pipeline))
                     : fmt::format("pp={}", nearest_divisor(layers, layers)));
  const bool many = layout.schedule == Schedule::interleaved;
  if (many && (layout.virtual_stages < 2 || layout.pipeline < 2))
    return wrong("an interleaved schedule needs several stages on each of several ranks",
                 "vp and pp of 2 or more");
  if (!many && layout.virtual_stages > 1)
    return wrong(fmt::format("schedule {} has one stage a rank", name_of(layout.schedule)),
                 "vp=1, or schedule=interleaved");
  if (layout.schedule == Schedule::dual_pipe && (layout.pipeline < 2 || layout.pipeline % 2 != 0))
    return wrong(fmt::format("DualPipe on {} ranks", layout.pipeline), "an even number of them");
  return std::nullopt;
}

Objection check_batch(const TrainLayout& layout, const TrainJob& job) {
  const std::int64_t together = std::int64_t{layout.data} * layout.micro_batch;
  if (job.global_batch % together != 0)
    return wrong(fmt::format("DP {} x micro-batch {} does not divide a batch of {} sequences",
                             layout.data, layout.micro_batch, job.global_batch),
                 "",
                 together > job.global_batch
                     ? fmt::format("fewer data-parallel ranks: {} at most", job.global_batch)
                     : fmt::format("a batch of {}", job.global_batch / together * together));
  const std::int64_t micro_batches = job.global_batch / together;
  if (layout.schedule == Schedule::interleaved && micro_batches < layout.pipeline)
    return wrong(fmt::format("{} micro-batches for an interleaved pipeline of {} ranks",
                             micro_batches, layout.pipeline),
                 "as many as ranks or more", "fewer ranks, a larger batch, or vp=1");
  if (layout.schedule == Schedule::dual_pipe && micro_batches < 2 * layout.pipeline)
    return wrong(
        fmt::format("{} micro-batches for DualPipe on {} ranks", micro_batches, layout.pipeline),
        "twice as many as ranks or more");
  const std::int64_t halves = layout.context > 1 ? 2 * std::int64_t{layout.context} : 1;
  if (job.sequence % halves != 0)
    return wrong(fmt::format("CP {} does not divide a sequence of {} into halves for each rank",
                             layout.context, job.sequence),
                 "",
                 fmt::format("cp={}", nearest_divisor(std::max<std::int64_t>(1, job.sequence / 2),
                                                      layout.context)));
  return std::nullopt;
}

}  // namespace

std::optional<Error> TrainModel::objection(const TrainLayout& layout) const {
  const TrainJob& job = state_->job;
  if (auto no = check_ranks(layout, state_->interconnect.ranks())) return no;
  if (auto no = check_tensor(layout, job.model)) return no;
  if (auto no = check_experts(layout, job.model)) return no;
  if (auto no = check_pipeline(layout, job)) return no;
  return check_batch(layout, job);
}

}  // namespace isleway::plan
