// Measured runs: the files that come along, and what one may get wrong.
#include <gtest/gtest.h>

#include "isleway/plan.hpp"

namespace isleway::plan {
namespace {

constexpr const char* kHead = "source: s\nurl: u\nframework: megatron\n";

Result<RunSource> read(const std::string& rest) {
  return run_source_from_yaml(kHead + rest, "x.yaml");
}

TEST(MeasuredRuns, AllThatComeAlongAreRead) {
  const auto sources = load_run_sources(ISLEWAY_SOURCE_DIR "/measurements/layouts");
  ASSERT_TRUE(sources) << sources.error().text();
  std::size_t training = 0, serving = 0;
  for (const RunSource& source : *sources) {
    training += source.training.size();
    serving += source.serving.size();
    EXPECT_FALSE(source.url.empty()) << source.id;
  }
  EXPECT_GT(training, 1500u);
  EXPECT_GT(serving, 1500u);
}

TEST(MeasuredRuns, ARunIsTakenAsItStands) {
  const auto source = read(
      "runs:\n  - {id: a, model: llama-3-8b, machine: dgx-h100, gpus: 8, layout: \"dp=8\", "
      "sequence: 4096, batch: 64, precision: bf16, step: 2s}\n");
  ASSERT_TRUE(source) << source.error().text();
  ASSERT_EQ(source->training.size(), 1u);
  EXPECT_EQ(source->training[0].framework, "megatron");
  EXPECT_EQ(source->training[0].step, Time::seconds(2));
}

TEST(MeasuredRuns, WhatIsWrongIsSaidAtItsLine) {
  for (const char* run :
       {"{id: a, model: m, machine: d, gpus: 8, layout: l, sequence: 1, batch: 1, precision: bf17, "
        "step: 1s}",
        "{id: a, model: m, machine: d, gpus: 0, layout: l, sequence: 1, batch: 1, precision: bf16, "
        "step: 1s}",
        "{id: a, model: m, machine: d, gpus: 8, layout: l, sequence: 1, batch: 1, precision: bf16}",
        "{id: a, model: m, machine: d, gpus: 8, layout: l, sequence: 1, precision: bf16, step: 1s}",
        "{id: a, model: m, colour: red, machine: d, gpus: 8, layout: l, sequence: 1, batch: 1, "
        "precision: bf16, step: 1s}",
        "[]", "nonsense"}) {
    const auto source = read(std::string("runs:\n  - ") + run + "\n");
    ASSERT_FALSE(source) << run;
    EXPECT_EQ(source.error().where.line, 5) << source.error().text();
  }
  EXPECT_FALSE(run_source_from_yaml("", "x.yaml"));
  EXPECT_FALSE(read("runs: 7\n"));
}

TEST(WeightedErrors, QuantilesAreThoseOfTheWeights) {
  // One group of nine small errors weighs as one large error of another group.
  std::vector<WeightedError> errors(9, {0.1, 1.0 / 9});
  errors.push_back({-0.5, 1});
  const WeightedSummary summary = summarise(errors);
  EXPECT_NEAR(summary.mean, 0.3, 1e-9);
  EXPECT_NEAR(summary.bias, -0.2, 1e-9);
  EXPECT_NEAR(summary.p90, 0.5, 1e-9);
  EXPECT_EQ(summarise(std::vector<WeightedError>{}).count, 0u);
}

}  // namespace
}  // namespace isleway::plan
