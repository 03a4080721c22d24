#include "fabric/yaml_reader.hpp"
#include "isleway/check/gate.hpp"

namespace isleway::check {
namespace {

constexpr double kMost = 1e15;

Target read_target(YamlFile& file, const YAML::Node& node) {
  YamlMap map(file, node, "a target");
  Target target;
  target.name = map.required_text("name");
  target.measurement = map.required_text("measurement");
  target.subject = map.text("subject");
  if (map.has("bytes")) {
    const std::string bytes = map.text("bytes");
    target.bytes = parse_size(bytes);
    if (target.bytes < 0) file.fail(node, "'bytes' is no size: " + bytes, "8, 1M, 8G");
  }
  if (map.has("at_least")) target.at_least = map.number("at_least", 0, -kMost, kMost);
  if (map.has("at_most")) target.at_most = map.number("at_most", 0, -kMost, kMost);
  if (!target.at_least && !target.at_most)
    file.fail(node, "a target without a limit", "'at_least' or 'at_most'");
  target.usd_per_hour = map.number("usd_per_hour", 0, 0, kMost);
  target.per_GB = map.number("per_GB", 0, 0, kMost);
  if ((target.usd_per_hour > 0) != (target.per_GB > 0))
    file.fail(node, "a cost needs 'usd_per_hour' and 'per_GB'", "both, or neither");
  map.finish();
  return target;
}

}  // namespace

Result<Gate> Gate::from_yaml(const std::string& text, const std::string& name) {
  auto file = YamlFile::parse(text, name);
  if (!file) return tl::unexpected(file.error());
  YamlMap map(*file, file->root(), "the file");
  Gate gate;
  gate.rollout = map.text("rollout");
  gate.roll_back = map.text("roll_back");
  for (const auto& node : map.list("targets")) gate.targets.push_back(read_target(*file, node));
  map.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return gate;
}

}  // namespace isleway::check
