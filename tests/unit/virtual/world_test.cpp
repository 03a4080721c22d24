#include "isleway/virtual/world.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "isleway/virtual/launch.hpp"
#include "virtual/device/arena.hpp"

namespace isleway::vgpu {
namespace {

RunPlan plan_for(const std::string& machine) {
  RunPlan plan;
  plan.machine.machine = machine;
  plan.data_folder = ISLEWAY_SOURCE_DIR "/machines";
  return plan;
}

TEST(RunPlan, SurvivesBeingHandedOn) {
  RunPlan plan = plan_for("dgx-h100*2");
  plan.machine.faults = {"gpu3:nvlink5", "node1/nic0"};
  plan.machine.ranks = 12;
  plan.time = TimeMode::scaled;
  plan.scale = 2.5;
  plan.data = false;
  plan.kernels = UnknownKernels::skip;
  const RunPlan copy = parse_plan(plan_text(plan)).value();
  EXPECT_EQ(plan_text(copy), plan_text(plan));
  EXPECT_EQ(copy.machine.faults, plan.machine.faults);
  EXPECT_FALSE(parse_plan("{}"));
  EXPECT_FALSE(parse_plan("no plan"));
}

TEST(World, IsSharedByName) {
  const auto world = World::create(plan_for("dgx-h100")).value();
  const auto visitor = World::visit(world->name()).value();
  EXPECT_EQ(visitor->machine().gpu_count(), 8u);
  EXPECT_TRUE(world->inject({Time::us(2), "gpu3:nvlink5"}));
  ASSERT_EQ(visitor->faults().size(), 1u);
  EXPECT_EQ(visitor->faults()[0].text, "gpu3:nvlink5");
  world->count_link_bytes(3, true, 1000);
  EXPECT_EQ(visitor->link_bytes(3, true), 1000u);
  EXPECT_EQ(visitor->link_bytes(3, false), 0u);
  EXPECT_TRUE(visitor->processes().empty());
  EXPECT_FALSE(world->inject({Time(), std::string(500, 'x')}));
}

TEST(World, MemoryEndsAtItsLimit) {
  const auto world = World::create(plan_for("t4-4")).value();
  EXPECT_TRUE(world->take_memory(1, Bytes(600), Bytes(1000)));
  EXPECT_FALSE(world->take_memory(1, Bytes(600), Bytes(1000)));
  EXPECT_TRUE(world->take_memory(2, Bytes(600), Bytes(1000)));
  world->give_back_memory(1, Bytes(600));
  EXPECT_TRUE(world->take_memory(1, Bytes(1000), Bytes(1000)));
  ASSERT_EQ(world->memory_uses(1).size(), 1u);
  EXPECT_EQ(world->memory_uses(1)[0].bytes, 1000);
}

TEST(World, NamesWhatCannotBeJoined) {
  EXPECT_FALSE(World::visit("/nowhere/isleway"));
  EXPECT_FALSE(World::visit(ISLEWAY_SOURCE_DIR "/README.md"));
  EXPECT_FALSE(World::create(plan_for("dgx-h101")));
}

/// Blocks never overlap, and all room is there again once they are given back.
RC_GTEST_PROP(Arena, TakesAndGivesBack, ()) {
  constexpr std::uint64_t room = 1 << 20;
  auto arena = Arena::make(room).value();
  std::map<std::uint64_t, std::uint64_t> taken;
  const int steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    if (!taken.empty() && *rc::gen::inRange(0, 3) == 0) {
      arena.give_back(taken.begin()->first);
      taken.erase(taken.begin());
      continue;
    }
    const auto bytes = *rc::gen::inRange<std::uint64_t>(1, 100000);
    const auto offset = arena.take(bytes);
    if (!offset) continue;
    RC_ASSERT(*offset % Arena::kGrain == 0 && *offset + bytes <= room);
    const auto next = taken.lower_bound(*offset);
    RC_ASSERT(next == taken.end() || *offset + bytes <= next->first);
    if (next != taken.begin())
      RC_ASSERT(std::prev(next)->first + std::prev(next)->second <= *offset);
    taken[*offset] = bytes;
  }
  for (const auto& [offset, bytes] : taken) arena.give_back(offset);
  RC_ASSERT(arena.take(room).has_value());
}

TEST(StaticCudart, IsNotSeenWhereThereIsNone) {
  EXPECT_FALSE(has_static_cudart("/proc/self/exe"));
  EXPECT_FALSE(has_static_cudart(ISLEWAY_SOURCE_DIR "/README.md"));
  EXPECT_FALSE(has_static_cudart("/nowhere"));
}

}  // namespace
}  // namespace isleway::vgpu
