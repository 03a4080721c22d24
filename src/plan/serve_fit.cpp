#include <fmt/format.h>

#include <array>
#include <cmath>

#include "isleway/plan/serve_score.hpp"
#include "plan/pattern_search.hpp"

namespace isleway::plan {
namespace {

using ServeKnob = Knob<ServeSoftware>;
constexpr std::array kKnobs = {
    ServeKnob{&ServeSoftware::step, 400, 0, 20000},
    ServeKnob{&ServeSoftware::request, 4000, 0, 500000},
    ServeKnob{&ServeSoftware::sequence, 4, 0, 500},
    ServeKnob{&ServeSoftware::launch, 0.2, 0, 1},
    ServeKnob{&ServeSoftware::all_reduce, 0.2, 0.05, 1},
    ServeKnob{&ServeSoftware::arrivals, 0.1, 0, 1},
    ServeKnob{&ServeSoftware::together, 0.3, 0, 1},
};
constexpr int kRounds = 12;
/// A run that is off by more says something about the run.
constexpr double kMostLogError = 1;

double log_error(double ratio) {
  return ratio > 0 ? std::min(kMostLogError, std::abs(std::log(ratio))) : 0;
}

}  // namespace

Result<ServeFit> fit_serving(std::span<const RunSource> sources,
                             const std::map<std::string, ServeSoftware>& software,
                             ServeScorer& scorer, std::size_t every) {
  ServeFit fit;
  for (const auto& [name, start] : software) {
    const auto loss = [&](const ServeSoftware& tried) {
      double sum = 0, count = 0;
      for (const RunSource& source : sources) {
        if (source.framework != name) continue;
        for (std::size_t i = 0; i < source.serving.size(); i += every) {
          const ServeScore score = scorer.score(source, source.serving[i], tried);
          if (!score.left_out.empty()) continue;
          // Time between tokens is what a layout decides; the first token's also depends on how
          // the benchmark sent its requests.
          sum += log_error(score.tpot) + log_error(score.ttft) / 2 + log_error(score.throughput);
          count += 1;
        }
      }
      return count > 0 ? sum / count : 0;
    };
    fit.before += loss(start) / double(software.size());
    fit.software[name] = pattern_search<ServeSoftware>(kKnobs, start, kRounds, loss);
    fit.after += loss(fit.software[name]) / double(software.size());
  }
  return fit;
}

std::string serving_yaml(const ServeFit& fit) {
  std::string text =
      "# What serving software costs beside the model's kernels. Made by\n"
      "# \"isleway accuracy-plan --fit-serving\" from measurements/layouts/serving-*.yaml: do not "
      "edit.\n"
      "# What the constants mean, and how well they do: docs/plan-serving.md.\n"
      "sources:\n"
      "  fit: \"runs of https://github.com/ai-dynamo/aiconfigurator and of TensorRT-LLM's "
      "performance overview\"\n"
      "serving:\n";
  for (const auto& [name, s] : fit.software)
    text += fmt::format(
        "  {}: {{step_us: {:.0f}, request_us: {:.0f}, sequence_us: {:.2f}, launch: {:.3f}, "
        "all_reduce: {:.3f}, arrivals: {:.3f}, together: {:.3f}, source: fit}}\n",
        name, s.step, s.request, s.sequence, s.launch, s.all_reduce, s.arrivals, s.together);
  return text;
}

}  // namespace isleway::plan
