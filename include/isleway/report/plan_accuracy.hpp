// How far plans are from measured runs, as a page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "isleway/plan.hpp"
#include "isleway/plan/layout_rank.hpp"

namespace isleway::report {

/// Everything that docs/accuracy-plan.md tells.
struct PlanAccuracy {
  std::span<const plan::RunSource> sources;
  std::vector<plan::TrainScore> training;
  /// By source: its errors with constants refitted without it; empty: not asked for.
  std::vector<plan::SourceErrors> left_out;
  std::vector<plan::ServeScore> serving;
  std::vector<plan::OrderScore> orders;
  std::vector<plan::LayoutRank> ranks;  ///< empty: not asked for
  std::vector<plan::GemmFitError> gemm;
};

/// Markdown.
std::string plan_accuracy_page(const PlanAccuracy& accuracy);
/// One line a run, for whoever looks into an error: predicted and measured, tab-separated.
std::string plan_accuracy_runs(const PlanAccuracy& accuracy);

}  // namespace isleway::report
