// Serving estimates held against measured runs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isleway/plan/measured_run.hpp"
#include "isleway/plan/serve.hpp"

namespace isleway::plan {

/// predicted over measured; 0 where the run does not state it.
struct ServeScore {
  const RunSource* source = nullptr;
  const ServeRun* run = nullptr;
  double ttft = 0, tpot = 0, throughput = 0;
  /// Output per GPU and second of a roofline with no efficiency at all (weights and cache read
  /// once a step, or the arithmetic of all tokens at peak), over the measured one: one constant
  /// on it is what the model must beat.
  double roofline = 0;
  std::string left_out;
};

/// Makes what estimates need once for every kind of platform and model.
class ServeScorer {
 public:
  ServeScorer(const Catalogue& catalogue, const ComputeCatalogue& compute,
              const model::ModelCatalogue& models);
  ~ServeScorer();

  ServeScore score(const RunSource& source, const ServeRun& run, const ServeSoftware& software);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Names of the constants that fit_serving() moves.
struct ServeFit {
  std::map<std::string, ServeSoftware> software;
  double before = 0, after = 0;  ///< mean |log| of time between tokens and to the first
};
/// The constants of each software on its own runs, one in `every` of them.
Result<ServeFit> fit_serving(std::span<const RunSource> sources,
                             const std::map<std::string, ServeSoftware>& software,
                             ServeScorer& scorer, std::size_t every);
/// machines/compute/serving.yaml.
std::string serving_yaml(const ServeFit& fit);

}  // namespace isleway::plan
