#include "model/config_layers.hpp"

#include <fmt/format.h>

namespace isleway::model {
namespace {

constexpr std::int64_t kMostHeads = 1 << 16;
constexpr std::int64_t kMostExperts = 1 << 14;
constexpr std::int64_t kWidest = 1 << 20;

std::int64_t norm_weights(Norm norm, std::int64_t width) {
  return norm == Norm::layer ? 2 * width : width;
}

std::int64_t head_count(ConfigFile& file) {
  return file.required({"num_attention_heads", "n_head", "n_heads", "num_heads"},
                       "the number of attention heads", kMostHeads);
}

std::int64_t kv_head_count(ConfigFile& file, bool global, std::int64_t heads) {
  if (global && file.has({"num_global_key_value_heads"}))
    return file.integer({"num_global_key_value_heads"}, heads, 1, kMostHeads);
  const std::int64_t one =
      file.flag({"multi_query"}, false) && !file.flag({"new_decoder_architecture"}, false) ? 1
                                                                                           : heads;
  return file.integer({"num_key_value_heads", "num_kv_heads", "attn_config.kv_n_heads", "n_head_kv",
                       "multi_query_group_num", "num_query_groups", "n_kv_heads"},
                      one, 1, kMostHeads);
}

std::int64_t head_width(ConfigFile& file, bool global, std::int64_t heads) {
  if (global && file.has({"global_head_dim"}))
    return file.integer({"global_head_dim"}, 1, 1, kWidest);
  const Names keys = {"head_dim", "attention_head_dim", "kv_channels", "d_kv"};
  if (file.has(keys)) return file.integer(keys, 1, 1, kWidest);
  const std::int64_t hidden = hidden_size(file);
  if (hidden % heads != 0)
    file.fail({"num_attention_heads", "n_head", "n_heads"},
              fmt::format("{} heads do not divide a hidden size of {}", heads, hidden),
              "a key head_dim, or heads that divide");
  return std::max<std::int64_t>(1, hidden / heads);
}

bool qkv_bias(ConfigFile& file, const Family& family) {
  return file.flag(
      {"attention_bias", "qkv_bias", "add_qkv_bias", "use_qkv_bias", "use_bias", "bias"},
      family.qkv_bias);
}

bool out_bias(ConfigFile& file, const Family& family) {
  return file.flag({"attention_bias", "use_bias", "bias"}, family.out_bias);
}

void add_sparse(ConfigFile& file, Mixer& mixer, std::size_t index) {
  const auto ratios = file.integers({"compress_ratios"});
  if (!ratios.empty()) {
    const std::int64_t ratio = index < ratios.size() ? ratios[index] : 0;
    mixer.compress = ratio;
    if (ratio > 0 && ratio <= 8) mixer.index_topk = file.integer({"index_topk"}, 0);
  } else {
    mixer.index_topk = file.integer({"index_topk"}, 0);
  }
  if (mixer.index_topk == 0) return;
  mixer.index_heads = file.integer({"index_n_heads"}, 1, 1, kMostHeads);
  mixer.index_dim = file.integer({"index_head_dim"}, 1, 1, kWidest);
  mixer.small_parameters += 2 * mixer.index_dim;
}

/// DeepSeek's latent attention: head_dim splits into a part with position and one without.
Mixer latent_attention(ConfigFile& file, std::size_t index) {
  Mixer mixer;
  mixer.kind = MixerKind::latent_attention;
  mixer.heads = mixer.kv_heads = head_count(file);
  mixer.q_rank = file.integer({"q_lora_rank"}, 0, 0, kWidest);
  mixer.kv_rank = file.required({"kv_lora_rank"}, "the rank of keys and values", kWidest);
  mixer.rope_dim = file.integer({"qk_rope_head_dim"}, 64, 0, kWidest);
  mixer.head_dim = mixer.rope_dim + file.integer({"qk_nope_head_dim"}, 128, 1, kWidest);
  mixer.value_dim = file.integer({"v_head_dim"}, 128, 1, kWidest);
  mixer.small_parameters = mixer.q_rank + mixer.kv_rank;
  add_sparse(file, mixer, index);
  return mixer;
}

Mixer attention(ConfigFile& file, const Family& family, bool windowed, std::size_t index) {
  if (file.has({"kv_lora_rank"})) return latent_attention(file, index);
  Mixer mixer;
  mixer.kind = MixerKind::attention;
  mixer.heads = head_count(file);
  mixer.kv_heads = kv_head_count(file, !windowed, mixer.heads);
  mixer.head_dim = mixer.value_dim = head_width(file, !windowed, mixer.heads);
  if (mixer.heads % mixer.kv_heads != 0)
    file.fail({"num_key_value_heads", "num_kv_heads"},
              fmt::format("{} heads cannot share {} key-value heads", mixer.heads, mixer.kv_heads),
              "a number of key-value heads that divides the number of heads");
  mixer.output_gate = file.flag({"attn_output_gate"}, false);
  mixer.keys_are_values = !windowed && file.flag({"attention_k_eq_v"}, false);
  if (windowed) mixer.window = file.integer({"attention_chunk_size", "sliding_window"}, 0);
  mixer.q_rank = file.integer({"q_lora_rank"}, 0, 0, kWidest);
  mixer.o_rank = file.integer({"o_lora_rank"}, 0, 0, kWidest);
  mixer.o_groups = mixer.o_rank > 0 ? file.integer({"o_groups"}, 1, 1, kMostHeads) : 0;
  if (mixer.o_rank > 0) mixer.keys_are_values = true;

  const std::int64_t keys = mixer.kv_heads * mixer.head_dim;
  if (qkv_bias(file, family)) mixer.small_parameters += mixer.q_width() + 2 * keys;
  if (out_bias(file, family)) mixer.small_parameters += hidden_size(file);
  if (family.qk_norm == QkNorm::per_head) mixer.small_parameters += 2 * mixer.head_dim;
  if (family.qk_norm == QkNorm::per_layer) mixer.small_parameters += mixer.q_width() + keys;
  if (std::string_view(family.name) == "gpt_oss") mixer.small_parameters += mixer.heads;  // sinks
  add_sparse(file, mixer, index);
  return mixer;
}

Mixer recurrent(ConfigFile& file) {
  Mixer mixer;
  mixer.kind = MixerKind::recurrent;
  if (file.has({"linear_num_value_heads"})) {  // gated delta net
    mixer.heads = file.integer({"linear_num_value_heads"}, 1, 1, kMostHeads);
    mixer.head_dim = file.integer({"linear_value_head_dim"}, 1, 1, kWidest);
    mixer.groups = file.integer({"linear_num_key_heads"}, 1, 1, kMostHeads);
    mixer.state = file.integer({"linear_key_head_dim"}, 1, 1, kWidest);
    mixer.conv = file.integer({"linear_conv_kernel_dim"}, 4, 1, 64);
    mixer.gates = 2;
  } else {
    const std::int64_t inner =
        hidden_size(file) * file.integer({"mamba_expand", "expand"}, 2, 1, 64);
    mixer.heads =
        file.integer({"mamba_num_heads", "mamba_n_heads", "num_heads"}, inner, 1, kWidest);
    mixer.head_dim = file.integer({"mamba_head_dim", "mamba_d_head"},
                                  std::max<std::int64_t>(1, inner / mixer.heads), 1, kWidest);
    mixer.groups =
        file.integer({"n_groups", "mamba_n_groups", "mamba_num_groups"}, 1, 1, kMostHeads);
    mixer.state = file.integer({"ssm_state_size", "mamba_d_state", "state_size"}, 128, 1, kWidest);
    mixer.conv = file.integer({"conv_kernel", "mamba_d_conv"}, 4, 1, 64);
    mixer.gates = 1;
  }
  mixer.value_dim = mixer.head_dim;
  const std::int64_t filtered = mixer.q_width() + 2 * mixer.groups * mixer.state;
  const bool bias = file.flag({"use_conv_bias", "mamba_conv_bias"}, mixer.gates == 1);
  mixer.small_parameters =
      filtered * (mixer.conv + (bias ? 1 : 0)) +
      (mixer.gates == 1 ? 3 * mixer.heads + mixer.q_width() : 2 * mixer.heads + mixer.head_dim);
  return mixer;
}

std::int64_t dense_width(ConfigFile& file) {
  const std::int64_t hidden = hidden_size(file);
  return file.integer({"intermediate_size_mlp", "intermediate_size", "ffn_dim", "n_inner",
                       "ffn_hidden_size", "ffn_config.ffn_hidden_size"},
                      hidden * file.integer({"expansion_ratio"}, 4, 1, 64), 1, kWidest);
}

std::int64_t shared_width(ConfigFile& file, std::int64_t expert) {
  const Names counts = {"n_shared_experts", "moe_num_shared_experts", "num_shared_experts",
                        "num_shared_expert"};
  if (file.has({"moe_shared_expert_intermediate_size"}))
    return file.integer({"moe_shared_expert_intermediate_size"}, 0, 0, kWidest) *
           file.integer(counts, 1, 0, 1024);
  const Names widths = {"shared_expert_intermediate_size", "shared_intermediate_size"};
  if (file.has(widths)) return file.integer(widths, 0, 0, kWidest);
  if (file.has({"interleave_moe_layer_step"})) return expert;  // Llama 4 has one beside them
  return expert * file.integer(counts, 0, 0, 1024);
}

FeedForward experts(ConfigFile& file, const Family& family) {
  const std::int64_t hidden = hidden_size(file);
  FeedForward feed;
  feed.experts = expert_count(file);
  feed.topk =
      file.integer({"num_experts_per_tok", "experts_per_token", "num_selected_experts",
                    "ffn_config.moe_top_k", "moe_top_k", "moe_topk", "moe_k", "top_k_experts"},
                   1, 1, kMostExperts);
  if (feed.topk > feed.experts)
    file.fail({"num_experts_per_tok"},
              fmt::format("a token goes to {} experts of {}", feed.topk, feed.experts),
              "no more than there are");
  feed.expert = file.integer({"moe_intermediate_size", "ffn_config.ffn_hidden_size",
                              "intermediate_size", "ffn_dim", "n_inner"},
                             4 * hidden, 1, kWidest);
  feed.shared = shared_width(file, feed.expert);
  feed.latent = file.integer({"moe_latent_size"}, 0, 0, kWidest);
  const bool routing_bias = file.text({"topk_method"}) == "noaux_tc" ||
                            file.flag({"use_routing_bias"}, false) || family.mlp_bias;
  feed.small_parameters = routing_bias ? feed.experts : 0;
  if (file.integer({"shared_expert_intermediate_size"}, 0, 0, kWidest) > 0)
    feed.small_parameters += hidden;  // its gate
  if (family.mlp_bias) feed.expert_bias = (feed.matrices() - 1) * feed.expert + hidden;
  if (file.flag({"enable_moe_block"}, false)) feed.dense = dense_width(file);
  return feed;
}

FeedForward feed_forward(ConfigFile& file, const Family& family, bool with_experts) {
  FeedForward feed;
  if (with_experts) {
    feed = experts(file, family);
  } else {
    feed.dense = dense_width(file);
    if (file.flag({"mlp_bias", "use_bias", "bias"}, family.mlp_bias))
      feed.small_parameters = (family.gated ? 2 : 1) * feed.dense + hidden_size(file);
  }
  feed.gated = family.gated;
  return feed;
}

}  // namespace

std::int64_t hidden_size(ConfigFile& file) {
  return file.required({"hidden_size", "n_embd", "d_model", "n_embed", "dim", "model_dim"},
                       "the hidden size", kWidest);
}

std::int64_t expert_count(ConfigFile& file) {
  return file.integer({"n_routed_experts", "num_local_experts", "num_experts",
                       "ffn_config.moe_num_experts", "moe_num_experts"},
                      0, 0, kMostExperts);
}

Layer build_layer(ConfigFile& file, const Family& family, const LayerPlan& plan,
                  std::size_t index) {
  Layer layer;
  const std::int64_t hidden = hidden_size(file);
  if (plan.mixes)
    layer.mixer = plan.mixer == Role::recurrent
                      ? recurrent(file)
                      : attention(file, family, plan.mixer == Role::windowed, index);
  if (plan.feeds)
    layer.feed_forward = feed_forward(file, family, plan.feed_forward == Role::experts);
  int norms = plan.mixes && plan.feeds ? family.norms : 1;
  if (file.flag({"new_decoder_architecture"}, false)) norms = 2;  // Falcon's later models
  layer.norm_parameters = norms * norm_weights(family.norm, hidden);
  return layer;
}

}  // namespace isleway::model
