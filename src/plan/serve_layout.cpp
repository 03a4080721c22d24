#include "isleway/plan/serve_layout.hpp"

#include <fmt/format.h>

#include "isleway/core.hpp"

namespace isleway::plan {
namespace {

constexpr int kMostRanks = 1 << 16;

struct Key {
  const char* name;
  int ServeLayout::*member;
};
constexpr Key kKeys[] = {{"tp", &ServeLayout::tensor},
                         {"dp", &ServeLayout::data},
                         {"ep", &ServeLayout::expert},
                         {"pp", &ServeLayout::pipeline},
                         {"workers", &ServeLayout::workers}};

/// The divisor of `whole` nearest to `wanted`.
std::int64_t nearest_divisor(std::int64_t whole, std::int64_t wanted) {
  for (std::int64_t off = 0; off < whole; ++off) {
    if (wanted > off && whole % (wanted - off) == 0) return wanted - off;
    if (wanted + off <= whole && whole % (wanted + off) == 0) return wanted + off;
  }
  return 1;
}

}  // namespace

Result<ServeLayout> parse_serve_layout(std::string_view text) {
  ServeLayout layout;
  const std::string expected = "such as tp=8 or tp=1,dp=8,ep=8,workers=2";
  for (const std::string_view piece : split(text, ',')) {
    const auto equals = piece.find('=');
    const std::string name = to_lower(trim(piece.substr(0, equals)));
    if (equals == piece.npos)
      return fail(fmt::format("\"{}\" is no key=value of a layout", piece), expected);
    const auto value = parse_int(trim(piece.substr(equals + 1)));
    if (!value || *value < 1 || *value > kMostRanks)
      return fail(fmt::format("\"{}\" in a layout", piece),
                  fmt::format("a whole number from 1 to {}", kMostRanks));
    bool known = false;
    for (const Key& key : kKeys) {
      if (name != key.name) continue;
      layout.*key.member = static_cast<int>(*value);
      known = true;
    }
    if (!known) {
      std::vector<std::string> names;
      for (const Key& key : kKeys) names.emplace_back(key.name);
      return fail_unknown("key of a layout", name, names);
    }
  }
  return layout;
}

std::string short_text(const ServeLayout& layout) {
  std::string text = fmt::format("tp{}", layout.tensor);
  if (layout.data > 1) text += fmt::format(" dp{}", layout.data);
  if (layout.expert > 1) text += fmt::format(" ep{}", layout.expert);
  if (layout.pipeline > 1) text += fmt::format(" pp{}", layout.pipeline);
  if (layout.workers > 1) text += fmt::format(" x{}", layout.workers);
  return text;
}

std::optional<Error> objection(const ServeLayout& layout, const model::Transformer& model) {
  const model::Mixer* attention = model.first_attention();
  const std::int64_t heads = attention != nullptr ? attention->heads : 0;
  const auto error = [](std::string what, std::string hint) {
    return fail(std::move(what), {}, std::move(hint)).value();
  };
  if (heads > 0 && heads % layout.tensor != 0)
    return error(fmt::format("{} attention heads do not divide by tp={}", heads, layout.tensor),
                 fmt::format("tp={}", nearest_divisor(heads, layout.tensor)));
  if (layout.pipeline > model.layer_count())
    return error(fmt::format("pp={} stages for {} layers", layout.pipeline, model.layer_count()),
                 fmt::format("pp={} at most", model.layer_count()));
  const std::int64_t experts = model.experts();
  if (experts == 0) {
    if (layout.expert > 1)
      return error(fmt::format("ep={} for a model without experts", layout.expert), "ep=1");
    if (layout.data > 1)
      return error(
          fmt::format("dp={} for a model without experts: nothing is shared between its ranks",
                      layout.data),
          fmt::format("workers={}", layout.data * layout.workers));
    return std::nullopt;
  }
  if (layout.stage_gpus() % layout.expert != 0)
    return error(fmt::format("ep={} does not divide the {} GPUs of a stage (tp x dp)",
                             layout.expert, layout.stage_gpus()),
                 fmt::format("ep={}", nearest_divisor(layout.stage_gpus(), layout.expert)));
  if (layout.expert > experts)
    return error(fmt::format("ep={} ranks for {} experts", layout.expert, experts),
                 fmt::format("ep={}", nearest_divisor(layout.stage_gpus(), experts)));
  for (const model::Layer& layer : model.kinds) {
    const std::int64_t width = layer.feed_forward.expert;
    if (width > 0 && width % layout.expert_tensor() != 0)
      return error(fmt::format("experts of width {} do not divide over {} GPUs each (tp x dp / ep)",
                               width, layout.expert_tensor()),
                   fmt::format("ep={}", layout.stage_gpus()));
  }
  return std::nullopt;
}

}  // namespace isleway::plan
