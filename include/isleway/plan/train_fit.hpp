// Constants of training from measured runs, and how they hold on runs left out.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "isleway/plan/train_score.hpp"

namespace isleway::plan {

/// The model of step times around the constants it was made with: the logarithm of predicted
/// over measured time, linear in the logarithm of each constant.
class TrainCalibration {
 public:
  /// Scores every run once, and once more for each constant that may move.
  TrainCalibration(std::span<const RunSource> sources, TrainScorer& scorer, const Parts& parts);

  const std::vector<std::string>& constants() const { return names_; }
  /// Logarithms of factors on the constants that make the mean error small; every source
  /// weighs as one, and in it every group. Runs of `left_out` take no part. A constant pays
  /// for leaving its value.
  std::vector<double> improve(const std::string& left_out = {}) const;
  /// Errors of a source's runs under such factors.
  WeightedSummary errors(const std::string& source, const std::vector<double>& log_factors) const;
  double loss(const std::vector<double>& log_factors, const std::string& left_out = {}) const;

 private:
  struct Row {
    std::string source;
    double weight;  ///< of the run within its source
    double log_error;
    std::vector<double> slopes;
  };
  double predicted(const Row& row, const std::vector<double>& log_factors) const;

  std::vector<std::string> names_;
  std::vector<Row> rows_;
  std::map<std::string, double> sources_;  ///< weight of each
};

/// The catalogue's parts with constants multiplied.
Parts with_factors(const Parts& parts, const std::vector<std::string>& names,
                   const std::vector<double>& log_factors);

/// Rounds of linearising and improving, as long as they help. What constants are called, and
/// their values.
struct TrainFit {
  std::map<std::string, double> constants;
  double before = 0, after = 0;
};
TrainFit fit_training(std::span<const RunSource> sources, TrainScorer& scorer, const Parts& parts,
                      int rounds);

}  // namespace isleway::plan
