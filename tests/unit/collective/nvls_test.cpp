#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "isleway/collective/network_tree.hpp"
#include "unit/collective/prove.hpp"

namespace isleway {
namespace {

std::vector<std::vector<int>> islands_of(int islands, int size) {
  std::vector<std::vector<int>> ranks(islands);
  for (int r = 0; r < islands * size; ++r) ranks[r / size].push_back(r);
  return ranks;
}

TEST(Nvls, EveryCollectiveIsRightOnOneIsland) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter})
    for (const int ranks : {1, 2, 3, 8, 13})
      for (const std::int64_t bytes : {0, 4, 28, 2996})
        for (const bool registered : {false, true}) {
          const CollectiveCall call{collective, {bytes, 4}, ranks, 0};
          const auto nvls = make_nvls(call, 2, islands_of(1, ranks), ranks, {256, 256}, registered);
          ASSERT_TRUE(nvls) << nvls.error().text();
          EXPECT_EQ(problem_with(call, **nvls, 1, static_cast<std::uint64_t>(bytes + ranks)), "");
        }
}

/// Connections, bytes and messages by sender and receiver, channels taken together.
using BetweenAgents = std::map<std::pair<int, int>, std::array<std::int64_t, 3>>;

void add(BetweenAgents& sums, const Load& load, int alike) {
  auto& sum = sums[{load.from.agent, load.to.agent}];
  sum[0] += alike;
  sum[1] += load.bytes * alike;
  sum[2] += load.messages * alike;
}

BetweenAgents between_agents(const Schedule& schedule) {
  BetweenAgents sums;
  schedule.loads([&](const Load& load) { add(sums, load, 1); });
  return sums;
}

BetweenAgents between_agents_of_alike(const Schedule& schedule) {
  BetweenAgents sums;
  schedule.alike_loads([&](const Load& load, int alike) { add(sums, load, alike); });
  return sums;
}

RC_GTEST_PROP(NvlsTree, IsRightForAnyIslandsHeadsAndChunking, ()) {
  const int size = *rc::gen::inRange(1, 6), count = *rc::gen::inRange(1, 8);
  const CollectiveCall call{Collective::all_reduce,
                            {*rc::gen::inRange(0, 1500), *rc::gen::element(1, 2, 4, 8)},
                            size * count,
                            0};
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  auto islands = islands_of(count, size);
  std::vector<int> order(size * count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (auto& island : islands)
    for (int& rank : island) rank = order[rank];
  const std::int64_t chunk = 16 * *rc::gen::inRange(1, 20);
  const Chunking chunking{chunk, *rc::gen::element(chunk, chunk / 2)};
  const int channels = *rc::gen::inRange(1, 4), heads = *rc::gen::inRange(1, size + 1);
  const bool registered = *rc::gen::element(true, false);
  for (const auto& nvls : {make_nvls(call, channels, islands, heads, chunking, registered),
                           make_network_nvls(call, channels, islands, heads, chunking)}) {
    RC_ASSERT(nvls.has_value());
    RC_ASSERT(problem_with(call, **nvls, 1, random()) == std::string());
    RC_ASSERT(between_agents(**nvls) == between_agents_of_alike(**nvls));
  }
}

TEST(NetworkNvls, HeadsSendTheirShareIntoTheNetworkAndGetItBack) {
  const CollectiveCall call{Collective::all_reduce, {1 << 20, 4}, 12, 0};
  const auto nvls = make_network_nvls(call, 2, islands_of(3, 4), 4, {1 << 16, 1 << 16});
  ASSERT_TRUE(nvls) << nvls.error().text();
  constexpr int kNetwork = 12 + 3 * 4;  // ranks, then the NVSwitches of each head
  EXPECT_EQ((*nvls)->agents(), kNetwork + 4);
  std::int64_t into = 0, out = 0;
  (*nvls)->loads([&](const Load& load) {
    if (load.to.agent >= kNetwork) into += load.bytes;
    if (load.from.agent >= kNetwork) out += load.bytes;
  });
  EXPECT_EQ(into, 3 << 20);
  EXPECT_EQ(out, 3 << 20);
  EXPECT_FALSE(make_network_nvls({Collective::all_gather, {1 << 20, 4}, 12, 0}, 2, islands_of(3, 4),
                                 4, {1 << 16, 1 << 16}));
}

/// Bytes between a rank and the switches, out and in.
std::pair<std::int64_t, std::int64_t> on_the_wire(const Schedule& schedule, int rank) {
  std::int64_t out = 0, in = 0;
  schedule.loads([&](const Load& load) {
    if (load.from.agent == load.to.agent) return;  // a copy inside the rank
    if (load.from.agent == rank) out += load.bytes;
    if (load.to.agent == rank) in += load.bytes;
  });
  return {out, in};
}

TEST(Nvls, EachRankSendsAndReceivesItsDataOnceAndItsHeadsShareOnceMore) {
  const std::int64_t size = 64 << 20;
  const auto wire = [&](Collective collective) {
    const CollectiveCall call{collective, {size, 4}, 8, 0};
    return on_the_wire(**make_nvls(call, 16, islands_of(1, 8), 8, {1 << 17, 1 << 17}), 3);
  };
  EXPECT_EQ(wire(Collective::all_reduce), std::pair(size + size / 8, size / 8 + size));
  EXPECT_EQ(wire(Collective::all_gather), std::pair(size / 8, size));
  EXPECT_EQ(wire(Collective::reduce_scatter), std::pair(size, size / 8));
}

TEST(Nvls, CopiesIntoAndOutOfMulticastMemoryUnlessRegistered) {
  const CollectiveCall call{Collective::all_reduce, {1 << 20, 4}, 4, 0};
  for (const bool registered : {false, true}) {
    std::int64_t copied = 0;
    (*make_nvls(call, 2, islands_of(1, 4), 4, {1 << 17, 1 << 17}, registered))
        ->loads([&](const Load& load) {
          if (load.from.agent == load.to.agent) copied += load.bytes;
        });
    EXPECT_EQ(copied, registered ? 0 : 4 * 2 * (1 << 20));
  }
}

TEST(NvlsTree, HeadsOfTwoIslandsExchangeTheirShareOnce) {
  const std::int64_t size = 32 << 20;
  const CollectiveCall call{Collective::all_reduce, {size, 4}, 16, 0};
  std::int64_t from_island_0 = 0;
  (*make_nvls(call, 4, islands_of(2, 8), 8, {1 << 17, 1 << 17}))->loads([&](const Load& load) {
    if (load.from.agent < 8 && load.to.agent >= 8 && load.to.agent < 16)
      from_island_0 += load.bytes;
  });
  EXPECT_EQ(from_island_0, size);  // over the eight heads' networks
}

TEST(Nvls, RefusesWhatSwitchesCannotDo) {
  CollectiveCall call{Collective::all_gather, {1024, 4}, 4, 0};
  EXPECT_EQ(make_nvls(call, 1, islands_of(1, 4), 2, {}).error().what,
            "NVLS all_gather with 1 islands and 2 heads");
  EXPECT_EQ(make_nvls(call, 1, islands_of(2, 2), 4, {}).error().what,
            "NVLS all_gather with 2 islands and 4 heads");
  call.collective = Collective::all_reduce;
  EXPECT_EQ(make_nvls(call, 1, islands_of(1, 4), 5, {}).error().what, "island 0 has 4 ranks");
  EXPECT_EQ(make_nvls(call, 1, islands_of(1, 4), 0, {}).error().what, "NVLS with 0 heads");
  EXPECT_EQ(make_nvls(call, 1, {{0, 1}, {1, 3}}, 1, {}).error().what,
            "the list of islands names rank 1 twice");
  call.collective = Collective::broadcast;
  EXPECT_EQ(make_nvls(call, 1, islands_of(1, 4), 4, {}).error().what, "NVLS does not do broadcast");
}

}  // namespace
}  // namespace isleway
