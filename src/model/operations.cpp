#include "isleway/model/operations.hpp"

#include <algorithm>

namespace isleway::model {
namespace {

/// What a scan of recurrent state works on at once (SSD, chunked delta rule).
constexpr double kChunk = 128;

std::int64_t shared_out(std::int64_t whole, std::int64_t ranks) {
  return (whole + ranks - 1) / ranks;
}

/// Collects the kernels of one rank.
class Kernels {
 public:
  Kernels(std::int64_t hidden, const Shard& shard, const Work& work)
      : hidden_(hidden), shard_(shard), work_(work) {}

  void mixer(const Mixer& mixer);
  void feed_forward(const FeedForward& feed);
  std::vector<Operation> take() { return std::move(all_); }

  void gemm(const char* name, std::int64_t m, std::int64_t n, std::int64_t k);
  void memory(const char* name, double elements, int kernels = 1);

 private:
  /// Tokens of what TP does not divide by width but, with sequence parallelism, by tokens.
  double own_tokens() const {
    return static_cast<double>(work_.tokens) /
           static_cast<double>(shard_.sequence ? shard_.tensor : 1);
  }
  double tokens() const { return static_cast<double>(work_.tokens); }
  void norm() { memory("norm and residual", 4 * own_tokens() * static_cast<double>(hidden_)); }
  void queries_keys_values(const Mixer& mixer);
  void attention_core(const Mixer& mixer);
  void recurrence(const Mixer& mixer);
  void dense(const char* up, const char* down, const FeedForward& feed, std::int64_t width);
  void experts(const FeedForward& feed);

  std::int64_t hidden_;
  const Shard& shard_;
  const Work& work_;
  std::vector<Operation> all_;
};

void Kernels::gemm(const char* name, std::int64_t m, std::int64_t n, std::int64_t k) {
  Operation op;
  op.name = name;
  op.m = m;
  op.n = n;
  op.k = k;
  op.weights = static_cast<double>(n) * static_cast<double>(k);
  op.flops = 2 * static_cast<double>(m) * op.weights;
  op.elements = static_cast<double>(m) * static_cast<double>(n + k);
  all_.push_back(op);
}

void Kernels::memory(const char* name, double elements, int kernels) {
  Operation op;
  op.kind = Operation::Kind::memory;
  op.name = name;
  op.elements = elements;
  op.kernels = kernels;
  all_.push_back(op);
}

void Kernels::queries_keys_values(const Mixer& mixer) {
  const std::int64_t t = shard_.tensor;
  const std::int64_t queries = shared_out(mixer.q_width() * (mixer.output_gate ? 2 : 1), t);
  const bool latent = mixer.kind == MixerKind::latent_attention;
  const std::int64_t kv_heads = std::max<std::int64_t>(1, mixer.kv_heads / t);
  const std::int64_t keys =
      kv_heads * (mixer.head_dim + (mixer.keys_are_values ? 0 : mixer.value_dim));
  if (!latent && mixer.q_rank == 0) {
    gemm("qkv", work_.tokens, queries + keys, hidden_);
    return;
  }
  const std::int64_t low = latent ? mixer.kv_rank + mixer.rope_dim : keys;
  gemm("q and kv down", work_.tokens, (mixer.q_rank > 0 ? mixer.q_rank : queries) + low, hidden_);
  memory("low-rank norms", 2 * own_tokens() * static_cast<double>(mixer.q_rank + low));
  if (mixer.q_rank > 0) gemm("q up", work_.tokens, queries, mixer.q_rank);
  if (latent)
    gemm("kv up", work_.tokens,
         shared_out(mixer.heads, t) * (mixer.head_dim - mixer.rope_dim + mixer.value_dim),
         mixer.kv_rank);
}

void Kernels::attention_core(const Mixer& mixer) {
  const double heads = static_cast<double>(shared_out(mixer.heads, shard_.tensor));
  const double widths = static_cast<double>(mixer.head_dim + mixer.value_dim);
  Operation op;
  op.kind = Operation::Kind::attention;
  op.name = "attention";
  op.keys = seen(mixer, work_);
  op.width = widths / 2;
  op.flops = 2 * tokens() * op.keys * heads * widths;
  // Queries, results, keys and values once: what a fused kernel moves.
  op.elements = 2 * tokens() * heads * widths;
  if (mixer.index_heads > 0)
    op.flops +=
        2 * tokens() * work_.context * static_cast<double>(mixer.index_heads * mixer.index_dim);
  all_.push_back(op);
}

void Kernels::recurrence(const Mixer& mixer) {
  const double t = static_cast<double>(shard_.tensor);
  const double inner = static_cast<double>(mixer.q_width()) / t;
  const double state = static_cast<double>(mixer.state);
  memory("convolution", 2 * tokens() * (inner + 2 * static_cast<double>(mixer.groups) * state / t));
  Operation op;
  op.kind = Operation::Kind::recurrence;
  op.name = "scan";
  // State updates and reads, and the quadratic part inside a chunk.
  op.flops = tokens() * inner * (6 * state + 2 * kChunk) + tokens() * 2 * kChunk * state;
  op.elements = 6 * tokens() * inner;
  op.kernels = 4;
  all_.push_back(op);
}

void Kernels::mixer(const Mixer& mixer) {
  if (mixer.kind == MixerKind::none) return;
  norm();
  if (mixer.kind == MixerKind::recurrent) {
    gemm(
        "in projection", work_.tokens,
        shared_out(2 * mixer.q_width() + 2 * mixer.groups * mixer.state + mixer.gates * mixer.heads,
                   shard_.tensor),
        hidden_);
    recurrence(mixer);
    gemm("out projection", work_.tokens, hidden_, shared_out(mixer.q_width(), shard_.tensor));
    return;
  }
  queries_keys_values(mixer);
  memory("rotary embedding",
         2 * tokens() * static_cast<double>(mixer.q_width()) / static_cast<double>(shard_.tensor));
  attention_core(mixer);
  const std::int64_t out = shared_out(mixer.out_width(), shard_.tensor);
  if (mixer.o_rank == 0) {
    gemm("out projection", work_.tokens, hidden_, out);
    return;
  }
  const std::int64_t groups = shared_out(mixer.o_groups, shard_.tensor);
  gemm("out down", work_.tokens * groups, mixer.o_rank, std::max<std::int64_t>(1, out / groups));
  gemm("out up", work_.tokens, hidden_, mixer.o_rank * groups);
}

void Kernels::dense(const char* up, const char* down, const FeedForward& feed, std::int64_t width) {
  const std::int64_t own = shared_out(width, shard_.tensor);
  gemm(up, work_.tokens, own * (feed.gated ? 2 : 1), hidden_);
  memory("activation",
         static_cast<double>(feed.gated ? 3 : 2) * tokens() * static_cast<double>(own));
  gemm(down, work_.tokens, hidden_, own);
}

void Kernels::experts(const FeedForward& feed) {
  const double rows = expert_rows(feed, shard_, work_);
  const std::int64_t local = shared_out(feed.experts, shard_.expert);
  const std::int64_t width = feed.latent > 0 ? feed.latent : hidden_;
  const std::int64_t own = shared_out(feed.expert, shard_.expert_tensor);
  gemm("router", static_cast<std::int64_t>(own_tokens()), feed.experts, hidden_);
  if (feed.latent > 0) gemm("latent down", work_.tokens, feed.latent, hidden_);
  // Sorting tokens by expert before, and adding up what comes back.
  memory("permutation", 4 * rows * static_cast<double>(width), 4);
  const auto grouped = [&](const char* name, std::int64_t n, std::int64_t k) {
    Operation op;
    op.name = name;
    op.expert = true;
    op.count = local;
    op.m = std::max<std::int64_t>(1, static_cast<std::int64_t>(rows / static_cast<double>(local)));
    op.n = n;
    op.k = k;
    op.weights = static_cast<double>(local) * static_cast<double>(n) * static_cast<double>(k);
    op.flops = 2 * rows * static_cast<double>(n) * static_cast<double>(k);
    op.elements = rows * static_cast<double>(n + k);
    all_.push_back(op);
  };
  grouped("experts up", own * (feed.gated ? 2 : 1), width);
  memory("expert activation",
         static_cast<double>(feed.gated ? 3 : 2) * rows * static_cast<double>(own));
  grouped("experts down", width, own);
  if (feed.latent > 0) gemm("latent up", work_.tokens, hidden_, feed.latent);
}

void Kernels::feed_forward(const FeedForward& feed) {
  if (feed.empty()) return;
  norm();
  if (feed.dense > 0) dense("feed-forward up", "feed-forward down", feed, feed.dense);
  if (feed.shared > 0) dense("shared experts up", "shared experts down", feed, feed.shared);
  if (feed.experts > 0) experts(feed);
}

}  // namespace

double expert_rows(const FeedForward& feed, const Shard& shard, const Work& work) {
  return static_cast<double>(work.tokens) / static_cast<double>(shard.tensor) *
         static_cast<double>(shard.expert_tensor * feed.topk) * work.imbalance;
}

double seen(const Mixer& mixer, const Work& work) {
  const double longest = work.spread ? 2 * work.context : work.context;
  double visible = work.context;
  if (mixer.window > 0) {
    const double window = std::min(static_cast<double>(mixer.window), longest);
    // The first queries of a sequence see less than the window.
    visible = work.spread && longest > 0 ? window - window * window / (2 * longest) : window;
  }
  if (mixer.compress > 0) {
    const double entries = work.context / static_cast<double>(mixer.compress);
    const double most = mixer.index_topk > 0 ? static_cast<double>(mixer.index_topk) : entries;
    return visible + std::min(entries, most);
  }
  if (mixer.index_topk > 0) visible = std::min(visible, static_cast<double>(mixer.index_topk));
  return visible;
}

std::vector<Operation> operations(const Layer& layer, std::int64_t hidden, const Shard& shard,
                                  const Work& work) {
  Kernels kernels(hidden, shard, work);
  kernels.mixer(layer.mixer);
  kernels.feed_forward(layer.feed_forward);
  return kernels.take();
}

std::vector<Operation> head_operations(const Transformer& model, const Shard& shard,
                                       const Work& work) {
  Kernels kernels(model.hidden, shard, work);
  const std::int64_t own = shared_out(model.vocabulary, shard.tensor);
  kernels.gemm("vocabulary", work.tokens, own, model.hidden);
  // Softmax and loss go over the logits several times, in 32 bits.
  kernels.memory("loss", 8 * static_cast<double>(work.tokens) * static_cast<double>(own), 4);
  return kernels.take();
}

}  // namespace isleway::model
