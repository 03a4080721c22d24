#include "isleway/model/parameters.hpp"

namespace isleway::model {
namespace {

/// Sets `sharded` and `replicated` apart: low-rank inputs are small, and kept by every rank.
void add_queries(const Mixer& mixer, std::int64_t hidden, LayerParameters& count) {
  const std::int64_t width = mixer.q_width() * (mixer.output_gate ? 2 : 1);
  if (mixer.q_rank > 0) {
    count.replicated += hidden * mixer.q_rank;
    count.mixer += mixer.q_rank * width;
  } else {
    count.mixer += hidden * width;
  }
}

void add_output(const Mixer& mixer, std::int64_t hidden, LayerParameters& count) {
  if (mixer.o_rank > 0)
    count.mixer += mixer.out_width() * mixer.o_rank + mixer.o_rank * mixer.o_groups * hidden;
  else count.mixer += mixer.out_width() * hidden;
}

void add_indexer(const Mixer& mixer, std::int64_t hidden, LayerParameters& count) {
  const std::int64_t input = mixer.q_rank > 0 ? mixer.q_rank : hidden;
  count.replicated +=
      input * mixer.index_heads * mixer.index_dim + hidden * (mixer.index_dim + mixer.index_heads);
}

void add_mixer(const Mixer& mixer, std::int64_t hidden, LayerParameters& count) {
  count.replicated += mixer.small_parameters;
  switch (mixer.kind) {
    case MixerKind::none: return;
    case MixerKind::attention:
      add_queries(mixer, hidden, count);
      count.mixer += hidden * mixer.kv_heads *
                     (mixer.head_dim + (mixer.keys_are_values ? 0 : mixer.value_dim));
      add_output(mixer, hidden, count);
      break;
    case MixerKind::latent_attention:
      add_queries(mixer, hidden, count);
      count.replicated += hidden * (mixer.kv_rank + mixer.rope_dim);
      count.mixer +=
          mixer.kv_rank * mixer.heads * (mixer.head_dim - mixer.rope_dim + mixer.value_dim);
      add_output(mixer, hidden, count);
      break;
    case MixerKind::recurrent:
      count.mixer += hidden * (2 * mixer.q_width() + 2 * mixer.groups * mixer.state +
                               mixer.gates * mixer.heads) +
                     mixer.q_width() * hidden;
      return;
  }
  if (mixer.index_heads > 0) add_indexer(mixer, hidden, count);
}

void add_feed_forward(const FeedForward& feed, std::int64_t hidden, LayerParameters& count) {
  count.dense = feed.matrices() * hidden * (feed.dense + feed.shared);
  count.replicated += feed.small_parameters;
  if (feed.experts == 0) return;
  const std::int64_t width = feed.latent > 0 ? feed.latent : hidden;
  if (feed.latent > 0) count.dense += 2 * hidden * feed.latent;
  count.one_expert = feed.matrices() * width * feed.expert + feed.expert_bias;
  count.experts = feed.experts * count.one_expert;
  count.topk = feed.topk;
  count.replicated += hidden * feed.experts;  // the router
}

}  // namespace

LayerParameters parameters(const Layer& layer, std::int64_t hidden) {
  LayerParameters count;
  count.replicated = layer.norm_parameters;
  add_mixer(layer.mixer, hidden, count);
  add_feed_forward(layer.feed_forward, hidden, count);
  return count;
}

ModelParameters parameters(const Transformer& model) {
  ModelParameters count;
  count.embedding = (model.vocabulary + model.position_embeddings) * model.hidden;
  count.head = model.tied ? 0 : model.vocabulary * model.hidden;
  count.other = model.small_parameters;
  for (const std::uint8_t kind : model.order) {
    const LayerParameters layer = parameters(model.kinds[kind], model.hidden);
    count.layers += layer.total();
    count.active_layers += layer.active();
  }
  // Each module joins the hidden state with the next token's embedding first.
  for (const std::uint8_t kind : model.mtp_order)
    count.mtp += parameters(model.kinds[kind], model.hidden).total();
  if (count.mtp > 0) count.mtp += 2 * model.hidden * model.hidden + 3 * model.hidden;
  return count;
}

}  // namespace isleway::model
