// Training estimates held against measured runs.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isleway/plan/measured_run.hpp"
#include "isleway/plan/train.hpp"

namespace isleway::plan {

struct TrainScore {
  const RunSource* source = nullptr;
  const TrainRun* run = nullptr;
  double step = 0;                     ///< predicted over measured
  std::array<double, kParts> parts{};  ///< what it is made of: these sum to `step`
  double memory = 0;                   ///< the same of the peak; 0 where it is not stated
  /// Time at peak arithmetic over the measured one: the share of the peak that was reached.
  double utilisation = 0;
  std::string left_out;  ///< why there is no prediction

  bool scored() const { return left_out.empty(); }
  /// Runs of one model on one kind of machine, in one precision: they weigh as one.
  std::string group() const;
};

/// Machines and models made once; estimates with other constants reuse them.
class TrainScorer {
 public:
  TrainScorer(const Catalogue& catalogue, const ComputeCatalogue& compute,
              const model::ModelCatalogue& models);
  ~TrainScorer();

  /// `parts` holds the constants of training ("train."). Without `exact`, the pipeline's time
  /// is a formula.
  TrainScore score(const RunSource& source, const TrainRun& run, const Parts& parts,
                   bool exact = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// All runs of all sources, in order.
std::vector<TrainScore> score_training(std::span<const RunSource> sources, TrainScorer& scorer,
                                       const Parts& parts, bool exact = true);

/// Errors of which each has a weight; quantiles are those of the weights.
struct WeightedError {
  double error = 0;  ///< predicted over measured, less one
  double weight = 1;
};
struct WeightedSummary {
  std::size_t count = 0, groups = 0;
  double mean = 0, median = 0, p90 = 0;  ///< of the absolute error
  double bias = 0;
};
WeightedSummary summarise(std::vector<WeightedError> errors);

/// Errors of the model and of one constant efficiency (the median one of the same runs), each
/// group weighing as one.
struct SourceErrors {
  std::string source;
  WeightedSummary model, constant;
};
SourceErrors errors_of(std::string name, std::span<const TrainScore* const> scores);

/// Pairs of layouts of the same job on the same GPUs.
struct PairOrder {
  std::size_t jobs = 0, pairs = 0, right = 0;
  double mean_regret = 0, worst_regret = 0;  ///< of the layout that the model would choose
  std::size_t near_best = 0;                 ///< jobs in which that is within 3% of the best
};
PairOrder order_of(std::span<const TrainScore* const> scores);

}  // namespace isleway::plan
