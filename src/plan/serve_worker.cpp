#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isleway/plan/serve.hpp"

namespace isleway::plan {
namespace {

using model::Operation;
using model::Precision;

constexpr double kBf16 = 2;
/// Beside weights and cache: the CUDA context, libraries' workspaces, NCCL's buffers, graphs.
constexpr double kOverheadBytes = 3.5e9;
/// Batches that a prefill's activations are kept for at once: the residual, a layer's widest
/// tensors and their copies.
constexpr double kActivationCopies = 4;

/// Experts of a rank that at least one of `rows` tokens, spread evenly, goes to.
double touched(double local, double rows) {
  return local <= 1 ? local : local * (1 - std::pow(1 - 1 / local, rows));
}

}  // namespace

Result<ServeWorker> ServeWorker::create(const ServeJob& job, const ServeLayout& layout,
                                        const Interconnect& interconnect,
                                        const ComputeModel& compute, double gpu_memory) {
  if (auto error = objection(layout, job.model)) return tl::unexpected(std::move(*error));
  if (layout.gpus() > interconnect.ranks())
    return fail(fmt::format("{} takes {} GPUs, the machine has {}", short_text(layout),
                            layout.gpus(), interconnect.ranks()),
                fmt::format("tp x dp x pp x workers of at most {}", interconnect.ranks()));
  ServeWorker worker(job, layout, compute);
  if (auto done = worker.connect(interconnect); !done) return tl::unexpected(done.error());
  worker.reckon_memory(gpu_memory);
  return worker;
}

Result<void> ServeWorker::connect(const Interconnect& interconnect) {
  const auto take = [&](Collective collective, GroupShape shape,
                        const CostCurve*& into) -> Result<void> {
    const auto curve = interconnect.curve(collective, shape);
    if (!curve) return tl::unexpected(curve.error());
    into = *curve;
    bottleneck_ = into->bottleneck;
    tier_ = into->tier;
    return {};
  };
  const int tensor = layout_.tensor, stage = layout_.stage_gpus();
  Result<void> done;
  if (done && layout_.pipeline > 1) done = take(Collective::sendrecv, {{2, 1}, {stage, 1}}, stage_);
  if (done && tensor > 1) done = take(Collective::all_reduce, {{tensor, 1}, {1, 1}}, all_reduce_);
  if (done && job_->model.has_experts() && layout_.data > 1)
    done = take(layout_.expert > 1 ? Collective::all_to_all : Collective::all_gather,
                {{stage, 1}, {1, 1}}, exchange_);
  return done;
}

void ServeWorker::reckon_memory(double gpu_memory) {
  const auto& model = job_->model;
  const double weight = model::bytes_per_element(job_->precision);
  const double tensor = layout_.tensor;
  double sharded = 0, experts = 0, replicated = 0;
  for (const std::uint8_t kind : model.order) {
    const auto p = model::parameters(model.kinds[kind], model.hidden);
    sharded += double(p.sharded());
    // Where EP does not divide them, some experts stand on two ranks (as EPLB's spare slots).
    const double all = double(std::max<std::int64_t>(1, model.kinds[kind].feed_forward.experts));
    experts += double(p.experts) * std::ceil(all / layout_.expert) * layout_.expert / all;
    replicated += double(p.replicated);
  }
  const auto all = model::parameters(model);
  memory_.capacity = gpu_memory;
  // Embeddings and head stay in bf16, as quantised checkpoints leave them.
  memory_.weights =
      weight * (sharded / tensor + experts / layout_.stage_gpus()) / layout_.pipeline +
      kBf16 * (replicated / layout_.pipeline + double(all.embedding + all.head) / tensor);
  double widest = double(model.hidden);
  for (const model::Layer& layer : model.kinds)
    widest = std::max(widest, double(layer.feed_forward.dense + layer.feed_forward.shared +
                                     layer.feed_forward.topk * layer.feed_forward.expert) /
                                  tensor);
  memory_.activations = kActivationCopies * kBf16 * job_->chunk * (double(model.hidden) + widest);
  memory_.overhead = kOverheadBytes;
  memory_.sequence = model::kv_bytes(model, job_->input + job_->output, layout_.tensor,
                                     model::bytes_per_element(job_->kv_precision)) /
                     layout_.pipeline;
  memory_.cache = std::max(0.0, gpu_memory * job_->memory_share - memory_.weights -
                                    memory_.activations - memory_.overhead);
}

void ServeWorker::add_layer(const model::Layer& layer, double layers, double sequences,
                            double context, double prefill, double seen, StepTime& time) const {
  const ServeSoftware& software = job_->software;
  const double tokens = sequences + prefill;
  model::Shard shard;
  shard.tensor = layout_.tensor;
  shard.expert = layout_.expert;
  shard.expert_tensor = layout_.expert_tensor();
  shard.sequence = false;
  model::Work work;
  work.tokens = std::max<std::int64_t>(1, std::llround(tokens));
  work.sequences = work.tokens;
  work.imbalance = job_->imbalance;
  const double launch = software.launch;

  for (const Operation& op : model::operations(layer, job_->model.hidden, shard, work)) {
    switch (op.kind) {
      case Operation::Kind::gemm: {
        Gemm shape{op.m, op.n, op.k, op.count};
        if (op.expert) {
          const double rows = model::expert_rows(layer.feed_forward, shard, work);
          const double used = std::max(1.0, touched(double(op.count), rows));
          shape.count = std::llround(used);
          shape.m = std::max<std::int64_t>(1, std::llround(rows / used));
        }
        const double seconds = compute_->gemm(shape, job_->precision).seconds();
        const double idle = compute_->constants(job_->precision).launch * 1e-6 * (1 - launch);
        time.gemm += layers * std::max(0.0, seconds - idle);
        break;
      }
      case Operation::Kind::attention: break;  // below: two kinds of sequences
      case Operation::Kind::recurrence:
        time.attention += layers * compute_->operation(op, job_->precision).seconds() * launch;
        break;
      case Operation::Kind::memory:
        // Norms, activations and permutations are fused with what stands beside them.
        time.other += layers * (compute_->memory(Bytes(std::llround(op.elements * kBf16))) -
                                compute_->memory(Bytes(0)))
                                   .seconds();
        time.other += layers * compute_->memory(Bytes(0)).seconds() * launch;
        break;
    }
  }

  const model::Mixer& mixer = layer.mixer;
  const double kv_element = model::bytes_per_element(job_->kv_precision);
  const double kv = model::kv_bytes_per_token(mixer, layout_.tensor, kv_element);
  if (mixer.kind == model::MixerKind::attention ||
      mixer.kind == model::MixerKind::latent_attention) {
    const double heads = std::ceil(double(mixer.heads) / layout_.tensor);
    // Latent keys are not widened when a single query looks at them.
    const double width = mixer.kind == model::MixerKind::latent_attention
                             ? double(2 * mixer.kv_rank + mixer.rope_dim)
                             : double(mixer.head_dim + mixer.value_dim);
    if (sequences > 0) {
      work.context = context;
      work.spread = false;
      const double visible = model::seen(mixer, work);
      const double flops = 2 * sequences * visible * heads * width;
      const double bytes = sequences * visible * kv;
      const Attention decode{flops, Bytes(std::llround(bytes)), context, double(mixer.value_dim)};
      time.attention += layers * compute_->attention(decode).seconds();
    }
    if (prefill > 0) {
      work.context = seen;
      work.spread = true;
      const double visible = model::seen(mixer, work);
      const double wide = double(mixer.head_dim + mixer.value_dim);
      const double flops = 2 * prefill * visible * heads * wide;
      const double bytes = 2 * prefill * heads * wide * kBf16;
      const Attention chunk{flops, Bytes(std::llround(bytes)), visible, wide / 2};
      time.attention += layers * compute_->attention(chunk).seconds();
    }
  } else if (mixer.kind == model::MixerKind::recurrent) {
    const double state = model::state_bytes_per_sequence(mixer, layout_.tensor);
    time.attention +=
        layers * compute_->memory(Bytes(std::llround(2 * sequences * state))).seconds() * launch;
  }

  const double hidden = double(job_->model.hidden);
  const bool has_experts = layer.feed_forward.experts > 0;
  if (all_reduce_ != nullptr) {
    const double calls = (mixer.kind == model::MixerKind::none ? 0.0 : 1.0) +
                         (layer.feed_forward.empty() ? 0.0 : 1.0);
    const bool near = all_reduce_->hosts == 1 || all_reduce_->tier == LinkKind::nvlink;
    const double bytes = tokens * hidden * kBf16;
    const double floor = all_reduce_->floor * (near ? software.all_reduce : 1);
    time.tensor +=
        layers * calls * std::max(floor, all_reduce_->seconds(bytes) - all_reduce_->floor + floor);
  }
  if (exchange_ != nullptr && has_experts) {
    // To the experts in the weights' precision, back in bf16. Without EP every rank gathers all
    // tokens, and the sums are scattered.
    const double there = std::min(kBf16, model::bytes_per_element(job_->precision));
    const double each = tokens * (layout_.expert > 1 ? copies(layer.feed_forward) / layout_.tensor
                                                     : double(layout_.data));
    const double floor = exchange_->floor;
    const bool near = exchange_->tier == LinkKind::nvlink;
    for (const double element : {there, kBf16}) {
      const double seconds = exchange_->seconds(each * hidden * element * job_->imbalance);
      time.experts += layers * (seconds - floor + floor * (near ? software.all_reduce : 1));
    }
  }
}

/// Ranks that a token is sent to. Over a network it crosses to each host once, and is handed on
/// there (node-limited dispatch, as DeepEP and its like do).
double ServeWorker::copies(const model::FeedForward& feed) const {
  const auto ends =
      double(exchange_->tier == LinkKind::network ? exchange_->hosts : layout_.expert);
  return ends * (1 - std::pow(1 - 1 / ends, double(feed.topk)));
}

StepTime ServeWorker::step(double sequences, double context, double prefill, double seen) const {
  StepTime time;
  const auto& model = job_->model;
  std::vector<double> layers(model.kinds.size(), 0);
  for (const std::uint8_t kind : model.order) ++layers[kind];
  for (std::size_t kind = 0; kind < layers.size(); ++kind)
    if (layers[kind] > 0)
      add_layer(model.kinds[kind], layers[kind], sequences, context, prefill, seen, time);

  // Only the last token of an input needs its logits.
  const double scored = std::max(1.0, sequences + prefill / std::max(1.0, job_->input));
  const Gemm head{std::max<std::int64_t>(1, std::llround(scored)),
                  (model.vocabulary + layout_.tensor - 1) / layout_.tensor, model.hidden};
  time.gemm += compute_->gemm(head, Precision::bf16).seconds();

  if (stage_ != nullptr) {
    // A token passes all stages; each holds a part of the layers, so that their sum above is
    // what one token takes, and sends follow between them.
    time.pipeline += (layout_.pipeline - 1) *
                     stage_->seconds((sequences + prefill) * double(model.hidden) * kBf16);
  }
  time.host = (job_->software.step + job_->software.sequence * sequences) * 1e-6;
  return time;
}

double ServeWorker::prefill_seconds() const {
  const double tokens = std::max(1.0, job_->input * (1 - job_->cached));
  const double before = job_->input - tokens;
  const double chunks = std::ceil(tokens / job_->chunk);
  double seconds = 0;
  for (double chunk = 0; chunk < chunks; ++chunk) {
    const double size = tokens / chunks;
    seconds += step(0, 0, size, before + size * (chunk + 0.5)).total();
  }
  return seconds;
}

}  // namespace isleway::plan
