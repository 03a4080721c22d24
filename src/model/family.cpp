// From the modelling code that each architecture was published with.
#include "model/family.hpp"

#include <algorithm>
#include <array>

#include "isleway/core/text.hpp"

namespace isleway::model {
namespace {

constexpr Family plain(const char* name) { return {name}; }

constexpr Family qkv_biased(const char* name) {
  Family family{name};
  family.qkv_bias = true;
  return family;
}

constexpr Family qk_normed(const char* name, QkNorm norm = QkNorm::per_head) {
  Family family{name};
  family.qk_norm = norm;
  return family;
}

constexpr Family gemma(const char* name, int norms, QkNorm qk_norm) {
  Family family{name};
  family.norms = norms;
  family.qk_norm = qk_norm;
  family.tied = true;
  return family;
}

/// GPT-2 and those after it: plain feed-forward, layer norms, biases in every matrix.
constexpr Family gpt(const char* name, bool tied, bool learned_positions) {
  Family family{name};
  family.gated = false;
  family.qkv_bias = family.out_bias = family.mlp_bias = true;
  family.norm = Norm::layer;
  family.tied = tied;
  family.learned_positions = learned_positions;
  return family;
}

/// Plain feed-forward and layer norms, but no biases in the matrices.
constexpr Family unbiased(const char* name, Norm norm, int norms, bool tied) {
  Family family{name};
  family.gated = false;
  family.norm = norm;
  family.norms = norms;
  family.tied = tied;
  return family;
}

constexpr Family bloom() {
  Family family = gpt("bloom", true, false);
  family.embedding_norm = true;
  return family;
}

constexpr Family gpt_oss() {
  Family family{"gpt_oss"};
  family.qkv_bias = family.out_bias = family.mlp_bias = true;
  return family;
}

constexpr Family dbrx() {
  Family family{"dbrx"};
  family.norm = Norm::layer_without_bias;
  return family;
}

constexpr Family cohere(const char* name) {
  Family family{name};
  family.norm = Norm::layer_without_bias;
  family.norms = 1;
  family.tied = true;
  return family;
}

constexpr Family grok() {
  Family family{"grok-1"};
  family.norms = 4;
  family.tied = true;
  return family;
}

constexpr Family single_norm(const char* name) {
  Family family{name};
  family.gated = false;
  family.norms = 1;
  return family;
}

constexpr std::array kFamilies = {plain("llama"),
                                  plain("mistral"),
                                  plain("mistral3"),
                                  plain("ministral"),
                                  plain("mixtral"),
                                  plain("deepseek"),
                                  plain("deepseek_v2"),
                                  plain("deepseek_v3"),
                                  plain("deepseek_v32"),
                                  plain("deepseek_v4"),
                                  plain("kimi_k2"),
                                  plain("kimi_k25"),
                                  plain("glm_moe_dsa"),
                                  plain("llama4"),
                                  plain("llama4_text"),
                                  plain("phi3"),
                                  plain("phimoe"),
                                  plain("granite"),
                                  plain("granitemoe"),
                                  plain("granitemoehybrid"),
                                  plain("bamba"),
                                  plain("internlm2"),
                                  plain("baichuan"),
                                  plain("yi"),
                                  plain("jamba"),
                                  plain("ernie4_5"),
                                  plain("ernie4_5_moe"),
                                  plain("exaone"),
                                  plain("smollm3"),
                                  plain("seed_oss"),
                                  plain("longcat_flash"),
                                  qkv_biased("qwen2"),
                                  qkv_biased("qwen2_moe"),
                                  qkv_biased("chatglm"),
                                  qkv_biased("glm4_moe"),
                                  qkv_biased("glm"),
                                  qkv_biased("glm4"),
                                  qk_normed("qwen3"),
                                  qk_normed("qwen3_moe"),
                                  qk_normed("qwen3_next"),
                                  qk_normed("qwen3_5"),
                                  qk_normed("qwen3_5_text"),
                                  qk_normed("qwen3_5_moe"),
                                  qk_normed("qwen3_5_moe_text"),
                                  qk_normed("qwen3_vl_text"),
                                  qk_normed("qwen3_vl_moe_text"),
                                  qk_normed("exaone4"),
                                  qk_normed("hunyuan_v1_moe"),
                                  qk_normed("hunyuan_v1_dense"),
                                  qk_normed("minimax_m2", QkNorm::per_layer),
                                  qk_normed("olmo2", QkNorm::per_layer),
                                  qk_normed("olmo3", QkNorm::per_layer),
                                  qk_normed("olmoe", QkNorm::per_layer),
                                  gemma("gemma", 2, QkNorm::none),
                                  gemma("gemma2", 4, QkNorm::none),
                                  gemma("gemma3", 4, QkNorm::per_head),
                                  gemma("gemma3_text", 4, QkNorm::per_head),
                                  gemma("gemma4", 4, QkNorm::per_head),
                                  gemma("gemma4_text", 4, QkNorm::per_head),
                                  gpt("gpt2", true, true),
                                  gpt("gpt2-like", true, true),
                                  gpt("gpt_bigcode", true, true),
                                  gpt("gpt_neo", true, true),
                                  gpt("opt", true, true),
                                  gpt("gpt_neox", false, false),
                                  gpt("gptj", false, false),
                                  gpt("phi", false, false),
                                  gpt("starcoder2", true, false),
                                  bloom(),
                                  gpt_oss(),
                                  dbrx(),
                                  cohere("cohere"),
                                  cohere("cohere2"),
                                  grok(),
                                  single_norm("nemotron_h"),
                                  single_norm("mamba2"),
                                  unbiased("falcon", Norm::layer, 1, true),
                                  unbiased("nemotron", Norm::layer, 2, false),
                                  unbiased("mpt", Norm::layer_without_bias, 2, true)};

}  // namespace

const Family* find_family(std::string_view model_type) {
  const auto it = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& family) {
    return equal_ignoring_case(family.name, model_type);
  });
  return it == kFamilies.end() ? nullptr : &*it;
}

}  // namespace isleway::model
