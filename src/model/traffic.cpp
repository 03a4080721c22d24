#include "isleway/model/traffic.hpp"

#include <algorithm>

namespace isleway::model {

LayerTraffic traffic(const Layer& layer, std::int64_t hidden, const Shard& shard,
                     const Work& work) {
  LayerTraffic out;
  const double tokens = static_cast<double>(work.tokens);
  const Mixer& mixer = layer.mixer;
  const FeedForward& feed = layer.feed_forward;
  if (shard.tensor > 1) {
    out.tensor = tokens * static_cast<double>(hidden);
    if (mixer.kind != MixerKind::none) ++out.tensor_calls;
    if (feed.dense > 0 || feed.shared > 0) ++out.tensor_calls;
  }
  if (feed.experts > 0 && shard.expert > 1) {
    const double width = static_cast<double>(feed.latent > 0 ? feed.latent : hidden);
    out.experts = tokens / static_cast<double>(shard.tensor) * static_cast<double>(feed.topk) *
                  width * work.imbalance;
  }
  if (mixer.kind == MixerKind::attention || mixer.kind == MixerKind::latent_attention) {
    const double heads =
        std::max(1.0, static_cast<double>(mixer.kv_heads) / static_cast<double>(shard.tensor));
    out.context_results =
        static_cast<double>(mixer.out_width()) / static_cast<double>(shard.tensor);
    out.context = tokens * heads * static_cast<double>(mixer.head_dim + mixer.value_dim);
  }
  return out;
}

}  // namespace isleway::model
