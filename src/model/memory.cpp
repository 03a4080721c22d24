#include "isleway/model/memory.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "isleway/core/text.hpp"

namespace isleway::model {
namespace {

constexpr std::array<const char*, 5> kNames = {"none", "selective", "pointwise", "alternate",
                                               "full"};
constexpr double kBf16 = 2;

/// Per token of the rank, in 16-bit elements unless said otherwise. Follows the counting of
/// Korthikanti et al. (2205.05198), for gated parts, fewer key heads and RMS norms.
struct Kept {
  double hidden, tensor, sequence;
  Recompute recompute;

  bool cheap_too() const {
    return recompute == Recompute::pointwise || recompute == Recompute::alternate;
  }
  /// Of the matrix multiplies' results.
  double products() const { return recompute == Recompute::alternate ? 0.5 : 1; }
  /// The inputs of a norm and of the matrices behind it; the norm's output is cheap.
  double norm_and_input() const { return kBf16 * hidden / sequence * (cheap_too() ? 1 : 2); }
};

double mixer_bytes(const Mixer& mixer, const Kept& kept, const Work& work, bool fused) {
  if (mixer.kind == MixerKind::none) return 0;
  double bytes = kept.norm_and_input();
  const double q = static_cast<double>(mixer.q_width()) / kept.tensor;
  if (mixer.kind == MixerKind::recurrent) {
    const double inputs = 2 * q + 2 * static_cast<double>(mixer.groups * mixer.state) / kept.tensor;
    return bytes + kBf16 * (kept.cheap_too() ? inputs + q : 2 * inputs + 2 * q);
  }
  const double kv_heads = std::max(1.0, static_cast<double>(mixer.kv_heads) / kept.tensor);
  const double kv = kv_heads * static_cast<double>(mixer.head_dim + mixer.value_dim);
  const double out = static_cast<double>(mixer.out_width()) / kept.tensor;
  const double low_rank = static_cast<double>(
      mixer.q_rank +
      (mixer.kind == MixerKind::latent_attention ? mixer.kv_rank + mixer.rope_dim : 0));
  bytes += kBf16 * (low_rank + out);
  // What latent vectors expand to can be made again from them.
  if (!(kept.cheap_too() && low_rank > 0)) bytes += kBf16 * kept.products() * (q + kv);
  const double heads = static_cast<double>(mixer.heads) / kept.tensor;
  if (fused || kept.recompute != Recompute::none) return bytes + 4 * heads;
  // Scores, their dropout's mask and result: 2 + 1 + 2 bytes for each pair of tokens.
  return bytes + 5 * heads * (work.spread ? 2 * work.context : work.context);
}

double feed_forward_bytes(const FeedForward& feed, const Kept& kept, const Shard& shard,
                          const Work& work) {
  if (feed.empty()) return 0;
  double bytes = kept.norm_and_input();
  const double outputs = feed.gated ? 2 : 1;
  const double kept_widths = kept.products() * outputs + (kept.cheap_too() ? 0 : 1);
  bytes += kBf16 * kept_widths * static_cast<double>(feed.dense + feed.shared) / kept.tensor;
  if (feed.experts == 0 || work.tokens == 0) return bytes;
  const double rows = expert_rows(feed, shard, work) / static_cast<double>(work.tokens);
  const double width = feed.latent > 0 ? static_cast<double>(feed.latent) : kept.hidden;
  const double expert = static_cast<double>(feed.expert) / static_cast<double>(shard.expert_tensor);
  return bytes + kBf16 * rows * (kept_widths * expert + 2 * width) +
         4 * static_cast<double>(feed.experts) / kept.sequence;
}

}  // namespace

const char* name_of(Recompute recompute) { return kNames[static_cast<std::size_t>(recompute)]; }

Result<Recompute> parse_recompute(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (equal_ignoring_case(kNames[i], text)) return static_cast<Recompute>(i);
  return fail_unknown("way to recompute activations", text, {kNames.begin(), kNames.end()});
}

double activation_bytes(const Layer& layer, std::int64_t hidden, const Shard& shard,
                        const Work& work, Recompute recompute, bool fused_attention) {
  const double tensor = static_cast<double>(shard.tensor);
  const Kept kept{static_cast<double>(hidden), tensor, shard.sequence ? tensor : 1, recompute};
  const double tokens = static_cast<double>(work.tokens);
  if (recompute == Recompute::full) return tokens * kBf16 * kept.hidden / kept.sequence;
  return tokens * (mixer_bytes(layer.mixer, kept, work, fused_attention) +
                   feed_forward_bytes(layer.feed_forward, kept, shard, work));
}

double logits_bytes(const Transformer& model, const Shard& shard, const Work& work, double each) {
  const double logits = static_cast<double>(model.vocabulary) / static_cast<double>(shard.tensor);
  return static_cast<double>(work.tokens) *
         (each * logits + 2 * kBf16 * static_cast<double>(model.hidden));
}

double kv_bytes_per_token(const Mixer& mixer, std::int64_t tensor, double bytes_per_element) {
  double elements = 0;
  if (mixer.kind == MixerKind::latent_attention) {
    elements = static_cast<double>(mixer.kv_rank + mixer.rope_dim);
  } else if (mixer.kind == MixerKind::attention) {
    const double heads =
        std::max(1.0, static_cast<double>(mixer.kv_heads) / static_cast<double>(tensor));
    elements =
        heads * static_cast<double>(mixer.head_dim + (mixer.keys_are_values ? 0 : mixer.value_dim));
  }
  return (elements + static_cast<double>(mixer.index_topk > 0 ? mixer.index_dim : 0)) *
         bytes_per_element;
}

double state_bytes_per_sequence(const Mixer& mixer, std::int64_t tensor) {
  if (mixer.kind != MixerKind::recurrent) return 0;
  const double inner = static_cast<double>(mixer.q_width());
  const double state = static_cast<double>(mixer.state);
  const double filter =
      static_cast<double>(mixer.conv) * (inner + 2 * static_cast<double>(mixer.groups) * state);
  return (4 * inner * state + kBf16 * filter) / static_cast<double>(tensor);
}

double kv_bytes(const Transformer& model, double tokens, std::int64_t tensor,
                double bytes_per_element) {
  std::vector<double> of_kind;
  for (const Layer& layer : model.kinds) {
    const Mixer& mixer = layer.mixer;
    double kept = mixer.window > 0 ? std::min(tokens, static_cast<double>(mixer.window)) : tokens;
    if (mixer.compress > 0) kept += tokens / static_cast<double>(mixer.compress);
    of_kind.push_back(kept * kv_bytes_per_token(mixer, tensor, bytes_per_element) +
                      state_bytes_per_sequence(mixer, tensor));
  }
  double bytes = 0;
  for (const std::uint8_t kind : model.order) bytes += of_kind[kind];
  return bytes;
}

}  // namespace isleway::model
