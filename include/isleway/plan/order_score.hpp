// Pairs of which one is known to be faster.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "isleway/plan/serve_score.hpp"
#include "isleway/plan/train_score.hpp"

namespace isleway::plan {

struct OrderScore {
  std::string fact, source;
  double measured = 0;   ///< how much faster; 0: not stated
  double predicted = 0;  ///< the same by the model; 0: not answered
  std::string left_out;
  bool right() const { return predicted > 1; }
};

/// The pairs of a file such as measurements/orders.yaml. Error: what is wrong in it, a run that
/// no source has.
Result<std::vector<OrderScore>> score_orders(const std::filesystem::path& file,
                                             std::span<const RunSource> sources,
                                             TrainScorer& training, ServeScorer& serving,
                                             const ServeSoftware& software, const Parts& parts);

}  // namespace isleway::plan
