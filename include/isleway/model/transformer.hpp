// What a language model is made of, as far as its cost goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace isleway::model {

/// What lets a token see others.
enum class MixerKind : std::uint8_t {
  none,
  attention,         ///< multi-head, grouped-query, multi-query
  latent_attention,  ///< MLA: keys and values are kept as one low-rank vector
  recurrent          ///< Mamba 2, gated delta net: a state of constant size
};
const char* name_of(MixerKind kind);

/// Sizes are element counts. What a kind does not have is 0.
struct Mixer {
  MixerKind kind = MixerKind::none;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;   ///< of queries and keys; recurrent: of values
  std::int64_t value_dim = 0;  ///< of values; recurrent: as head_dim
  /// Tokens that a query sees at most (a sliding window, a chunk); 0: all before it.
  std::int64_t window = 0;
  bool output_gate = false;  ///< queries come with a gate of the same size
  bool keys_are_values = false;
  std::int64_t q_rank = 0;    ///< MLA: low rank of queries; 0: they are projected directly
  std::int64_t kv_rank = 0;   ///< MLA: of keys and values
  std::int64_t rope_dim = 0;  ///< MLA: the part of head_dim that all heads share
  std::int64_t o_rank = 0;    ///< low rank of the output, for each of o_groups groups of heads
  std::int64_t o_groups = 0;
  std::int64_t index_heads = 0, index_dim = 0;  ///< sparse attention's indexer
  std::int64_t index_topk = 0;                  ///< entries that it picks
  /// Keys are kept for one token in so many, besides those of the window; 0: for all.
  std::int64_t compress = 0;
  std::int64_t groups = 0, state = 0, conv = 0;  ///< recurrent: B and C's groups, state, filter
  std::int64_t gates = 0;                        ///< recurrent: scalars per head and token
  /// Weights that are no matrix: biases, norms of queries and keys, sinks, decay rates.
  std::int64_t small_parameters = 0;

  std::int64_t q_width() const { return heads * head_dim; }
  std::int64_t kv_width() const { return kv_heads * (head_dim + value_dim); }
  /// Of what the output projection takes.
  std::int64_t out_width() const { return heads * value_dim; }
  friend bool operator==(const Mixer&, const Mixer&) = default;
};

/// A layer may have a dense part, experts, or both (shared experts stand beside the routed).
struct FeedForward {
  bool gated = true;             ///< three matrices rather than two
  std::int64_t dense = 0;        ///< width of the dense part
  std::int64_t shared = 0;       ///< width of all shared experts together
  std::int64_t experts = 0;      ///< routed ones
  std::int64_t topk = 0;         ///< of them, that a token goes to
  std::int64_t expert = 0;       ///< width of one
  std::int64_t latent = 0;       ///< width in which the routed experts work; 0: the hidden size
  std::int64_t expert_bias = 0;  ///< small weights of one routed expert
  std::int64_t small_parameters = 0;  ///< biases of the dense part, the router, the gate

  int matrices() const { return gated ? 3 : 2; }
  bool empty() const { return dense == 0 && shared == 0 && experts == 0; }
  friend bool operator==(const FeedForward&, const FeedForward&) = default;
};

struct Layer {
  Mixer mixer;
  FeedForward feed_forward;
  std::int64_t norm_parameters = 0;
  friend bool operator==(const Layer&, const Layer&) = default;
};

/// Any decoder-only transformer or hybrid. Layers that are alike share one entry of `kinds`.
struct Transformer {
  std::string name;
  std::string family;  ///< config.json's model_type
  std::string source;
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_positions = 0;
  std::int64_t position_embeddings = 0;  ///< learned ones; 0 with RoPE, ALiBi
  bool tied = false;                     ///< input and output embeddings are one
  std::int64_t small_parameters = 0;     ///< final norm, a norm behind the embeddings
  std::string weights;                   ///< precision that the weights are published in
  std::vector<Layer> kinds;
  std::vector<std::uint8_t> order;      ///< kind of each layer
  std::vector<std::uint8_t> mtp_order;  ///< of the layers that predict further tokens

  std::int64_t layer_count() const { return static_cast<std::int64_t>(order.size()); }
  const Layer& layer(std::size_t i) const { return kinds[order[i]]; }
  bool has_experts() const;
  /// Of the first layer that has some; 0 for none.
  std::int64_t experts() const;
  const Mixer* first_attention() const;  ///< null when no layer attends
};

}  // namespace isleway::model
