#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "unit/collective/prove.hpp"

namespace isleway {
namespace {

const std::vector<Collective> kRingCollectives = {Collective::all_reduce, Collective::all_gather,
                                                  Collective::reduce_scatter, Collective::broadcast,
                                                  Collective::reduce};

std::vector<std::vector<int>> shuffled_rings(int ranks, int channels, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<int>> rings(channels, std::vector<int>(ranks));
  for (auto& ring : rings) {
    std::iota(ring.begin(), ring.end(), 0);
    std::shuffle(ring.begin(), ring.end(), random);
  }
  return rings;
}

TEST(Ring, EveryCollectiveIsRightAtOddSizesAndRankCounts) {
  for (const Collective collective : kRingCollectives)
    for (const int ranks : {1, 2, 3, 5, 8, 17})
      for (const std::int64_t bytes : {0, 4, 28, 244, 4100, 9964}) {
        const CollectiveCall call{collective, {bytes, 4}, ranks, ranks / 2};
        const auto ring = make_simple_ring(call, 3, {256, 128});
        ASSERT_TRUE(ring) << ring.error().text();
        EXPECT_EQ(problem_with(call, **ring, 3, static_cast<std::uint64_t>(bytes + ranks)), "");
      }
}

RC_GTEST_PROP(Ring, IsRightForAnyOrderRootChunkingAndSize, ()) {
  const int ranks =
      *rc::gen::element(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32);
  const int element = *rc::gen::element(1, 2, 4, 8);
  const CollectiveCall call{*rc::gen::elementOf(kRingCollectives),
                            {*rc::gen::inRange(0, 3000), element},
                            ranks,
                            *rc::gen::inRange(0, ranks)};
  const int slices = *rc::gen::inRange(1, 5);
  const std::int64_t chunk = 16 * *rc::gen::inRange(1, 100);
  const Chunking chunking{chunk, std::max<std::int64_t>(1, chunk / slices),
                          16 * *rc::gen::element(1, 8)};
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto ring = make_ring(call, shuffled_rings(ranks, *rc::gen::inRange(1, 5), seed), chunking);
  RC_ASSERT(ring.has_value());
  // A chunk of 16 bytes has fewer slices than asked for, one of 17 parts one more.
  RC_ASSERT(problem_with(call, **ring, std::min(8, slices + 2), seed) == std::string());
}

TEST(Ring, WaitsForEverWhenAChunkFillsTheFifos) {
  const CollectiveCall call{Collective::all_reduce, {65536, 4}, 4, 0};
  const auto ring = make_simple_ring(call, 1, {1024, 512});
  EXPECT_FALSE(check_schedule(call, **ring, false, 2));
  EXPECT_TRUE(check_schedule(call, **ring, false, 3));
}

TEST(Ring, SendsWhatTheTextbookSays) {
  const std::int64_t bytes = 8 << 20;
  const auto bytes_per_link = [&](Collective collective) {
    const CollectiveCall call{collective, {bytes, 4}, 8, 0};
    std::map<int, std::int64_t> sent;
    (*make_simple_ring(call, 4, {1 << 19, 1 << 18}))->loads([&](const Load& load) {
      if (load.to != load.from) sent[load.from.agent] += load.bytes;
    });
    return sent[3];
  };
  EXPECT_EQ(bytes_per_link(Collective::all_reduce), 2 * bytes * 7 / 8);
  EXPECT_EQ(bytes_per_link(Collective::all_gather), bytes * 7 / 8);
  EXPECT_EQ(bytes_per_link(Collective::reduce_scatter), bytes * 7 / 8);
  EXPECT_EQ(bytes_per_link(Collective::broadcast), bytes);
  EXPECT_EQ(bytes_per_link(Collective::reduce), bytes);
}

TEST(Ring, ASmallAllReduceTakesTwoRoundsOfLatency) {
  const CollectiveCall call{Collective::all_reduce, {1024, 4}, 8, 0};
  double steps = 0;
  for (const CriticalStep& step : (*make_simple_ring(call, 1, {}))->critical_path()) {
    EXPECT_EQ(step.bytes, 0);
    steps += step.repeats;
  }
  EXPECT_NEAR(steps, 14, 1e-9);
}

TEST(Ring, ALargeAllReduceHidesLatencyBehindTheOtherSlices) {
  const CollectiveCall call{Collective::all_reduce, {std::int64_t{64} << 20, 4}, 8, 0};
  double exposed = 0, hidden = 0;
  for (const CriticalStep& step : (*make_simple_ring(call, 1, {}))->critical_path())
    if (step.hidden_bytes == CriticalStep::kAllHidden) {
      hidden += step.repeats;
    } else {
      EXPECT_EQ(step.hidden_bytes, 1 << 20);
      exposed += step.repeats;
    }
  EXPECT_NEAR(exposed, 4 * 14, 1e-9);  // loops of 8 chunks of 2 MiB
  EXPECT_NEAR(hidden, 4 * 14, 1e-9);
}

TEST(Ring, OverAHundredThousandRanksCostsNoMemory) {
  const int ranks = 100'000;
  const CollectiveCall call{Collective::all_reduce, {std::int64_t{1} << 40, 4}, ranks, 0};
  const auto ring = make_simple_ring(call, 4, {});
  ASSERT_TRUE(ring);
  const Port last{ranks - 1, 3};
  const std::int64_t count = (*ring)->action_count(last);
  EXPECT_GT(count, 2 * ranks);
  Action action;
  (*ring)->action(last, count - 1, action);
  EXPECT_EQ(action.recv[0], (Port{ranks - 2, 3}));
  EXPECT_TRUE(action.send.empty());
  std::int64_t connections = 0;
  (*ring)->loads([&](const Load&) { ++connections; });
  EXPECT_EQ(connections, 4 * std::int64_t{ranks});
}

TEST(Ring, RefusesWhatMakesNoSense) {
  const CollectiveCall call{Collective::all_reduce, {1024, 4}, 4, 0};
  const auto what = [](const auto& result) {
    return result ? std::string("accepted") : result.error().what;
  };
  EXPECT_EQ(what(make_ring(call, {{0, 1, 2, 2}}, {})), "ring 0 names rank 2 twice");
  EXPECT_EQ(what(make_ring(call, {{0, 1, 2, 3}, {0, 1, 2}}, {})), "ring 1 has 3 ranks");
  EXPECT_EQ(what(make_ring(call, {{0, 1, 2, 4}}, {})), "ring 0 names rank 4");
  EXPECT_EQ(what(make_ring(call, {}, {})), "a number of channels of 0");
  EXPECT_EQ(what(make_simple_ring(call, 1, {100, 50})), "a chunk of 100 bytes");
  EXPECT_EQ(what(make_simple_ring(call, 1, {128, 0})), "a slice of 0");
  CollectiveCall other = call;
  other.collective = Collective::all_to_all;
  EXPECT_EQ(what(make_simple_ring(other, 1, {})), "ring does not do all_to_all");
  other = call;
  other.root = 4;
  EXPECT_EQ(what(make_simple_ring(other, 1, {})), "a root of 4");
  other = call;
  other.size.element_bytes = 3;
  EXPECT_EQ(what(make_simple_ring(other, 1, {})), "elements of 3 bytes");
}

}  // namespace
}  // namespace isleway
