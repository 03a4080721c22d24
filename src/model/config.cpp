#include "isleway/model/config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "isleway/core/text.hpp"
#include "isleway/model/parameters.hpp"
#include "model/config_layers.hpp"

namespace isleway::model {
namespace {

/// Kinds of layers that are alike are kept once.
std::uint8_t kind_of(Transformer& model, ConfigFile& file, Layer layer) {
  const auto it = std::find(model.kinds.begin(), model.kinds.end(), layer);
  if (it != model.kinds.end()) return static_cast<std::uint8_t>(it - model.kinds.begin());
  if (model.kinds.size() == 255)
    file.fail({}, "more than 255 kinds of layers", "the config.json of a language model");
  else model.kinds.push_back(layer);
  return static_cast<std::uint8_t>(model.kinds.size() - 1);
}

/// An architecture that is not known: what its keys suggest.
Family guessed(ConfigFile& file, const std::string& model_type, Notices& notices) {
  Family family;
  const std::string activation =
      to_lower(file.text({"hidden_act", "activation_function", "hidden_activation",
                          "mlp_hidden_act", "ffn_config.ffn_act_fn.name"},
                         "silu"));
  family.gated = activation.find("silu") != std::string::npos ||
                 activation.find("glu") != std::string::npos ||
                 activation.find("swish") != std::string::npos;
  const bool rms = file.has({"rms_norm_eps"}) || family.gated;
  family.norm = rms ? Norm::rms : Norm::layer;
  if (file.flag({"use_qk_norm", "qk_norm", "qk_layernorm"}, false))
    family.qk_norm = QkNorm::per_head;
  file.assume(
      notices,
      fmt::format("model_type \"{}\" is not known: taken to have a {} feed-forward part and "
                  "{} norms, as its keys suggest",
                  model_type, family.gated ? "gated" : "plain", rms ? "RMS" : "layer"));
  return family;
}

std::int64_t positions(ConfigFile& file) {
  return file.integer({"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len",
                       "seq_length", "max_sequence_length", "model_max_length", "seq_len"},
                      0, 0, std::int64_t{1} << 40);
}

std::string weight_precision(ConfigFile& file) {
  const std::string method = to_lower(file.text({"quantization_config.quant_method"}));
  const std::string algorithm = to_lower(file.text({"quantization_config.quant_algo"}));
  if (algorithm.find("nvfp4") != std::string::npos) return "nvfp4";
  if (method == "fp8" || algorithm == "fp8")
    return file.has({"quantization_config.weight_block_size"}) ? "fp8_block" : "fp8_current";
  if (method == "mxfp4") return "mxfp4";
  if (method == "awq" || method == "gptq" || method == "compressed-tensors") return "int4";
  const std::string type = file.text({"torch_dtype", "dtype"}, "bfloat16");
  if (type == "float16") return "fp16";
  return type == "float32" ? "fp32" : "bf16";
}

void add_layers(Transformer& model, ConfigFile& file, const Family& family) {
  const std::vector<LayerPlan> layers = plan_layers(file, family);
  for (std::size_t i = 0; i < layers.size() && file.ok(); ++i)
    model.order.push_back(kind_of(model, file, build_layer(file, family, layers[i], i)));
  for (const LayerPlan& plan : plan_mtp(file, layers)) {
    if (!file.ok()) return;
    model.mtp_order.push_back(kind_of(model, file, build_layer(file, family, plan, layers.size())));
  }
}

/// Sums over layers stay far from what 64 bits hold.
bool plausible(const Transformer& model) {
  double total = 0;
  for (const auto* order : {&model.order, &model.mtp_order})
    for (const std::uint8_t kind : *order)
      total += static_cast<double>(parameters(model.kinds[kind], model.hidden).total());
  return total < 1e15;
}

}  // namespace

Result<Transformer> from_config(const std::string& text, const std::string& file_name,
                                Notices& notices) {
  auto parsed = ConfigFile::parse(text, file_name);
  if (!parsed) return tl::unexpected(parsed.error());
  ConfigFile& file = *parsed;
  if (file.flag({"is_encoder_decoder"}, false))
    return fail("an encoder-decoder model", "a decoder-only language model", {}, {file_name});

  Transformer model;
  model.family = file.text({"model_type"});
  model.name = file.text({"isleway.name", "_name_or_path"});
  model.source = file.text({"isleway.source"});
  const Family* known = find_family(model.family);
  const Family family = known != nullptr ? *known : guessed(file, model.family, notices);
  model.hidden = hidden_size(file);
  model.vocabulary =
      file.required({"vocab_size", "padded_vocab_size", "n_vocab"}, "the size of the vocabulary");
  model.max_positions = positions(file);
  model.tied = file.flag({"tie_word_embeddings"}, family.tied);
  if (family.learned_positions)
    model.position_embeddings = model.max_positions + (model.family == "opt" ? 2 : 0);
  const int norms = family.embedding_norm ? 2 : 1;
  model.small_parameters = norms * (family.norm == Norm::layer ? 2 : 1) * model.hidden;
  model.weights = weight_precision(file);
  add_layers(model, file, family);
  if (!file.ok()) return tl::unexpected(file.error());
  if (model.order.empty()) return fail("no layers", "at least one", {}, {file_name});
  if (!plausible(model))
    return fail("more than 10^15 parameters", "a language model of today", {}, {file_name});
  if (model.name.empty()) {
    const std::filesystem::path path(file_name);
    model.name = path.filename() == "config.json" && path.has_parent_path()
                     ? path.parent_path().filename().string()
                     : path.stem().string();
  }
  return model;
}

}  // namespace isleway::model
