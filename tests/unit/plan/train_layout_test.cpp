#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "isleway/plan.hpp"
#include "plan/groups.hpp"
#include "plan/stages.hpp"

namespace isleway::plan {
namespace {

TEST(TrainLayout, WhatIsNotNamedFollows) {
  const TrainLayout layout = parse_layout("tp=8, pp=4,vp=2", 128).value();
  EXPECT_EQ(layout.data, 4);
  EXPECT_EQ(layout.schedule, Schedule::interleaved);
  EXPECT_EQ(layout.sharding, Sharding::optimizer);
  EXPECT_EQ(short_text(layout), "tp8 pp4 vp2 dp4 mbs1");
}

TEST(TrainLayout, FsdpDividesWeights) {
  const TrainLayout layout = parse_layout("fsdp=8", 32).value();
  EXPECT_EQ(layout.sharding, Sharding::parameters);
  EXPECT_EQ(layout.shard_group, 8);
  EXPECT_EQ(parse_layout("fsdp=32", 32)->shard_group, 0);
}

TEST(TrainLayout, MistakesSayWhatIsMeant) {
  EXPECT_NE(parse_layout("tpp=8", 8).error().hint.find("tp"), std::string::npos);
  EXPECT_NE(parse_layout("tp=0", 8).error().what.find("tp=0"), std::string::npos);
  EXPECT_NE(parse_layout("tp", 8).error().expected.find("key=value"), std::string::npos);
  EXPECT_NE(parse_layout("tp=3", 8).error().what.find("8 GPUs"), std::string::npos);
  EXPECT_FALSE(parse_layout("order=tp-pp", 8));
  EXPECT_FALSE(parse_layout("tp=1000000,pp=1000000,cp=1000000", 8));
}

RC_GTEST_PROP(TrainLayout, ReadsWhatItWrites, ()) {
  TrainLayout layout;
  const auto size = [] { return *rc::gen::element(1, 2, 4, 8); };
  layout.tensor = size();
  layout.context = size();
  layout.expert = size();
  layout.pipeline = size();
  layout.data = size();
  layout.micro_batch = size();
  layout.sharding = *rc::gen::element(Sharding::none, Sharding::optimizer, Sharding::parameters);
  layout.recompute = *rc::gen::element(model::Recompute::none, model::Recompute::full);
  layout.sequence = layout.tensor == 1 || *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) layout.order = parse_order("tp-pp-cp-ep-dp").value();
  RC_ASSERT(parse_layout(full_text(layout), 0).value() == layout);
}

std::set<int> members(const GroupShape& group) {
  std::set<int> ranks;
  for (int outer = 0; outer < group.count[1]; ++outer)
    for (int inner = 0; inner < group.count[0]; ++inner)
      ranks.insert(outer * group.stride[1] + inner * group.stride[0]);
  return ranks;
}

TEST(Groups, TensorInsideContextInsideDataInsidePipeline) {
  const Groups groups = groups_of(parse_layout("tp=4,cp=2,pp=2,ep=8", 64).value());
  EXPECT_EQ(members(groups.tensor), (std::set<int>{0, 1, 2, 3}));
  EXPECT_EQ(members(groups.context), (std::set<int>{0, 4}));
  EXPECT_EQ(members(groups.pipeline), (std::set<int>{0, 32}));
  EXPECT_EQ(groups.data.ranks(), 8);  // of context and data together
  EXPECT_EQ(members(groups.expert), (std::set<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(members(groups.expert_data), (std::set<int>{0, 8, 16, 24}));
}

// However ranks are ordered, a group has as many different ones as it says, all of the job.
RC_GTEST_PROP(Groups, HoldDifferentRanksOfTheJob, ()) {
  TrainLayout layout;
  const auto size = [] { return *rc::gen::element(1, 2, 4); };
  layout.tensor = size();
  layout.context = size();
  layout.pipeline = size();
  layout.data = 4 * size();
  layout.expert = *rc::gen::element(1, 2, 4);
  layout.order = parse_order(*rc::gen::element<std::string>("tp-cp-ep-dp-pp", "tp-pp-cp-ep-dp",
                                                            "cp-tp-dp-ep-pp", "pp-tp-ep-cp-dp"))
                     .value();
  const Groups groups = groups_of(layout);
  for (const GroupShape& group : {groups.tensor, groups.context, groups.pipeline, groups.data,
                                  groups.expert, groups.expert_data}) {
    const std::set<int> ranks = members(group);
    RC_ASSERT(static_cast<int>(ranks.size()) == group.ranks());
    RC_ASSERT(*ranks.rbegin() < layout.ranks());
  }
  RC_ASSERT(groups.expert.ranks() * groups.expert_data.ranks() * layout.pipeline == layout.ranks());
}

TEST(Stages, LayersAreSplitEvenlyAndInOrder) {
  const auto stages = split_layers(126, 128);  // Llama 3.1 405B on 16 x 8 stages
  EXPECT_EQ(stages.front().count(), 0);
  EXPECT_EQ(stages.back().count(), 0);
  EXPECT_EQ(stages[64].count(), 1);
  int next = 0;
  for (const StageLayers& stage : split_layers(61, 8)) {
    EXPECT_EQ(stage.first, next);
    EXPECT_GE(stage.count(), 7);
    next = stage.last;
  }
  EXPECT_EQ(next, 61);
}

TEST(Stages, FasterRanksGetMoreLayers) {
  std::vector<int> counts;
  for (const StageLayers& stage : split_layers(30, 4, {1, 2, 1, 2}))
    counts.push_back(stage.count());
  EXPECT_EQ(counts, (std::vector<int>{5, 10, 5, 10}));
  EXPECT_EQ(split_layers(32, 4, {3, 3, 3, 3}).front().count(), 8);
}

}  // namespace
}  // namespace isleway::plan
