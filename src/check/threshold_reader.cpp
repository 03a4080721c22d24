#include "fabric/yaml_reader.hpp"
#include "isleway/check/thresholds.hpp"

namespace isleway::check {

Result<Thresholds> Thresholds::from_yaml(const std::string& text, const std::string& name) {
  auto file = YamlFile::parse(text, name);
  if (!file) return tl::unexpected(file.error());
  YamlMap map(*file, file->root(), "the file");
  Thresholds thresholds;
  for (const auto& node : map.list("thresholds")) {
    YamlMap entry(*file, node, "a threshold");
    Threshold one;
    one.id = entry.required_text("id");
    one.products = entry.texts("product");
    one.measurement = entry.required_text("measurement");
    one.subject = entry.text("subject");
    const std::string from = entry.text("from", "0");
    one.from_bytes = parse_size(from);
    if (one.from_bytes < 0) file->fail(node, "'from' is no size: " + from, "8G");
    one.gpus = entry.integer("gpus", 0, 0, 1'000'000);
    one.least = entry.number("least", 0, 0, 1e12);
    one.source = entry.required_text("source");
    entry.finish();
    thresholds.all.push_back(std::move(one));
  }
  map.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return thresholds;
}

}  // namespace isleway::check
