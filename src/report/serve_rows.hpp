// What all forms of a serving plan show of an estimate.
#pragma once

#include <string>
#include <vector>

#include "isleway/plan/serve_search.hpp"

namespace isleway::report {

/// "tp8", or "tp4 x2 > tp1 dp8 ep8" for prefill and decode.
std::string layout_text(const plan::ServeEstimate& estimate);
/// Price of a million output tokens.
double dollars_per_million(double price, const plan::ServeEstimate& estimate);

struct StepPart {
  const char* name;
  double seconds;
};
std::vector<StepPart> step_parts(const plan::StepTime& step);

}  // namespace isleway::report
