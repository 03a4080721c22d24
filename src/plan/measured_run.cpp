#include "isleway/plan/measured_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fabric/yaml_reader.hpp"
#include "isleway/core.hpp"
#include "isleway/fabric/change.hpp"
#include "isleway/fabric/join.hpp"

namespace isleway::plan {
namespace {

constexpr int kMostGpus = 1 << 20;
constexpr int kMostTokens = 1 << 28;

/// config.json from the same keys in YAML.
std::string config_of(YamlFile& file, const YAML::Node& node, const std::string& name) {
  YamlMap map(file, node, fmt::format("model '{}'", name));
  nlohmann::json config;
  for (const std::string& key : map.keys()) {
    const std::string text = map.required_text(key);
    if (const auto number = parse_int(text)) config[key] = *number;
    else if (text == "true" || text == "false") config[key] = text == "true";
    else config[key] = text;
  }
  return config.dump();
}

class RunReader {
 public:
  RunReader(YamlFile& file, RunSource& source) : file_(file), source_(source) {}

  void read();

 private:
  RunPlatform platform(YamlMap& map);
  model::Precision precision(YamlMap& map);
  void training(const YAML::Node& node);
  void serving(const YAML::Node& node);
  std::optional<ServeLayout> layout(YamlMap& map, const char* key);

  YamlFile& file_;
  RunSource& source_;
};

RunPlatform RunReader::platform(YamlMap& map) {
  RunPlatform platform;
  platform.machine = map.required_text("machine");
  platform.network = map.text("network");
  platform.gpus = map.integer("gpus", 0, 1, kMostGpus);
  platform.gpus_per_unit = map.integer("gpus_per_unit", 0, 1, kMostGpus);
  platform.faults = map.texts("faults");
  return platform;
}

model::Precision RunReader::precision(YamlMap& map) {
  const YAML::Node node = map.require("precision");
  const auto parsed =
      model::parse_precision(node.IsDefined() && node.IsScalar() ? node.Scalar() : "");
  if (parsed) return *parsed;
  file_.fail(node, parsed.error().what, parsed.error().expected, parsed.error().hint);
  return model::Precision::bf16;
}

void RunReader::training(const YAML::Node& node) {
  YamlMap map(file_, node, "a run");
  TrainRun run;
  run.id = map.required_text("id");
  run.model = map.required_text("model");
  run.platform = platform(map);
  run.layout = map.required_text("layout");
  run.framework = map.text("framework", source_.framework);
  run.sequence = map.integer("sequence", 0, 1, kMostTokens);
  run.left_out = map.text("left_out");
  run.batch = map.integer("batch", 0, 1, kMostTokens);
  run.precision = precision(map);
  run.step = map.time("step");
  if (map.has("memory")) run.memory = map.bytes("memory");
  run.release = map.text("release");
  run.note = map.text("note");
  if (const std::string source = map.text("source"); !source.empty())
    run.note += (run.note.empty() ? "" : "; ") + source;
  if (run.step <= Time()) file_.fail(node, fmt::format("run '{}' lacks a 'step'", run.id));
  if (run.batch == 0 && run.left_out.empty())
    file_.fail(node, fmt::format("run '{}' lacks a 'batch'", run.id));
  map.finish();
  source_.training.push_back(std::move(run));
}

std::optional<ServeLayout> RunReader::layout(YamlMap& map, const char* key) {
  const YAML::Node node = map.take(key);
  if (!node.IsDefined()) return std::nullopt;
  const auto parsed = parse_serve_layout(node.IsScalar() ? node.Scalar() : "");
  if (parsed) return *parsed;
  file_.fail(node, parsed.error().what, parsed.error().expected, parsed.error().hint);
  return std::nullopt;
}

void RunReader::serving(const YAML::Node& node) {
  YamlMap map(file_, node, "a run");
  ServeRun run;
  run.model = map.required_text("model");
  run.platform = platform(map);
  const auto first = layout(map, "layout");
  if (first) run.layout = *first;
  else file_.fail(node, "a run lacks 'layout'");
  run.decode = layout(map, "decode");
  run.precision = precision(map);
  run.input = map.integer("input", 0, 1, kMostTokens);
  run.output = map.integer("output", 0, 1, kMostTokens);
  run.cached = map.number("cached", 0, 0, 0.9999);
  run.concurrency = map.integer("concurrency", 0, 1, kMostTokens);
  if (map.has("ttft")) run.ttft = map.time("ttft");
  if (map.has("tpot")) run.tpot = map.time("tpot");
  run.tokens_per_second = map.number("tokens_per_second", 0, 0, 1e12);
  map.text("release");
  if (!run.tpot && run.tokens_per_second <= 0)
    file_.fail(node, "a run without 'tpot' or 'tokens_per_second'");
  map.finish();
  source_.serving.push_back(std::move(run));
}

void RunReader::read() {
  YamlMap root(file_, file_.root(), "the file");
  source_.title = root.required_text("source");
  source_.url = root.required_text("url");
  source_.framework = root.required_text("framework");
  if (const YAML::Node node = root.take("models"); node.IsDefined()) {
    YamlMap models(file_, node, "'models'");
    for (const std::string& name : models.keys())
      source_.models[name] = config_of(file_, models.take(name), name);
  }
  for (const YAML::Node& run : root.optional_list("runs")) training(run);
  for (const YAML::Node& run : root.optional_list("serving")) serving(run);
  root.finish();
}

}  // namespace

Result<RunSource> run_source_from_yaml(const std::string& text, const std::string& name) {
  auto file = YamlFile::parse(text, name);
  if (!file) return tl::unexpected(file.error());
  RunSource source;
  source.id = std::filesystem::path(name).stem().string();
  RunReader(*file, source).read();
  if (!file->ok()) return tl::unexpected(*file->error());
  return source;
}

Result<std::vector<RunSource>> load_run_sources(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  if (error || files.empty())
    return fail(fmt::format("no measured runs in {}", folder.string()), "*.yaml files");
  std::sort(files.begin(), files.end());
  std::vector<RunSource> sources;
  for (const auto& file : files) {
    const auto text = read_file(file);
    if (!text) return tl::unexpected(text.error());
    auto source = run_source_from_yaml(*text, file.string());
    if (!source) return tl::unexpected(source.error());
    sources.push_back(std::move(*source));
  }
  return sources;
}

std::string platform_key(const RunPlatform& p) {
  return fmt::format("{}/{}/{}/{}/{}", p.machine, p.network, p.gpus, p.gpus_per_unit,
                     fmt::join(p.faults, ","));
}

Result<Fabric> fabric_of(const RunPlatform& platform, const Catalogue& catalogue) {
  auto one = catalogue.fabric(platform.machine);
  for (const std::string& fault : platform.faults)
    if (one) one = with_fault(*one, fault);
  if (one && platform.gpus_per_unit > 0) one = with_first_ranks(*one, platform.gpus_per_unit);
  if (!one) return one;
  const int each = static_cast<int>(one->gpu_count());
  const int units = (platform.gpus + each - 1) / each;
  if (units > 1) {
    NetworkPlan plan;
    if (!platform.network.empty()) {
      auto network = catalogue.network(platform.network);
      if (!network) return tl::unexpected(network.error());
      plan = std::move(*network);
    }
    const auto& unit = one->templates()[one->template_of(0)];
    one = Fabric::make(fmt::format("{}*{}", platform.machine, units), {unit},
                       std::vector<std::uint32_t>(static_cast<std::size_t>(units), 0),
                       std::move(plan));
  }
  if (one && platform.gpus < static_cast<int>(one->gpu_count()))
    one = with_first_ranks(*one, platform.gpus);
  return one;
}

Result<model::Transformer> model_of(const RunSource& source, const std::string& name,
                                    const model::ModelCatalogue& catalogue) {
  Notices notices;
  const auto own = source.models.find(name);
  if (own == source.models.end()) return catalogue.find(name, notices);
  return model::from_config(own->second, source.id + "/" + name, notices);
}

}  // namespace isleway::plan
