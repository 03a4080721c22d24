// Schedules of pipelines against what is known of them.
#include "plan/pipeline.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plan/pipeline_run.hpp"

namespace isleway::plan {
namespace {

Pipeline even(Schedule schedule, int ranks, int virtual_stages, std::int64_t micro_batches) {
  Pipeline pipeline;
  pipeline.schedule = schedule;
  pipeline.ranks = ranks;
  pipeline.virtual_stages = virtual_stages;
  pipeline.micro_batches = micro_batches;
  const double share = 1.0 / virtual_stages;
  pipeline.stages.assign(static_cast<std::size_t>(ranks * virtual_stages),
                         {1 * share, 2 * share, 1 * share});
  return pipeline;
}

// Narayanan et al. (2104.04473): bubbles of (p-1)/m and (p-1)/(v m).
TEST(Pipeline, BubblesOfTheLiterature) {
  for (const int p : {2, 4, 8}) {
    EXPECT_NEAR(run_pipeline(even(Schedule::one_f_one_b, p, 1, 4 * p)), (4 * p + p - 1) * 3, 1e-9);
    EXPECT_NEAR(run_pipeline(even(Schedule::interleaved, p, 4, 4 * p)), (4 * p + (p - 1) / 4.0) * 3,
                1e-9);
  }
}

// Qi et al. (2401.10241): with B and W as long as F, ZB-H1 leaves a third of 1F1B's bubble.
TEST(Pipeline, WeightGradientsFillTheBubble) {
  for (const int p : {4, 8}) {
    const double ideal = 4.0 * p * 3;
    const double bubble = run_pipeline(even(Schedule::zero_bubble, p, 1, 4 * p)) - ideal;
    EXPECT_NEAR(bubble, (p - 1) * 1.0, 1e-9);
  }
}

TEST(Pipeline, BothEndsFeedDualPipe) {
  const double one_sided = run_pipeline(even(Schedule::one_f_one_b, 8, 1, 32));
  const double dual = run_pipeline(even(Schedule::dual_pipe, 8, 1, 32));
  EXPECT_LT(dual, one_sided);
  EXPECT_GE(dual, 32 * 3);
}

TEST(Pipeline, HopsDelayTheFirstAndLastMicroBatch) {
  Pipeline pipeline = even(Schedule::one_f_one_b, 4, 1, 4);
  const double without = run_pipeline(pipeline);
  pipeline.hop = 0.1;
  EXPECT_GE(run_pipeline(pipeline), without + 6 * 0.1 - 1e-9);
  const double apart = run_pipeline(pipeline);
  pipeline.blocks = true;
  EXPECT_GT(run_pipeline(pipeline), apart);
}

TEST(Pipeline, ShortenedRunsEndAtTheSameTime) {
  for (const Schedule schedule : {Schedule::one_f_one_b, Schedule::zero_bubble}) {
    Pipeline pipeline = even(schedule, 4, 1, 50);
    pipeline.stages.back().backward = 2.5;  // the loss
    pipeline.hop = 0.05;
    EXPECT_NEAR(simulate_pipeline(pipeline) / run_pipeline(pipeline), 1, 0.002);
  }
}

// Every schedule ends, and no rank does more than there is time for.
RC_GTEST_PROP(Pipeline, EndsAndIsNoFasterThanItsBusiestRank, ()) {
  const auto schedule = *rc::gen::element(Schedule::one_f_one_b, Schedule::interleaved,
                                          Schedule::zero_bubble, Schedule::dual_pipe);
  const int ranks = 2 * *rc::gen::inRange(1, 5);
  const int chunks = schedule == Schedule::interleaved ? *rc::gen::inRange(2, 5) : 1;
  Pipeline pipeline = even(schedule, ranks, chunks, ranks * *rc::gen::inRange(2, 5));
  for (StageTimes& stage : pipeline.stages) {
    stage.forward = *rc::gen::inRange(1, 10);
    stage.backward = stage.forward * 2;
    stage.weight_gradient = stage.forward;
  }
  pipeline.hop = *rc::gen::inRange(0, 3) * 0.1;
  const double time = run_pipeline(pipeline);
  RC_ASSERT(time >= busiest_rank(pipeline) - 1e-9);
  double all = 0;
  for (const StageTimes& stage : pipeline.stages) all += stage.forward + stage.backward;
  RC_ASSERT(time <= (all + 2 * pipeline.hop * static_cast<double>(pipeline.stages.size())) *
                        static_cast<double>(pipeline.micro_batches));
}

}  // namespace
}  // namespace isleway::plan
