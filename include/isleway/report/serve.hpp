// Serving plans as words, JSON and a page.
#pragma once

#include <string>

#include "isleway/plan/serve_search.hpp"

namespace isleway::report {

/// What a plan is about, for headings.
struct ServeHeading {
  std::string machine, model, model_id;
  int gpus = 0;
  std::string gpu;           ///< title of the (slowest) GPU
  std::string extrapolated;  ///< why its kernels' times are an assumption; may be empty
  double price = 0;          ///< of a GPU-hour; 0: not given
  std::size_t most_rows = 10;
};

std::string serve_text(const ServeHeading& heading, const plan::ServeJob& job,
                       const plan::ServePlan& plan);
/// See docs/json.md.
std::string serve_json(const ServeHeading& heading, const plan::ServeJob& job,
                       const plan::ServePlan& plan);
/// One page without anything outside it.
std::string serve_html(const ServeHeading& heading, const plan::ServeJob& job,
                       const plan::ServePlan& plan);

}  // namespace isleway::report
