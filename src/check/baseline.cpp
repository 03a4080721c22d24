#include "isleway/check/baseline.hpp"

#include <nlohmann/json.hpp>

#include "check/node_profile.hpp"

namespace isleway::check {
namespace {
constexpr const char* kSchema = "isleway.baseline/1";
}

Baseline Baseline::of(const formats::Signals& signals, const Profile& profile) {
  Baseline baseline;
  const Facts facts(signals);
  for (const NodeFacts& node : facts.nodes()) {
    auto& saved = baseline.nodes[node.name()];
    for (const ProfileEntry& entry : profile.entries)
      for (const auto& [key, value] : profile_values(node, entry))
        saved[entry.signal][key] = value.text;
  }
  return baseline;
}

std::string Baseline::to_json() const {
  nlohmann::ordered_json json;
  json["schema"] = kSchema;
  json["nodes"] = nodes;
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<Baseline> Baseline::from_json(const std::string& text, const std::string& file) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto wrong = [&](const char* what) {
    return fail(what, "a file that isleway check --save wrote", "", {file});
  };
  if (json.is_discarded()) return wrong("is no JSON");
  if (!json.is_object() || json.value("schema", nlohmann::json()) != kSchema)
    return wrong("holds no saved state");
  Baseline baseline;
  const auto nodes = json.find("nodes");
  if (nodes == json.end() || !nodes->is_object()) return wrong("has no 'nodes'");
  for (const auto& [node, signals] : nodes->items()) {
    if (!signals.is_object()) return wrong("has a node that is no object");
    auto& saved = baseline.nodes[node];
    for (const auto& [signal, values] : signals.items()) {
      if (!values.is_object()) return wrong("has values that are no object");
      for (const auto& [key, value] : values.items()) {
        if (!value.is_string()) return wrong("has a value that is no text");
        saved[signal][key] = value.get<std::string>();
      }
    }
  }
  return baseline;
}

}  // namespace isleway::check
