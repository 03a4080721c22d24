// A user's own measured runs, and constants fitted to them.
#pragma once

#include <string>
#include <vector>

#include "isleway/plan/train.hpp"

namespace isleway::plan {

struct UserRun {
  TrainLayout layout;
  std::int64_t global_batch = 0, sequence = 0;  ///< 0: those of the job
  Time step;
};

/// A YAML list: `- {layout: "tp=8,pp=4", step: 12.3s, batch: 128, sequence: 8192}`. Error: what
/// is wrong, at its line.
Result<std::vector<UserRun>> user_runs_from_yaml(const std::string& text, const std::string& file,
                                                 int ranks);

struct UserCalibration {
  double before = 0, after = 0;                     ///< mean of |predicted / measured - 1|
  double sustained = 1;                             ///< the fitted constant
  std::vector<double> errors_before, errors_after;  ///< with their signs, by run
};

/// Fits how fast this cluster's GPUs compute for hours (train.sustained), the one constant that
/// clocks, cooling and software differ in most, and writes it to `parts`. Error: a run that
/// cannot be priced.
Result<UserCalibration> calibrate(const std::vector<UserRun>& runs, const TrainModel& model,
                                  Parts& parts);

}  // namespace isleway::plan
