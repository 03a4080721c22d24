#include "isleway/plan/order_score.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/yaml_reader.hpp"
#include "isleway/core.hpp"

namespace isleway::plan {
namespace {

/// A run of which only the prediction is wanted.
constexpr double kNominalSeconds = 1;

struct RunRef {
  const RunSource* source = nullptr;
  const TrainRun* run = nullptr;
};
RunRef find_run(std::span<const RunSource> sources, const std::string& id) {
  for (const RunSource& source : sources)
    for (const TrainRun& run : source.training)
      if (run.id == id) return {&source, &run};
  return {};
}

double tokens_per_gpu(const TrainRun& run, double seconds) {
  return double(run.batch) * double(run.sequence) / run.platform.gpus / seconds;
}

class OrderReader {
 public:
  OrderReader(YamlFile& file, std::span<const RunSource> sources, TrainScorer& training,
              ServeScorer& serving, const ServeSoftware& software, const Parts& parts)
      : file_(file),
        sources_(sources),
        training_(training),
        serving_(serving),
        software_(software),
        parts_(parts) {}

  OrderScore read(const YAML::Node& node);

 private:
  void by_runs(YamlMap& map, OrderScore& order);
  void by_training(YamlMap& map, OrderScore& order);
  void by_serving(YamlMap& map, OrderScore& order);
  /// Writes the job as a source of its own, so that one reader knows the form of runs.
  std::optional<RunSource> source_of(const YAML::Node& job, const char* list,
                                     const std::string& layout, const char* rest);

  YamlFile& file_;
  std::span<const RunSource> sources_;
  TrainScorer& training_;
  ServeScorer& serving_;
  const ServeSoftware& software_;
  const Parts& parts_;
};

std::optional<RunSource> OrderReader::source_of(const YAML::Node& job, const char* list,
                                                const std::string& layout, const char* rest) {
  YAML::Node run = YAML::Clone(job);
  run["layout"] = layout;
  for (const std::string_view piece : split(rest, ' ')) {
    const auto equals = piece.find('=');
    run[std::string(piece.substr(0, equals))] = std::string(piece.substr(equals + 1));
  }
  YAML::Node document;
  document["source"] = document["url"] = "orders";
  document["framework"] = list == std::string_view("runs") ? "megatron" : software_.name;
  document[list].push_back(run);
  YAML::Emitter text;
  text << document;
  auto source = run_source_from_yaml(text.c_str(), "orders");
  if (source) return std::move(*source);
  file_.fail(job, source.error().what, source.error().expected, source.error().hint);
  return std::nullopt;
}

void OrderReader::by_runs(YamlMap& map, OrderScore& order) {
  const std::vector<std::string> ids = map.texts("runs");
  const YAML::Node at = map.node();
  if (ids.size() != 2) return file_.fail(at, "'runs' takes two runs", "[faster, slower]");
  double predicted[2] = {}, measured[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    const RunRef ref = find_run(sources_, ids[i]);
    if (ref.run == nullptr) return file_.fail(at, fmt::format("no run is called '{}'", ids[i]));
    const TrainScore score = training_.score(*ref.source, *ref.run, parts_);
    if (!score.scored()) return void(order.left_out = score.left_out);
    measured[i] = tokens_per_gpu(*ref.run, ref.run->step.seconds());
    predicted[i] = measured[i] / score.step;
  }
  order.measured = measured[0] / measured[1];
  order.predicted = predicted[0] / predicted[1];
}

void OrderReader::by_training(YamlMap& map, OrderScore& order) {
  const YAML::Node job = map.take("train");
  double seconds[2] = {};
  const std::string layouts[] = {map.required_text("faster"), map.required_text("slower")};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto source = source_of(job, "runs", layouts[i], "id=order step=1s");
    if (!source) return;
    const TrainScore score = training_.score(*source, source->training.front(), parts_);
    if (!score.scored()) return void(order.left_out = score.left_out);
    seconds[i] = score.step * kNominalSeconds;
  }
  order.predicted = seconds[1] / seconds[0];
}

void OrderReader::by_serving(YamlMap& map, OrderScore& order) {
  const YAML::Node job = map.take("serve");
  double rate[2] = {};
  const std::string layouts[] = {map.required_text("faster"), map.required_text("slower")};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto source = source_of(job, "serving", layouts[i], "tokens_per_second=1");
    if (!source) return;
    const ServeScore score = serving_.score(*source, source->serving.front(), software_);
    if (!score.left_out.empty()) return void(order.left_out = score.left_out);
    rate[i] = score.throughput;
  }
  order.predicted = rate[0] / rate[1];
}

OrderScore OrderReader::read(const YAML::Node& node) {
  YamlMap map(file_, node, "a pair");
  OrderScore order;
  order.fact = map.required_text("fact");
  order.source = map.required_text("source");
  order.measured = map.number("ratio", 0, 0, 1e6);
  if (map.has("runs")) by_runs(map, order);
  else if (map.has("train")) by_training(map, order);
  else if (map.has("serve")) by_serving(map, order);
  else file_.fail(node, "a pair without 'runs', 'train' or 'serve'");
  map.finish();
  return order;
}

}  // namespace

Result<std::vector<OrderScore>> score_orders(const std::filesystem::path& path,
                                             std::span<const RunSource> sources,
                                             TrainScorer& training, ServeScorer& serving,
                                             const ServeSoftware& software, const Parts& parts) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto file = YamlFile::parse(*text, path.string());
  if (!file) return tl::unexpected(file.error());
  YamlMap root(*file, file->root(), "the file");
  OrderReader reader(*file, sources, training, serving, software, parts);
  std::vector<OrderScore> orders;
  for (const YAML::Node& pair : root.list("orders")) orders.push_back(reader.read(pair));
  root.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return orders;
}

}  // namespace isleway::plan
