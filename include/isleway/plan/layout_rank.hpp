// Where the search ranks layouts that others chose as the best.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "isleway/plan/train_score.hpp"

namespace isleway::plan {

struct LayoutRank {
  const RunSource* source = nullptr;
  const TrainRun* run = nullptr;
  std::size_t rank = 0;  ///< 1: the search would choose it; 0: not among the best
  double slower = 0;     ///< predicted time of the chosen layout over that of the search's best
  std::string best;      ///< the search's best
  std::string why;       ///< what makes the chosen one slower, or too large
  std::string left_out;
};

/// The runs that a file such as measurements/chosen-layouts.yaml names. A layout is found by its
/// degrees of parallelism; schedules and recomputation are the search's. Error: a file that is
/// wrong, a run that no source has.
Result<std::vector<LayoutRank>> rank_layouts(const std::filesystem::path& file,
                                             std::span<const RunSource> sources,
                                             const Catalogue& catalogue,
                                             const ComputeCatalogue& compute,
                                             const model::ModelCatalogue& models);

}  // namespace isleway::plan
