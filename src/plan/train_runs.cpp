#include "isleway/plan/train_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fabric/yaml_reader.hpp"

namespace isleway::plan {
namespace {

constexpr const char* kSustained = "train.sustained";
constexpr std::size_t kMostRuns = 10000;

/// Errors of all runs with the constants of `parts`.
Result<std::vector<double>> errors_with(const std::vector<UserRun>& runs, const TrainModel& model,
                                        const Parts& parts) {
  std::vector<double> errors;
  for (const UserRun& run : runs) {
    TrainJob job = model.job();
    if (run.global_batch > 0) job.global_batch = run.global_batch;
    if (run.sequence > 0) job.sequence = run.sequence;
    const TrainModel priced(std::move(job), model.interconnect(), model.compute(), parts,
                            model.capacity());
    const auto estimate = priced.price(run.layout, true);
    if (!estimate) return tl::unexpected(estimate.error());
    errors.push_back(estimate->step.seconds() / run.step.seconds() - 1);
  }
  return errors;
}

double mean_size(const std::vector<double>& errors) {
  double sum = 0;
  for (const double error : errors) sum += std::abs(error);
  return sum / static_cast<double>(errors.size());
}

}  // namespace

Result<std::vector<UserRun>> user_runs_from_yaml(const std::string& text, const std::string& file,
                                                 int ranks) {
  auto parsed = YamlFile::parse(text, file);
  if (!parsed) return tl::unexpected(parsed.error());
  std::vector<UserRun> runs;
  if (!parsed->root().IsSequence() || parsed->root().size() == 0 ||
      parsed->root().size() > kMostRuns)
    return fail("no list of runs", "- {layout: \"tp=8,pp=4\", step: 12.3s}", {}, {file});
  for (std::size_t i = 0; i < parsed->root().size(); ++i) {
    const YAML::Node node = parsed->root()[i];
    YamlMap map(*parsed, node, "a run");
    UserRun run;
    const std::string layout = map.required_text("layout");
    run.step = map.time("step");
    run.global_batch = map.integer("batch", 0, 1, 1 << 30);
    run.sequence = map.integer("sequence", 0, 1, 1 << 30);
    map.finish();
    if (!parsed->ok()) return tl::unexpected(*parsed->error());
    if (run.step <= Time()) parsed->fail(node, "a run without a step time", "step: 12.3s");
    auto read = parse_layout(layout, ranks);
    if (!read) parsed->fail(node, read.error().what, read.error().expected, read.error().hint);
    if (!parsed->ok()) return tl::unexpected(*parsed->error());
    run.layout = *read;
    runs.push_back(run);
  }
  return runs;
}

Result<UserCalibration> calibrate(const std::vector<UserRun>& runs, const TrainModel& model,
                                  Parts& parts) {
  const Constant* constant = parts.constant(kSustained);
  if (constant == nullptr) return fail(fmt::format("there is no constant {}", kSustained));
  Constant changed = *constant;
  auto before = errors_with(runs, model, parts);
  if (!before) return tl::unexpected(before.error());
  UserCalibration result;
  result.errors_before = result.errors_after = *before;
  result.before = result.after = mean_size(*before);
  result.sustained = changed.value;
  const double start = changed.value;
  // The error has one minimum over a speed; steps of a percent are finer than runs repeat.
  for (double value = 0.3; value <= 1.2; value += 0.01) {
    changed.value = value;
    parts.set_constant(kSustained, changed);
    const auto errors = errors_with(runs, model, parts);
    if (!errors) return tl::unexpected(errors.error());
    if (mean_size(*errors) >= result.after) continue;
    result.after = mean_size(*errors);
    result.errors_after = *errors;
    result.sustained = value;
  }
  changed.value = result.sustained;
  if (result.sustained != start) changed.source = "calibrated on the user's runs";
  parts.set_constant(kSustained, changed);
  return result;
}

}  // namespace isleway::plan
