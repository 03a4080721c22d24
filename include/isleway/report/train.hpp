// Layouts of a training job as text, JSON and a page.
#pragma once

#include <string>
#include <vector>

#include "isleway/plan.hpp"
#include "isleway/plan/launch.hpp"
#include "isleway/plan/train_questions.hpp"

namespace isleway::report {

/// Everything that an answer shows.
struct TrainAnswer {
  const plan::TrainModel& model;
  std::string machine;
  plan::SearchResult search;
  std::vector<plan::WhatIf> what_ifs;
  std::vector<plan::TensorStep> tensor_steps;
  std::optional<plan::SmallestFit> smallest;
  double price_per_gpu_hour = 0;  ///< 0: not given
  double run_tokens = 0;          ///< of the whole run; 0: not given
  bool searched = true;           ///< false: one layout was given
};

std::string train_text(const TrainAnswer& answer, bool verbose);
std::string train_json(const TrainAnswer& answer);
std::string train_html(const TrainAnswer& answer);

}  // namespace isleway::report
