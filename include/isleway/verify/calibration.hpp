// Timing constants from measured tables, and how well they hold on tables left out.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "isleway/verify/accuracy.hpp"

namespace isleway::verify {

/// Factors by constant ("nccl.kernel" -> 1.07); constants that are not named stay.
using Factors = std::map<std::string, double>;

/// The parts with those constants multiplied.
Parts with_factors(const Parts& parts, const Factors& factors);

/// Finds constants under which the logarithm of predicted over measured time is small in the
/// sum of absolute values, every table weighing by the square root of its rows. A constant
/// pays for leaving its value, so that one which the tables say nothing about stays.
///
/// The model is linearised around its constants (one evaluation a constant), and solved by
/// iteratively reweighted least squares; `rounds` of that.
class Calibration {
 public:
  /// Tables without a model (left out, or not answered) take no part.
  /// A constant whose name holds one of `held` stays as it is.
  Calibration(std::span<const MeasuredTable> tables, const Catalogue& catalogue,
              const Engine& engine, std::span<const std::string> held = {});

  /// Constants that may move: those whose name starts with "nccl.", but for the held ones.
  const std::vector<std::string>& constants() const { return constants_; }

  /// Those that have a model.
  std::span<const MeasuredTable* const> tables() const { return tables_; }

  /// Improves on `factors` from the tables that `takes_part` admits, after linearise().
  Factors improve(const Factors& factors,
                  const std::function<bool(const MeasuredTable&)>& takes_part) const;

  /// Evaluates the model and its slopes at `factors`, where improve() starts. Error: a table
  /// that cannot be compared.
  Result<void> linearise(const Factors& factors);

  /// What improve() makes smaller: the mean of |log(predicted / measured)| of the tables, each
  /// weighing by the square root of its rows.
  static double loss(std::span<const ComparedTable> tables);

  /// Rounds of linearise() and improve() over the tables that calibrate, as long as they help.
  Result<Factors> fit(int rounds);

  /// The tables that `wanted` admits, under `factors`.
  std::vector<ComparedTable> compare(
      const Factors& factors, const std::function<bool(const MeasuredTable&)>& wanted = calibrates);

 private:
  struct Slope {
    std::size_t constant;
    double value;  ///< of log time by log constant
  };
  struct Row {
    double log_error;  ///< log of predicted over measured
    std::vector<Slope> slopes;
  };

  const Catalogue& catalogue_;
  const Engine& engine_;
  std::vector<const MeasuredTable*> tables_;
  std::vector<TableModel> models_;
  std::vector<std::vector<ComparedRow>> latest_;  ///< of each model, with its present constants
  std::vector<std::string> constants_;
  std::vector<std::vector<Row>> lines_;  ///< of each table
};

}  // namespace isleway::verify
