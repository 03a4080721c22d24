#include "isleway/report/models.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/json.hpp"

namespace isleway::report {
namespace {

constexpr double kBillion = 1e-9;

std::string billions(std::int64_t count) {
  return fmt::format("{:.2f}B", static_cast<double>(count) * kBillion);
}

std::string mixer_text(const model::Mixer& mixer) {
  if (mixer.kind == model::MixerKind::recurrent)
    return fmt::format("recurrent, {} heads of {}, state {}", mixer.heads, mixer.head_dim,
                       mixer.state);
  if (mixer.kind == model::MixerKind::none) return "-";
  std::string text = name_of(mixer.kind);
  if (mixer.kind == model::MixerKind::latent_attention)
    text += fmt::format(", {} heads of {}, rank {}", mixer.heads, mixer.head_dim, mixer.kv_rank);
  else
    text +=
        fmt::format(", {} heads of {}, {} for keys", mixer.heads, mixer.head_dim, mixer.kv_heads);
  if (mixer.window > 0) text += fmt::format(", window {}", mixer.window);
  if (mixer.index_topk > 0) text += fmt::format(", picks {}", mixer.index_topk);
  return text;
}

std::string feed_forward_text(const model::FeedForward& feed) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (feed.dense > 0) add(fmt::format("{} wide", feed.dense));
  if (feed.experts > 0)
    add(fmt::format("{} of {} experts {} wide", feed.topk, feed.experts, feed.expert));
  if (feed.shared > 0) add(fmt::format("shared {} wide", feed.shared));
  if (!feed.empty()) add(feed.gated ? "gated" : "plain");
  return text.empty() ? "-" : text;
}

std::vector<std::size_t> counts_of(const model::Transformer& model) {
  std::vector<std::size_t> counts(model.kinds.size());
  for (const std::uint8_t kind : model.order) ++counts[kind];
  return counts;
}

Json layer_json(const model::Layer& layer, std::size_t count, std::int64_t hidden) {
  const model::LayerParameters weights = model::parameters(layer, hidden);
  Json json;
  json["count"] = count;
  json["mixer"] = name_of(layer.mixer.kind);
  json["heads"] = layer.mixer.heads;
  json["kv_heads"] = layer.mixer.kv_heads;
  json["head_dim"] = layer.mixer.head_dim;
  json["window"] = layer.mixer.window;
  json["dense_width"] = layer.feed_forward.dense;
  json["shared_width"] = layer.feed_forward.shared;
  json["experts"] = layer.feed_forward.experts;
  json["topk"] = layer.feed_forward.topk;
  json["expert_width"] = layer.feed_forward.expert;
  json["gated"] = layer.feed_forward.gated;
  json["parameters"] = weights.total();
  json["active_parameters"] = weights.active();
  return json;
}

}  // namespace

std::string models_text(const model::ModelCatalogue& catalogue) {
  std::size_t width = 0;
  for (const model::ModelEntry& entry : catalogue.entries())
    width = std::max(width, entry.name.size());
  std::string text;
  for (const model::ModelEntry& entry : catalogue.entries())
    text += fmt::format("{:{}}  {}\n", entry.name, width, entry.title);
  return text;
}

std::string models_json(const model::ModelCatalogue& catalogue) {
  Json json;
  json["models"] = Json::array();
  for (const model::ModelEntry& entry : catalogue.entries()) {
    Json one;
    one["name"] = entry.name;
    one["title"] = entry.title;
    one["id"] = text_or_null(entry.id);
    one["aliases"] = entry.aliases;
    one["source"] = entry.source;
    one["published_billions"] = entry.published_total > 0 ? Json(entry.published_total) : Json();
    one["file"] = entry.file.string();
    json["models"].push_back(std::move(one));
  }
  return document(json);
}

std::string model_text(const model::Transformer& model) {
  const model::ModelParameters weights = model::parameters(model);
  std::string text = fmt::format("{}: {} layers, hidden size {}, vocabulary {}{}\n", model.name,
                                 model.layer_count(), model.hidden, model.vocabulary,
                                 model.tied ? ", tied embeddings" : "");
  text += fmt::format("parameters: {} in all, {} for a token", billions(weights.total()),
                      billions(weights.active()));
  if (weights.mtp > 0)
    text += fmt::format(", {} more to predict further tokens", billions(weights.mtp));
  text += "\n\nlayers  attention                                     feed-forward\n";
  const auto counts = counts_of(model);
  for (std::size_t i = 0; i < model.kinds.size(); ++i)
    if (counts[i] > 0)
      text += fmt::format("{:6}  {:44}  {}\n", counts[i], mixer_text(model.kinds[i].mixer),
                          feed_forward_text(model.kinds[i].feed_forward));
  const double sequence = model.max_positions > 0
                              ? std::min<double>(8192, static_cast<double>(model.max_positions))
                              : 8192;
  text += fmt::format("\ntraining FLOP per token at {} tokens: ", sequence);
  for (const auto convention : {model::FlopConvention::full, model::FlopConvention::causal,
                                model::FlopConvention::weights_6n})
    text += fmt::format("{}{:.1f}G ({})", convention == model::FlopConvention::full ? "" : ", ",
                        model::training_flops(model, sequence, convention) * kBillion,
                        name_of(convention));
  text += fmt::format("\nKV cache of {} tokens in 16 bits: {:.1f} MiB\n", sequence,
                      model::kv_bytes(model, sequence, 1, 2) / 1048576);
  return text;
}

std::string model_json(const model::Transformer& model) {
  const model::ModelParameters weights = model::parameters(model);
  Json json;
  json["name"] = model.name;
  json["family"] = model.family;
  json["hidden"] = model.hidden;
  json["vocabulary"] = model.vocabulary;
  json["max_positions"] = model.max_positions;
  json["tied_embeddings"] = model.tied;
  json["weights"] = model.weights;
  json["parameters"] = {{"total", weights.total()},       {"active", weights.active()},
                        {"embedding", weights.embedding}, {"head", weights.head},
                        {"layers", weights.layers},       {"mtp", weights.mtp}};
  json["layers"] = Json::array();
  const auto counts = counts_of(model);
  for (std::size_t i = 0; i < model.kinds.size(); ++i)
    json["layers"].push_back(layer_json(model.kinds[i], counts[i], model.hidden));
  json["training_flop_per_token_at_8192"] = {
      {"full_attention", model::training_flops(model, 8192, model::FlopConvention::full)},
      {"causal_attention", model::training_flops(model, 8192, model::FlopConvention::causal)},
      {"6n", model::training_flops(model, 8192, model::FlopConvention::weights_6n)}};
  json["kv_cache_bytes_of_8192_tokens"] = model::kv_bytes(model, 8192, 1, 2);
  return document(json);
}

}  // namespace isleway::report
