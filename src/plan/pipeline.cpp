#include "plan/pipeline.hpp"

#include <algorithm>
#include <cmath>

#include "plan/pipeline_run.hpp"

namespace isleway::plan {
namespace {

/// Rounds of `ranks` micro-batches that are gone through before the rest is taken as regular.
constexpr std::int64_t kRounds = 2;

double work_of_rank(const Pipeline& pipeline, int rank) {
  double sum = 0;
  for (std::size_t s = static_cast<std::size_t>(rank); s < pipeline.stages.size();
       s += static_cast<std::size_t>(pipeline.ranks))
    sum += pipeline.stages[s].forward + pipeline.stages[s].backward;
  if (pipeline.schedule != Schedule::dual_pipe) return sum;
  // Half of the micro-batches come the other way.
  const StageTimes& mirrored = pipeline.stages[static_cast<std::size_t>(pipeline.ranks - 1 - rank)];
  return (sum + mirrored.forward + mirrored.backward) / 2;
}

double sending(const Pipeline& pipeline) {
  return pipeline.blocks && pipeline.ranks > 1
             ? 2 * pipeline.hop * static_cast<double>(pipeline.virtual_stages)
             : 0;
}

}  // namespace

double busiest_rank(const Pipeline& pipeline) {
  double most = 0;
  for (int rank = 0; rank < pipeline.ranks; ++rank)
    most = std::max(most, work_of_rank(pipeline, rank));
  return most * static_cast<double>(pipeline.micro_batches);
}

double pipeline_formula(const Pipeline& pipeline) {
  const double ranks = pipeline.ranks;
  double all = 0, weights = 0;
  for (const StageTimes& stage : pipeline.stages) {
    all += stage.forward + stage.backward;
    weights += stage.weight_gradient;
  }
  const double count = static_cast<double>(pipeline.stages.size());
  const double chunk = all / count;
  double bubble = (ranks - 1) * (chunk + 2 * pipeline.hop);
  if (pipeline.schedule == Schedule::zero_bubble)
    bubble = (ranks - 1) * std::max(0.0, chunk - 2 * weights / count + 2 * pipeline.hop);
  if (pipeline.schedule == Schedule::dual_pipe)
    bubble = std::max(0.0, ranks / 2 - 1) *
             std::max(0.0, chunk * 5 / 3 - 3 * weights / count + 2 * pipeline.hop);
  return busiest_rank(pipeline) + bubble +
         static_cast<double>(pipeline.micro_batches) * sending(pipeline);
}

double simulate_pipeline(const Pipeline& pipeline) {
  if (pipeline.ranks == 1) return busiest_rank(pipeline);
  const std::int64_t round = pipeline.ranks;
  const std::int64_t rest = pipeline.micro_batches % round;
  const std::int64_t least = kRounds * round + rest;
  if (pipeline.micro_batches <= least + round) return run_pipeline(pipeline);
  Pipeline shorter = pipeline;
  shorter.micro_batches = least;
  const double first = run_pipeline(shorter);
  shorter.micro_batches = least + round;
  const double second = run_pipeline(shorter);
  return second + (second - first) *
                      static_cast<double>(pipeline.micro_batches - shorter.micro_batches) /
                      static_cast<double>(round);
}

}  // namespace isleway::plan
