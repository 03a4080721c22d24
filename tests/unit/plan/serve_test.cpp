// Serving: what must hold for any model and machine.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "isleway/fabric/catalogue.hpp"
#include "isleway/plan.hpp"

namespace isleway::plan {
namespace {

const Catalogue& catalogue() {
  static const Catalogue all = *Catalogue::open(ISLEWAY_SOURCE_DIR "/machines");
  return all;
}
model::Transformer transformer(const char* name) {
  static const model::ModelCatalogue all =
      *model::ModelCatalogue::open(ISLEWAY_SOURCE_DIR "/models");
  Notices notices;
  return *all.find(name, notices);
}

/// A machine with all that estimates refer to.
struct Site {
  Interconnect interconnect;
  ComputeModel compute;
  double memory;

  explicit Site(const char* machine)
      : interconnect(*catalogue().fabric(machine), catalogue().parts()),
        compute(*ComputeCatalogue::open(catalogue().folder() / "compute")
                     ->gpu(catalogue().parts(), part())),
        memory(double(catalogue().parts().gpu(part())->memory.count())) {}
  std::string part() const {
    const Fabric& fabric = interconnect.fabric();
    return fabric.device(fabric.gpu(0)).part;
  }
};
const Site& h100() {
  static const Site site("dgx-h100");
  return site;
}

ServeJob job_of(const char* model, model::Precision precision) {
  ServeJob job;
  job.model = transformer(model);
  job.precision = precision;
  job.software = *serve_software(catalogue().folder() / "compute", "trtllm");
  return job;
}

Result<ServeWorker> worker_of(const ServeJob& job, const char* layout) {
  return ServeWorker::create(job, *parse_serve_layout(layout), h100().interconnect, h100().compute,
                             h100().memory);
}

TEST(ServeLayout, ReadsWhatItWrites) {
  const auto layout = parse_serve_layout("tp=2,dp=4,ep=8,workers=3");
  ASSERT_TRUE(layout);
  EXPECT_EQ(short_text(*layout), "tp2 dp4 ep8 x3");
  EXPECT_EQ(layout->gpus(), 24);
  for (const char* bad : {"", "tp", "tp=0", "tp=x", "tq=2", "tp=-1", "tp=99999999999999999999"})
    EXPECT_FALSE(parse_serve_layout(bad)) << bad;
}

TEST(ServeLayout, WhatCannotBeIsSaidWithTheNearestThatCan) {
  const model::Transformer dense = transformer("llama-3.1-70b");
  const model::Transformer experts = transformer("qwen3-30b-a3b");
  const auto hint = [](const char* layout, const model::Transformer& model) {
    const auto error = objection(*parse_serve_layout(layout), model);
    return error ? error->hint : std::string("fine");
  };
  EXPECT_EQ(hint("tp=7", dense), "tp=8");
  EXPECT_EQ(hint("ep=2,tp=2", dense), "ep=1");
  EXPECT_EQ(hint("dp=2", dense), "workers=2");
  EXPECT_EQ(hint("pp=100", dense), "pp=80 at most");
  EXPECT_EQ(hint("dp=8,ep=3", experts), "ep=2");
  EXPECT_EQ(hint("dp=256,ep=256", experts), "ep=128");
  EXPECT_EQ(hint("tp=2,dp=4,ep=8", experts), "fine");
}

TEST(Serve, AModelThatDoesNotFitIsAnErrorWithNumbers) {
  const ServeJob job = job_of("llama-3.1-405b", model::Precision::bf16);
  const auto worker = worker_of(job, "tp=8");
  ASSERT_TRUE(worker);
  const auto estimate = serve_closed(job, *worker, 1);
  ASSERT_FALSE(estimate);
  EXPECT_NE(estimate.error().what.find("does not fit"), std::string::npos);
}

TEST(Serve, OneRequestReadsTheWeightsOnceAToken) {
  const ServeJob job = job_of("llama-3.1-8b", model::Precision::bf16);
  const auto worker = worker_of(job, "tp=1");
  ASSERT_TRUE(worker);
  const auto estimate = serve_closed(job, *worker, 1);
  ASSERT_TRUE(estimate);
  const double read = worker->memory().weights / h100().compute.memory_rate().bytes_per_second();
  EXPECT_GT(estimate->tpot, read * 0.9);
  EXPECT_LT(estimate->tpot, read * 2);
}

TEST(Serve, TensorParallelismShortensATokenAndPipelinesDoNot) {
  const ServeJob job = job_of("llama-3.1-70b", model::Precision::fp8_current);
  const auto tensor = worker_of(job, "tp=8"), pipeline = worker_of(job, "pp=8");
  ASSERT_TRUE(tensor && pipeline);
  EXPECT_LT(tensor->step(1, 1024).total(), 0.5 * pipeline->step(1, 1024).total());
}

TEST(Serve, LongRequestsTakeMoreMemoryAndTime) {
  const ServeJob job = job_of("llama-3.1-70b", model::Precision::fp8_current);
  ServeJob longer = job;
  longer.input *= 8;
  const auto before = worker_of(job, "tp=8"), after = worker_of(longer, "tp=8");
  ASSERT_TRUE(before && after);
  EXPECT_LT(after->memory().requests(), before->memory().requests());
  // Attention more than eight times, the rest less: short prefills run at lower efficiency.
  EXPECT_GT(after->prefill_seconds(), 6 * before->prefill_seconds());
  EXPECT_LT(after->prefill_seconds(), 9 * before->prefill_seconds());
}

TEST(Serve, APrefixCacheShortensPrefill) {
  ServeJob job = job_of("llama-3.1-70b", model::Precision::fp8_current);
  job.input = 8192;
  const double cold = worker_of(job, "tp=8")->prefill_seconds();
  job.cached = 0.75;
  const double warm = worker_of(job, "tp=8")->prefill_seconds();
  EXPECT_LT(warm, 0.5 * cold);
  EXPECT_GT(warm, 0.2 * cold);
}

RC_GTEST_PROP(Serve, MoreRequestsNeverLessThroughputNorFasterTokens, ()) {
  static const ServeJob job = job_of("qwen3-30b-a3b", model::Precision::fp8_current);
  static const ServeWorker worker = *worker_of(job, "dp=8,ep=8");
  const double few = *rc::gen::inRange(1, 400);
  const double many = few * *rc::gen::inRange(2, 5);
  const auto a = serve_closed(job, worker, few), b = serve_closed(job, worker, many);
  RC_ASSERT(a.has_value() && b.has_value());
  RC_ASSERT(b->output_per_gpu >= a->output_per_gpu * 0.98);
  RC_ASSERT(b->tpot >= a->tpot * 0.999);
  RC_ASSERT(a->requests_per_second > 0);
}

TEST(Serve, AnOpenLoadIsMetByTheFewestRequestsAtOnce) {
  const ServeJob job = job_of("llama-3.1-8b", model::Precision::bf16);
  const ServeWorker worker = *worker_of(job, "tp=1,workers=8");
  const auto closed = [&](double n) { return serve_closed(job, worker, n); };
  const auto open = serve_open(5, most_concurrent(job, worker), closed);
  ASSERT_TRUE(open);
  EXPECT_NEAR(open->requests_per_second, 5, 0.05);
  EXPECT_FALSE(serve_open(1e6, most_concurrent(job, worker), closed));
}

TEST(Serve, SearchFindsAFrontThatTradesSpeedForThroughput) {
  const ServeJob job = job_of("llama-3.1-70b", model::Precision::fp8_current);
  const auto plan = plan_serving(job, {}, h100().interconnect, h100().compute, h100().memory);
  ASSERT_TRUE(plan) << plan.error().text();
  ASSERT_GT(plan->front.size(), 2u);
  for (std::size_t i = 1; i < plan->front.size(); ++i) {
    EXPECT_LE(plan->front[i].user_speed(), plan->front[i - 1].user_speed());
    EXPECT_GT(plan->front[i].output_per_gpu, plan->front[i - 1].output_per_gpu);
  }
  ASSERT_TRUE(plan->smallest);
  EXPECT_EQ(plan->smallest->worker_gpus(), 2);  // 70 GB of weights beside 80 GB GPUs' other needs
  EXPECT_FALSE(plan->rejected.empty());
}

TEST(Serve, WhatNothingMeetsIsSaidWithTheNearest) {
  const ServeJob job = job_of("llama-3.1-70b", model::Precision::fp8_current);
  ServeGoal goal;
  goal.most_tpot = 1e-6;
  const auto plan = plan_serving(job, goal, h100().interconnect, h100().compute, h100().memory);
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().hint.find("nearest"), std::string::npos);
}

}  // namespace
}  // namespace isleway::plan
