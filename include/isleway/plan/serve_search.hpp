// The layouts in which a machine serves a model best.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isleway/plan/serve.hpp"

namespace isleway::plan {

struct ServeGoal {
  double concurrency = 0;  ///< requests at once; 0: as many as serve the goal best
  double rate = 0;         ///< requests a second that must be answered; 0: as many as can be
  double most_ttft = 0, most_tpot = 0;        ///< seconds; 0: no limit
  std::optional<ServeLayout> layout, decode;  ///< only this one
  bool disaggregate = true;                   ///< prefill and decode on GPUs of their own too
};

struct ServePlan {
  /// No other is both faster for a user and cheaper: from the fastest to the cheapest.
  std::vector<ServeEstimate> front;
  /// Every layout at the load that suits the goal best, best first.
  std::vector<ServeEstimate> layouts;
  /// Kinds of layouts that cannot be, and why.
  struct Rejected {
    std::string layout, why;
    int count = 1;  ///< layouts of which that is said
  };
  std::vector<Rejected> rejected;
  std::optional<ServeLayout> smallest;  ///< fewest GPUs that hold the model and a request
  std::size_t tried = 0;
};

/// All layouts that divide, on all GPUs of the machine. Error: none holds the model, with what
/// would; a goal that none meets, with the nearest that one does.
Result<ServePlan> plan_serving(const ServeJob& job, const ServeGoal& goal,
                               const Interconnect& interconnect, const ComputeModel& compute,
                               double gpu_memory);

/// Command lines that start a layout. `model` is what the software downloads.
struct LaunchCommand {
  std::string software, text;
};
std::vector<LaunchCommand> serve_commands(const ServeJob& job, const ServeEstimate& estimate,
                                          const std::string& model);

}  // namespace isleway::plan
