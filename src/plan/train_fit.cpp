#include "isleway/plan/train_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace isleway::plan {
namespace {

constexpr double kProbe = 0.05;
/// No constant moves further at once: the model is only piecewise linear.
constexpr double kLongestStep = 0.4;
constexpr double kMostLogError = 1;
/// What leaving a value by a factor e costs, in mean error.
constexpr double kStiffness = 0.01;
constexpr int kSearchRounds = 40;

/// Constants of a step's time; those of memory are found from memory, and what a cluster is over
/// others from its own runs.
bool is_of_time(const std::string& name) {
  return name.starts_with("train.") && name != "train.fragmentation" && name != "train.context" &&
         name != "train.sustained";
}

bool is_share(const Constant& constant) { return constant.unit == "ratio"; }

}  // namespace

Parts with_factors(const Parts& parts, const std::vector<std::string>& names,
                   const std::vector<double>& log_factors) {
  Parts changed = parts;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const Constant* constant = parts.constant(names[i])) {
      Constant scaled = *constant;
      scaled.value *= std::exp(log_factors[i]);
      // A share of more than the whole would be no share; launches are counts.
      if (is_share(scaled) && names[i] != "train.launches" && names[i] != "train.pointwise")
        scaled.value = std::min(scaled.value, 1.0);
      changed.set_constant(names[i], scaled);
    }
  return changed;
}

TrainCalibration::TrainCalibration(std::span<const RunSource> sources, TrainScorer& scorer,
                                   const Parts& parts) {
  for (const auto& [name, constant] : parts.constants())
    if (is_of_time(name)) names_.push_back(name);
  const auto base = score_training(sources, scorer, parts, false);
  std::vector<std::vector<TrainScore>> probes;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    std::vector<double> factors(names_.size(), 0);
    factors[i] = -kProbe;  // downwards: a share of one cannot grow
    probes.push_back(score_training(sources, scorer, with_factors(parts, names_, factors), false));
  }
  std::map<std::string, std::size_t> group_size;
  std::map<std::string, std::map<std::string, int>> groups;
  for (const TrainScore& score : base)
    if (score.scored()) {
      ++group_size[score.group()];
      groups[score.source->id][score.group()] = 1;
    }
  for (std::size_t run = 0; run < base.size(); ++run) {
    const TrainScore& score = base[run];
    if (!score.scored() || !(score.step > 0)) continue;
    Row row;
    row.source = score.source->id;
    row.weight = 1.0 / double(group_size[score.group()]) / double(groups[row.source].size());
    row.log_error = std::log(score.step);
    for (const auto& probe : probes)
      row.slopes.push_back(
          probe[run].step > 0 ? (std::log(probe[run].step) - row.log_error) / -kProbe : 0);
    rows_.push_back(std::move(row));
  }
  for (const Row& row : rows_) sources_[row.source] = 1;
}

double TrainCalibration::predicted(const Row& row, const std::vector<double>& log_factors) const {
  return std::inner_product(row.slopes.begin(), row.slopes.end(), log_factors.begin(),
                            row.log_error);
}

double TrainCalibration::loss(const std::vector<double>& log_factors,
                              const std::string& left_out) const {
  double sum = 0;
  for (const Row& row : rows_)
    if (row.source != left_out)
      sum += row.weight * std::min(kMostLogError, std::abs(predicted(row, log_factors)));
  sum /= double(sources_.size() - (sources_.contains(left_out) ? 1 : 0));
  for (const double moved : log_factors) sum += kStiffness * std::abs(moved);
  return sum;
}

std::vector<double> TrainCalibration::improve(const std::string& left_out) const {
  std::vector<double> factors(names_.size(), 0);
  double best = loss(factors, left_out), step = 0.2;
  for (int round = 0; round < kSearchRounds; ++round) {
    bool improved = false;
    for (double& factor : factors)
      for (const double direction : {1.0, -1.0}) {
        const double old = factor;
        factor = std::clamp(old + direction * step, -kLongestStep, kLongestStep);
        const double now = loss(factors, left_out);
        if (now < best) {
          best = now;
          improved = true;
          break;
        }
        factor = old;
      }
    if (!improved) step /= 2;
  }
  return factors;
}

WeightedSummary TrainCalibration::errors(const std::string& source,
                                         const std::vector<double>& log_factors) const {
  std::vector<WeightedError> all;
  for (const Row& row : rows_)
    if (row.source == source)
      all.push_back({std::exp(predicted(row, log_factors)) - 1, row.weight});
  return summarise(std::move(all));
}

TrainFit fit_training(std::span<const RunSource> sources, TrainScorer& scorer, const Parts& parts,
                      int rounds) {
  TrainFit fit;
  Parts now = parts;
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    const TrainCalibration calibration(sources, scorer, now);
    const std::vector<double> still(calibration.constants().size(), 0);
    const double loss = calibration.loss(still);
    if (round == 0) fit.before = loss;
    if (round > 0 && loss >= best) break;
    best = fit.after = loss;
    fit.constants.clear();
    for (const std::string& name : calibration.constants())
      fit.constants[name] = now.constant(name)->value;
    now = with_factors(now, calibration.constants(), calibration.improve());
  }
  return fit;
}

}  // namespace isleway::plan
