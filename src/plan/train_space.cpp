#include "plan/train_space.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isleway::plan {
namespace {

constexpr int kMostTensor = 64;
constexpr int kMostMicroBatch = 8;
constexpr int kMostVirtual = 24;
/// Less of a sequence than this on one rank leaves its kernels with too little to do.
constexpr std::int64_t kLeastTokens = 1024;

std::vector<int> divisors(std::int64_t n, std::int64_t most) {
  std::vector<int> all;
  for (std::int64_t d = 1; d <= std::min(n, most); ++d)
    if (n % d == 0) all.push_back(static_cast<int>(d));
  return all;
}

bool wanted(int value, int asked) { return asked == 0 || value == asked; }

bool divides_heads(const model::Transformer& model, int tensor) {
  return std::all_of(model.kinds.begin(), model.kinds.end(), [&](const model::Layer& layer) {
    const model::Mixer& mixer = layer.mixer;
    const model::FeedForward& feed = layer.feed_forward;
    const bool shares_keys = mixer.kind != model::MixerKind::attention ||
                             mixer.kv_heads % tensor == 0 || tensor % mixer.kv_heads == 0;
    return mixer.heads % tensor == 0 && shares_keys && feed.dense % tensor == 0 &&
           feed.shared % tensor == 0;
  });
}

/// The largest stage is not far above the mean; the embedding and the loss may stand alone.
bool even_enough(std::int64_t layers, std::int64_t stages) {
  const std::int64_t largest = (layers + stages - 1) / stages;
  return layers + 2 >= stages &&
         largest * stages - layers <= std::max<std::int64_t>(2, layers / 10);
}

std::vector<model::Recompute> recomputations(const TrainJob& job) {
  if (job.framework.fused_attention)
    return {model::Recompute::none, job.framework.cheap, model::Recompute::full};
  return {model::Recompute::none, model::Recompute::selective, job.framework.cheap,
          model::Recompute::full};
}

/// (schedule, stages of a rank).
std::vector<std::pair<Schedule, int>> schedules(const TrainJob& job, int pipeline,
                                                std::int64_t micro_batches, bool all) {
  std::vector<std::pair<Schedule, int>> list = {{Schedule::one_f_one_b, 1}};
  if (pipeline == 1) return list;
  const std::int64_t layers = job.model.layer_count();
  for (int v = 2; v <= kMostVirtual && micro_batches >= pipeline; ++v)
    if (even_enough(layers, std::int64_t{pipeline} * v))
      list.emplace_back(Schedule::interleaved, v);
  if (!all) return list;
  list.emplace_back(Schedule::zero_bubble, 1);
  if (pipeline % 2 == 0 && micro_batches >= 2 * std::int64_t{pipeline})
    list.emplace_back(Schedule::dual_pipe, 1);
  return list;
}

/// (EP, ETP) that divide the experts and the ranks of a pipeline stage.
std::vector<std::pair<int, int>> expert_groups(const TrainJob& job, const TrainLayout& layout,
                                               int asked) {
  const std::int64_t experts = job.model.experts();
  if (experts == 0) return {{1, 1}};
  const std::int64_t ranks = std::int64_t{layout.tensor} * layout.context * layout.data;
  std::vector<std::pair<int, int>> list;
  for (const int expert : divisors(experts, ranks)) {
    if (!wanted(expert, asked) || ranks % expert != 0) continue;
    list.emplace_back(expert, 1);
    if (layout.tensor > 1 && ranks % (std::int64_t{expert} * layout.tensor) == 0)
      list.emplace_back(expert, layout.tensor);
  }
  return list;
}

}  // namespace

void Rejections::add(const std::string& reason, const TrainLayout& example, std::size_t count) {
  const auto known = std::find_if(all_.begin(), all_.end(),
                                  [&](const Rejection& one) { return one.reason == reason; });
  if (known == all_.end()) all_.push_back({reason, count, example});
  else known->count += count;
}

void Rejections::merge(const Rejections& other) {
  for (const Rejection& one : other.all_) add(one.reason, one.example, one.count);
}

std::vector<Rejection> Rejections::sorted() const {
  std::vector<Rejection> sorted = all_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Rejection& a, const Rejection& b) { return a.count > b.count; });
  return sorted;
}

std::vector<Division> divisions(const TrainJob& job, int ranks, const SearchOptions& options,
                                Rejections& rejections) {
  std::vector<Division> all;
  for (const int tensor : divisors(ranks, kMostTensor)) {
    if (!wanted(tensor, options.tensor)) continue;
    TrainLayout layout;
    layout.tensor = tensor;
    if (!divides_heads(job.model, tensor)) {
      rejections.add("TP does not divide the model's heads or widths", layout);
      continue;
    }
    for (const int context : divisors(ranks / tensor, job.sequence)) {
      if (!wanted(context, options.context)) continue;
      layout.context = context;
      if (context > 1 && (job.sequence % (2 * std::int64_t{context}) != 0 ||
                          job.sequence / context < kLeastTokens)) {
        rejections.add("CP leaves a rank less than 1024 tokens of a sequence", layout);
        break;
      }
      for (const int pipeline : divisors(ranks / tensor / context, job.model.layer_count()))
        if (wanted(pipeline, options.pipeline)) all.push_back({tensor, context, pipeline});
    }
  }
  return all;
}

void for_each_layout(const TrainJob& job, int ranks, const Division& division,
                     const SearchOptions& options, Rejections& rejections,
                     const std::function<void(const TrainLayout&)>& visit) {
  TrainLayout layout;
  layout.tensor = division.tensor;
  layout.context = division.context;
  layout.pipeline = division.pipeline;
  layout.data = ranks / (division.tensor * division.context * division.pipeline);
  if (job.global_batch % layout.data != 0) {
    rejections.add(job.global_batch < layout.data
                       ? "more data-parallel ranks than sequences in the batch"
                       : "DP does not divide the batch",
                   layout);
    return;
  }
  const std::int64_t sequences = job.global_batch / layout.data;
  const std::vector<model::Recompute> ways = recomputations(job);
  for (const auto& [expert, expert_tensor] : expert_groups(job, layout, options.expert)) {
    layout.expert = expert;
    layout.expert_tensor = expert_tensor;
    for (const int micro_batch : divisors(sequences, kMostMicroBatch)) {
      if (!wanted(micro_batch, options.micro_batch)) continue;
      layout.micro_batch = micro_batch;
      for (const auto& [schedule, stages] :
           schedules(job, layout.pipeline, sequences / micro_batch, options.all_schedules)) {
        layout.schedule = schedule;
        layout.virtual_stages = stages;
        for (const model::Recompute recompute : ways) {
          layout.recompute = recompute;
          layout.sharding = Sharding::optimizer;
          visit(layout);
          if (layout.pipeline > 1 || layout.data * layout.context == 1) continue;
          layout.sharding = Sharding::parameters;
          visit(layout);
        }
      }
    }
  }
}

}  // namespace isleway::plan
