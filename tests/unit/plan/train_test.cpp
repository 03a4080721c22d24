// Prices and searches on machines of the catalogue.
#include <gtest/gtest.h>

#include "isleway/fabric/change.hpp"
#include "isleway/plan.hpp"
#include "isleway/plan/even_parts.hpp"
#include "isleway/plan/launch.hpp"
#include "isleway/plan/slowest_gpu.hpp"
#include "isleway/plan/train_questions.hpp"

namespace isleway::plan {
namespace {

struct Setting {
  Catalogue catalogue = Catalogue::open(std::string(ISLEWAY_SOURCE_DIR) + "/machines").value();
  model::ModelCatalogue models =
      model::ModelCatalogue::open(std::string(ISLEWAY_SOURCE_DIR) + "/models").value();
  Interconnect interconnect;
  SlowestGpu gpu;

  explicit Setting(std::string_view machine, std::string_view network = {})
      : interconnect(catalogue.fabric(machine, network).value(), catalogue.parts()),
        gpu(slowest_gpu(interconnect.fabric(),
                        ComputeCatalogue::open(catalogue.folder() / "compute").value(),
                        catalogue.parts())
                .value()) {}

  TrainModel train(std::string_view name, std::int64_t batch, std::int64_t sequence) const {
    Notices notices;
    TrainJob job;
    job.model = models.find(name, notices).value();
    job.global_batch = batch;
    job.sequence = sequence;
    return TrainModel(std::move(job), interconnect, gpu.compute, catalogue.parts(), gpu.memory);
  }
};

const Setting& dgx() {
  static const Setting setting("dgx-h100");
  return setting;
}

TEST(Train, PartsSumToTheStep) {
  const TrainModel model = dgx().train("llama-3-8b", 64, 4096);
  for (const char* text : {"tp=2,pp=2,mbs=1", "fsdp=8", "tp=8", "pp=4,vp=2,dp=2", "cp=2"}) {
    const auto estimate = model.price(parse_layout(text, 8).value()).value();
    Time sum;
    for (const Time part : estimate.parts) sum += part;
    EXPECT_NEAR(sum.seconds() / estimate.step.seconds(), 1, 1e-6) << text;
    EXPECT_GT(estimate.mfu, 0.1) << text;
    EXPECT_LT(estimate.mfu, 0.8) << text;
  }
}

TEST(Train, ObjectionsNameTheNearestThatWorks) {
  const TrainModel model = dgx().train("llama-3-8b", 64, 4096);
  const auto objection = [&](const char* layout) {
    return model.objection(parse_layout(layout, 0).value());
  };
  EXPECT_FALSE(objection("tp=8"));
  EXPECT_EQ(objection("tp=4,dp=4")->hint, "dp=2");
  EXPECT_NE(objection("tp=8,ep=2")->what.find("without experts"), std::string::npos);
  EXPECT_NE(objection("pp=8,schedule=interleaved")->what.find("interleaved"), std::string::npos);
  EXPECT_NE(objection("dp=8,mbs=16")->what.find("batch of 64"), std::string::npos);
  const TrainModel experts = dgx().train("mixtral-8x7b", 64, 4096);
  EXPECT_NE(experts.objection(parse_layout("ep=16,dp=8", 0).value())->what.find("8 experts"),
            std::string::npos);
}

TEST(Train, StragglersAndImbalanceCost) {
  const TrainModel even = dgx().train("mixtral-8x7b", 64, 2048);
  TrainJob job = even.job();
  job.imbalance = 1.5;
  const auto layout = parse_layout("tp=1,ep=8", 8).value();
  const TrainModel uneven(job, dgx().interconnect, dgx().gpu.compute, dgx().catalogue.parts(),
                          dgx().gpu.memory);
  EXPECT_GT(uneven.price(layout)->step, even.price(layout)->step);
  job.imbalance = 1;
  job.straggler = 1.1;
  const TrainModel slow(job, dgx().interconnect, dgx().gpu.compute, dgx().catalogue.parts(),
                        dgx().gpu.memory);
  EXPECT_GT(slow.price(layout)->step, even.price(layout)->step.scaled(1.05));
}

TEST(Train, StagesOnFasterGpusHaveMoreLayersAndTheirOwnMemory) {
  const Setting mixed("dgx-h100+dgx-a100-40", "ndr400-rail");
  ASSERT_TRUE(mixed.gpu.mixed);
  TrainJob job = mixed.train("llama-3-8b", 64, 4096).job();
  const TrainModel model(job, mixed.interconnect, mixed.gpu.compute, mixed.catalogue.parts(),
                         mixed.gpu.memory, mixed.gpu.spread);
  const TrainModel alike(job, mixed.interconnect, mixed.gpu.compute, mixed.catalogue.parts(),
                         mixed.gpu.memory);
  const auto layout = parse_layout("tp=4,pp=2,dp=2", 16).value();
  const auto estimate = model.price(layout).value();
  EXPECT_GT(estimate.memory[0].layers, 2 * estimate.memory[1].layers);
  EXPECT_GT(estimate.memory[0].capacity, 1.9 * estimate.memory[1].capacity);
  EXPECT_LT(estimate.step, alike.price(layout)->step.scaled(0.7));
  EXPECT_LT(estimate.mfu, 0.8);
}

TEST(EvenParts, AMissingGpuLeavesSeveralWays) {
  const Catalogue& catalogue = dgx().catalogue;
  const Fabric whole = catalogue.fabric("dgx-h100*3", "ndr400-rail").value();
  EXPECT_EQ(even_parts(whole).size(), 1u);
  std::vector<std::size_t> sizes;
  for (const EvenPart& part : even_parts(with_fault(whole, "node1/gpu3").value()))
    sizes.push_back(part.fabric.gpu_count());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{23, 16, 21, 12}));
}

TEST(TrainSearch, FindsWhatFitsAndSaysWhyNot) {
  const TrainModel model = dgx().train("llama-3-8b", 64, 4096);
  const SearchResult result = search_layouts(model, {}).value();
  ASSERT_FALSE(result.best.empty());
  EXPECT_TRUE(result.best.front().fits());
  EXPECT_GT(result.considered, 100u);
  for (std::size_t i = 1; i < result.best.size(); ++i)
    EXPECT_LE(result.best[i - 1].step, result.best[i].step);
  EXPECT_FALSE(result.rejected.empty());
}

TEST(TrainSearch, IsTheSameOnAnyNumberOfThreads) {
  const TrainModel model = dgx().train("llama-3-8b", 32, 2048);
  SearchOptions one, three;
  one.threads = 1;
  three.threads = 3;
  const auto a = search_layouts(model, one).value(), b = search_layouts(model, three).value();
  ASSERT_EQ(a.best.size(), b.best.size());
  for (std::size_t i = 0; i < a.best.size(); ++i) EXPECT_EQ(a.best[i].layout, b.best[i].layout);
}

TEST(TrainSearch, WhatFitsNowhereNamesTheSmallestMachine) {
  const TrainModel model = dgx().train("llama-3.1-405b", 64, 8192);
  const SearchResult result = search_layouts(model, {}).value();
  EXPECT_TRUE(result.best.empty());
  ASSERT_TRUE(result.nearest);
  EXPECT_GT(result.nearest->needed, result.nearest->capacity);
  const auto fit = smallest_fit(model.job(), dgx().catalogue.parts(), dgx().gpu.memory, 8, 1 << 14);
  ASSERT_TRUE(fit);
  EXPECT_GE(fit->gpus, 64);  // 16 bytes a weight alone are 6.5 TB
  EXPECT_LE(fit->gpus, 256);
}

TEST(TrainQuestions, TensorGroupsMeetTheirCeiling) {
  const TrainModel model = dgx().train("llama-3.1-70b", 64, 8192);
  const auto steps = tensor_steps(model, 1);
  ASSERT_GE(steps.size(), 4u);
  // More ranks leave less to compute for the same traffic.
  for (std::size_t i = 1; i < steps.size(); ++i) EXPECT_GT(steps[i].needed, steps[i - 1].needed);
  EXPECT_LE(largest_tensor(steps, Rate::GBs(50), 8, Rate::GBs(50)),
            largest_tensor(steps, Rate::GBs(800), 8, Rate::GBs(50)));
  EXPECT_LE(largest_tensor(steps, Rate::GBs(800), 2, Rate::GBs(10)),
            largest_tensor(steps, Rate::GBs(800), 64, Rate::GBs(10)));
}

TEST(Launch, FlagsAreThoseOfTheLayout) {
  const TrainModel model = dgx().train("llama-3.1-70b", 64, 8192);
  const auto layout = parse_layout("tp=4,pp=2,vp=5", 8).value();
  const std::string flags = megatron_flags(model.job(), layout);
  EXPECT_NE(flags.find("--tensor-model-parallel-size 4"), std::string::npos);
  EXPECT_NE(flags.find("--num-virtual-stages-per-pipeline-rank 5"), std::string::npos);
  EXPECT_NE(flags.find("--num-query-groups 8"), std::string::npos);
  EXPECT_NE(torchtitan_toml(model.job(), layout).find("tensor_parallel_degree = 4"),
            std::string::npos);
  EXPECT_EQ(hostfile(dgx().interconnect.fabric()), "node0 slots=8\n");
}

}  // namespace
}  // namespace isleway::plan
