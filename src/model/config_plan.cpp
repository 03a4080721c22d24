// Which layers attend, to how much, and which have experts.
#include <fmt/format.h>

#include <algorithm>

#include "model/config_layers.hpp"

namespace isleway::model {
namespace {

constexpr std::int64_t kMostLayers = 4096;

/// One letter or word of a hybrid's pattern: each layer does one thing.
bool single(std::string_view what, LayerPlan& plan) {
  if (what == "M" || what == "mamba" || what == "mamba2") {
    plan = {true, false, Role::recurrent, {}};
  } else if (what == "*" || what == "attention") {
    plan = {true, false, Role::attention, {}};
  } else if (what == "-" || what == "mlp") {
    plan = {false, true, {}, Role::feed_forward};
  } else if (what == "E" || what == "moe") {
    plan = {false, true, {}, Role::experts};
  } else {
    return false;
  }
  return true;
}

std::vector<LayerPlan> from_words(ConfigFile& file, Names names,
                                  const std::vector<std::string>& words) {
  std::vector<LayerPlan> layers;
  for (const std::string& word : words) {
    LayerPlan plan;
    if (single(word, plan)) layers.push_back(plan);
    else if (word != "|")  // marks a pipeline stage's end
      file.fail(names, fmt::format("\"{}\" is no kind of layer", word),
                "M, *, - or E; mamba, attention, mlp or moe");
  }
  return layers;
}

/// A pattern such as "MEM*E", or a list of words.
std::vector<LayerPlan> from_pattern(ConfigFile& file, Names pattern, Names list) {
  if (const auto words = file.texts(list); !words.empty()) return from_words(file, list, words);
  std::vector<std::string> letters;
  for (const char letter : file.text(pattern)) letters.emplace_back(1, letter);
  return from_words(file, pattern, letters);
}

Role role_of(ConfigFile& file, std::string_view type) {
  if (type == "full_attention" || type == "attention" || type == "global") return Role::attention;
  if (type == "sliding_attention" || type == "chunked_attention" || type == "local")
    return Role::windowed;
  if (type == "linear_attention" || type == "mamba" || type == "mamba2" || type == "recurrent")
    return Role::recurrent;
  file.fail({"layer_types"}, fmt::format("\"{}\" is no kind of layer that is known", type),
            "full_attention, sliding_attention, chunked_attention, linear_attention or mamba");
  return Role::attention;
}

/// Every `stride`-th layer, counted from 1, is of the other kind.
bool at_stride(std::int64_t index, std::int64_t stride) {
  return stride > 0 && (index + 1) % stride == 0;
}

bool windowed(ConfigFile& file, const std::string& family, std::int64_t i) {
  if (file.has({"attention_chunk_size"})) {
    const auto no_rope = file.integers({"no_rope_layers"});
    if (i < static_cast<std::int64_t>(no_rope.size()))
      return no_rope[static_cast<std::size_t>(i)] != 0;
    return !at_stride(i, 4);
  }
  if (file.integer({"sliding_window", "window_size"}, 0) == 0) return false;
  if (!file.flag({"use_sliding_window"}, true)) return false;
  if (file.has({"sliding_window_pattern", "_sliding_window_pattern"}))
    return !at_stride(i, file.integer({"sliding_window_pattern", "_sliding_window_pattern"}, 1));
  if (family.starts_with("gemma3")) return !at_stride(i, 6);
  if (family == "gemma2" || family == "gpt_oss") return i % 2 == 0;
  if (family.starts_with("qwen")) return i >= file.integer({"max_window_layers"}, 0);
  return true;
}

Role mixer_of(ConfigFile& file, const std::string& family, std::int64_t i) {
  if (const std::int64_t every = file.integer({"full_attention_interval"}, 0); every > 0)
    return at_stride(i, every) ? Role::attention : Role::recurrent;
  if (const std::int64_t period = file.integer({"attn_layer_period"}, 0); period > 0)
    return i % period == file.integer({"attn_layer_offset"}, 0) ? Role::attention : Role::recurrent;
  return windowed(file, family, i) ? Role::windowed : Role::attention;
}

bool has_experts(ConfigFile& file, std::int64_t i) {
  if (expert_count(file) == 0) return false;
  if (file.has({"moe_layers"})) {
    const auto layers = file.integers({"moe_layers"});
    if (!layers.empty()) return std::find(layers.begin(), layers.end(), i) != layers.end();
  }
  const auto dense = file.integers({"mlp_only_layers"});
  if (std::find(dense.begin(), dense.end(), i) != dense.end()) return false;
  if (i < file.integer({"first_k_dense_replace", "moe_layer_start_index"}, 0)) return false;
  const auto each = file.integers({"moe_layer_freq"});
  if (i < static_cast<std::int64_t>(each.size())) return each[static_cast<std::size_t>(i)] != 0;
  if (const std::int64_t period = file.integer({"expert_layer_period"}, 0); period > 0)
    return i % period == file.integer({"expert_layer_offset"}, 0);
  if (const std::int64_t every =
          file.integer({"interleave_moe_layer_step", "decoder_sparse_step"}, 1);
      every > 1)
    return at_stride(i, every);
  const std::int64_t every = each.empty() ? file.integer({"moe_layer_freq"}, 1) : 1;
  return every <= 1 || i % every == 0;
}

}  // namespace

std::vector<LayerPlan> plan_layers(ConfigFile& file, const Family& family) {
  std::vector<LayerPlan> layers =
      from_pattern(file, {"hybrid_override_pattern"}, {"layers_block_type"});
  // Nemotron-H's layers do one thing each; other hybrids' words name the mixer only.
  if (!layers.empty()) return layers;
  const std::int64_t count =
      file.required({"num_hidden_layers", "n_layer", "n_layers", "num_layers"},
                    "the number of layers", kMostLayers);
  const auto types = file.texts({"layer_types"});
  const std::string name = file.text({"model_type"});
  for (std::int64_t i = 0; i < count; ++i) {
    LayerPlan plan;
    const auto at = static_cast<std::size_t>(i);
    plan.mixer = at < types.size() ? role_of(file, types[at]) : mixer_of(file, name, i);
    plan.feed_forward = has_experts(file, i) ? Role::experts : Role::feed_forward;
    if (std::string_view(family.name) == "mamba2") plan = {true, false, Role::recurrent, {}};
    layers.push_back(plan);
  }
  return layers;
}

std::vector<LayerPlan> plan_mtp(ConfigFile& file, const std::vector<LayerPlan>& layers) {
  std::int64_t count =
      file.integer({"num_nextn_predict_layers", "mtp_num_hidden_layers"}, 0, 0, 16);
  if (count == 0 && file.flag({"use_mtp"}, false))
    count = file.integer({"num_mtp_modules"}, 1, 0, 16) *
            file.integer({"mtp_transformer_layers"}, 1, 0, 16);
  if (count == 0 || layers.empty()) return {};
  std::vector<LayerPlan> module =
      from_pattern(file, {"mtp_hybrid_override_pattern"}, {"mtp_layers_block_type"});
  if (module.empty()) {
    // As the last full layer: a hybrid's module attends even where most layers do not.
    const auto last = std::find_if(layers.rbegin(), layers.rend(), [](const LayerPlan& plan) {
      return plan.mixer != Role::recurrent || !plan.mixes;
    });
    module = {last == layers.rend() ? layers.back() : *last};
  }
  std::vector<LayerPlan> all;
  for (std::int64_t i = 0; i < count; ++i) all.insert(all.end(), module.begin(), module.end());
  return all;
}

}  // namespace isleway::model
