#include "isleway/plan/train_score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "isleway/core/text.hpp"
#include "isleway/plan/slowest_gpu.hpp"
#include "plan/run_inputs.hpp"

namespace isleway::plan {

struct TrainScorer::State {
  RunInputs inputs;
  const ComputeCatalogue& compute;
};

TrainScorer::TrainScorer(const Catalogue& catalogue, const ComputeCatalogue& compute,
                         const model::ModelCatalogue& models)
    : state_(std::make_unique<State>(State{{catalogue, models}, compute})) {}
TrainScorer::~TrainScorer() = default;

std::string TrainScore::group() const {
  return fmt::format("{}/{}/{}/{}", source->id, run->model, run->platform.machine,
                     model::name_of(run->precision));
}

TrainScore TrainScorer::score(const RunSource& source, const TrainRun& run, const Parts& parts,
                              bool exact) {
  TrainScore score;
  score.source = &source;
  score.run = &run;
  const auto give_up = [&](const Error& error) {
    score.left_out = error.what;
    return score;
  };
  score.left_out = run.left_out;
  if (!score.scored()) return score;
  const auto& transformer = state_->inputs.transformer(source, run.model);
  if (!transformer) return give_up(transformer.error());
  const auto& interconnect = state_->inputs.interconnect(run.platform);
  if (!interconnect) return give_up(interconnect.error());
  const Fabric& fabric = (*interconnect)->fabric();
  const std::string part = fabric.device(fabric.gpu(0)).part;
  const auto compute = state_->compute.gpu(parts, part);
  if (!compute) return give_up(compute.error());
  const auto framework = parse_framework(run.framework);
  if (!framework) return give_up(framework.error());
  const auto layout = parse_layout(run.layout, run.platform.gpus);
  if (!layout) return give_up(layout.error());

  TrainJob job;
  job.model = *transformer;
  job.sequence = run.sequence;
  job.global_batch = run.batch;
  job.precision = run.precision;
  job.framework = *framework;
  const double memory = usable_memory(*parts.gpu(part));
  const TrainModel model(std::move(job), **interconnect, *compute, parts, memory);
  const auto estimate = model.price(*layout, exact);
  if (!estimate) return give_up(estimate.error());
  const double measured = run.step.seconds();
  score.step = estimate->step.seconds() / measured;
  for (std::size_t i = 0; i < kParts; ++i) score.parts[i] = estimate->parts[i].seconds() / measured;
  if (run.memory) score.memory = estimate->needed / double(run.memory->count());
  const double flops =
      model::training_flops(*transformer, double(run.sequence), model::FlopConvention::causal) *
      double(run.sequence) * double(run.batch) / run.platform.gpus;
  score.utilisation = flops / compute->peak_flops(run.precision) / measured;
  return score;
}

namespace {

/// "26.06.01" as numbers, which compare as releases do.
std::vector<std::int64_t> numbers_of(std::string_view release) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view piece : split(release, '.'))
    numbers.push_back(parse_int(piece).value_or(0));
  return numbers;
}

/// A job that was published anew with later releases of its software counts with the latest one:
/// what changed between them is the software, not the layout.
void leave_out_older(std::vector<TrainScore>& scores) {
  const auto job = [](const TrainScore& s) {
    return fmt::format("{}/{}/{}/{}/{}", s.group(), s.run->platform.gpus, s.run->batch,
                       s.run->sequence, s.run->framework);
  };
  std::map<std::string, std::vector<std::int64_t>> newest;
  for (const TrainScore& score : scores)
    if (score.scored()) {
      auto& known = newest[job(score)];
      known = std::max(known, numbers_of(score.run->release));
    }
  for (TrainScore& score : scores)
    if (score.scored() && numbers_of(score.run->release) < newest[job(score)])
      score.left_out = "a later release of the software ran the same job";
}

}  // namespace

std::vector<TrainScore> score_training(std::span<const RunSource> sources, TrainScorer& scorer,
                                       const Parts& parts, bool exact) {
  std::vector<TrainScore> scores;
  for (const RunSource& source : sources)
    for (const TrainRun& run : source.training)
      scores.push_back(scorer.score(source, run, parts, exact));
  leave_out_older(scores);
  return scores;
}

WeightedSummary summarise(std::vector<WeightedError> errors) {
  WeightedSummary summary;
  summary.count = errors.size();
  double total = 0;
  for (WeightedError& e : errors) {
    summary.bias += e.weight * e.error;
    e.error = std::abs(e.error);
    summary.mean += e.weight * e.error;
    total += e.weight;
  }
  if (total <= 0) return summary;
  summary.bias /= total;
  summary.mean /= total;
  std::sort(errors.begin(), errors.end(),
            [](const WeightedError& a, const WeightedError& b) { return a.error < b.error; });
  const auto quantile = [&](double share) {
    double below = 0;
    for (const WeightedError& e : errors) {
      below += e.weight;
      if (below >= share * total) return e.error;
    }
    return errors.back().error;
  };
  summary.median = quantile(0.5);
  summary.p90 = quantile(0.9);
  return summary;
}

SourceErrors errors_of(std::string name, std::span<const TrainScore* const> scores) {
  std::map<std::string, std::size_t> size;
  for (const TrainScore* score : scores) ++size[score->group()];
  std::vector<WeightedError> model, logs, constant;
  for (const TrainScore* score : scores) {
    const double weight = 1.0 / double(size[score->group()]);
    model.push_back({score->step - 1, weight});
    logs.push_back({score->utilisation, weight});
  }
  SourceErrors errors;
  errors.source = std::move(name);
  errors.model = summarise(std::move(model));
  errors.model.groups = size.size();
  // The efficiency that is too high as often as too low.
  const double efficiency = summarise(logs).median;
  for (const WeightedError& e : logs) constant.push_back({e.error / efficiency - 1, e.weight});
  errors.constant = summarise(std::move(constant));
  errors.constant.groups = size.size();
  return errors;
}

PairOrder order_of(std::span<const TrainScore* const> scores) {
  std::map<std::string, std::vector<const TrainScore*>> jobs;
  for (const TrainScore* score : scores)
    jobs[fmt::format("{}/{}/{}/{}", score->group(), score->run->platform.gpus, score->run->batch,
                     score->run->sequence)]
        .push_back(score);
  PairOrder order;
  constexpr double kNearBest = 0.03;
  for (const auto& [job, runs] : jobs) {
    if (runs.size() < 2) continue;
    ++order.jobs;
    const auto measured = [](const TrainScore* s) { return s->run->step.seconds(); };
    const auto predicted = [&](const TrainScore* s) { return s->step * measured(s); };
    for (std::size_t i = 0; i < runs.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        ++order.pairs;
        const bool slower = measured(runs[i]) > measured(runs[j]);
        if (slower == (predicted(runs[i]) > predicted(runs[j]))) ++order.right;
      }
    const auto chosen = *std::min_element(
        runs.begin(), runs.end(), [&](auto a, auto b) { return predicted(a) < predicted(b); });
    const auto best = *std::min_element(runs.begin(), runs.end(),
                                        [&](auto a, auto b) { return measured(a) < measured(b); });
    const double regret = measured(chosen) / measured(best) - 1;
    order.mean_regret += regret;
    order.worst_regret = std::max(order.worst_regret, regret);
    if (regret <= kNearBest) ++order.near_best;
  }
  if (order.jobs > 0) order.mean_regret /= double(order.jobs);
  return order;
}

}  // namespace isleway::plan
