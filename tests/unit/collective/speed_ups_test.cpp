// The flow engine's speed-ups change nothing but the time that they take: real algorithms on
// random machines, some with slower links, alone and beside one another, with links that fail.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "isleway/collective.hpp"
#include "unit/engine/fakes.hpp"

namespace isleway {
namespace {

using testing::star;
using testing::StarWiring;

class AnyCase {
 public:
  explicit AnyCase(unsigned seed) : random_(seed) {}

  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

  /// Most are divided without rest, as real calls are; some are not.
  std::unique_ptr<Schedule> schedule(int ranks) {
    CollectiveCall call;
    call.ranks = ranks;
    call.size.bytes = whole(0, 3) == 0 ? whole(1, 1 << 20) : std::int64_t{ranks} << whole(12, 19);
    const int channels = 1 << whole(0, 2);
    Chunking chunking;
    chunking.slice_bytes = std::int64_t{1} << whole(11, 16);
    chunking.chunk_bytes = whole(1, 4) * chunking.slice_bytes;
    switch (whole(0, 5)) {
      case 0: call.collective = Collective::all_gather; [[fallthrough]];
      case 1: return make_simple_ring(call, channels, chunking).value();
      case 2: {
        std::vector<TreeShape> trees;
        for (int i = 0; i < channels; ++i)
          trees.push_back(i % 2 == 0 ? binary_tree(ranks) : mirrored_binary_tree(ranks));
        return make_tree(call, trees, chunking).value();
      }
      case 3: {
        std::vector<int> island(static_cast<std::size_t>(ranks));
        std::iota(island.begin(), island.end(), 0);
        return make_nvls(call, channels, {island}, ranks, chunking).value();
      }
      case 4: {
        std::vector<std::vector<int>> rings;
        for (int c = 0; c < channels; ++c) {
          rings.emplace_back(static_cast<std::size_t>(ranks));
          std::iota(rings.back().begin(), rings.back().end(), 0);
          std::shuffle(rings.back().begin(), rings.back().end(), random_);
        }
        return make_ring(call, rings, chunking).value();
      }
      default:
        call.collective = Collective::all_to_all;
        return make_point_to_point(call, channels, channels, ranks, chunking).value();
    }
  }

  Connection price() {
    Connection price;
    price.latency = Time::ns(whole(0, 3) == 0 ? 0 : real(10, 3000));
    price.overhead = Time::ns(whole(0, 2) == 0 ? 0 : real(10, 500));
    price.wire_expansion = std::array{1.0, 128.0 / 120, 2.0}[static_cast<std::size_t>(whole(0, 2))];
    price.credits = whole(5, 9);  // more than a chunk has slices
    if (whole(0, 1) == 0) price.cap = Rate::GBs(real(5, 80));
    return price;
  }

 private:
  std::mt19937 random_;
};

void expect_equal(const ScenarioOutcome& fast, const ScenarioOutcome& plain, int seed,
                  const char* what) {
  EXPECT_EQ(fast.time, plain.time) << seed << what;
  for (std::size_t i = 0; i < plain.jobs.size(); ++i) {
    EXPECT_EQ(fast.jobs[i].begin, plain.jobs[i].begin) << seed << what << i;
    EXPECT_EQ(fast.jobs[i].end, plain.jobs[i].end) << seed << what << i;
    EXPECT_EQ(fast.jobs[i].busy, plain.jobs[i].busy) << seed << what << i;
  }
  ASSERT_EQ(fast.loads.size(), plain.loads.size()) << seed << what;
  for (std::size_t i = 0; i < plain.loads.size(); ++i) {
    EXPECT_EQ(fast.loads[i].link, plain.loads[i].link);
    EXPECT_EQ(fast.loads[i].forward, plain.loads[i].forward);
    EXPECT_NEAR(fast.loads[i].wire_bytes, plain.loads[i].wire_bytes,
                1e-9 * plain.loads[i].wire_bytes)
        << seed << what;
  }
}

TEST(SpeedUps, GiveTheSameTimesToThePicosecond) {
  std::uint64_t plain_events = 0, symmetric_events = 0, periodic_events = 0, remembering_events = 0;
  for (int seed = 0; seed < 150; ++seed) {
    AnyCase any(static_cast<unsigned>(seed));
    const int ranks = any.whole(2, 9);
    Fabric fabric = star(ranks, Rate::GBs(any.real(10, 500)));
    const int faults = std::max(0, any.whole(-2, 2));
    for (int i = 0; i < faults; ++i) {
      auto broken =
          with_fault(fabric, "gpu" + std::to_string(any.whole(0, ranks - 1)) + ":nvlink0:lanes=1");
      if (broken) fabric = *broken;
    }
    std::vector<std::unique_ptr<Schedule>> schedules;
    std::vector<std::unique_ptr<StarWiring>> wirings;
    for (int i = any.whole(1, 2); i > 0; --i) {
      schedules.push_back(any.schedule(ranks));
      wirings.push_back(std::make_unique<StarWiring>(ranks, any.price()));
    }
    Scenario scenario;
    const int jobs = any.whole(1, 5);
    for (int i = 0; i < jobs; ++i) {
      const auto what = static_cast<std::size_t>(i) % schedules.size();
      Job job{schedules[what].get(), wirings[what].get(), Time::ns(any.real(0, 5000)), {}};
      if (i > 0 && any.whole(0, 3) > 0) job.after.push_back(static_cast<std::uint32_t>(i - 1));
      scenario.jobs.push_back(job);
    }
    if (any.whole(0, 2) == 0) {
      const auto link = static_cast<LinkId>(any.whole(0, ranks - 1));
      scenario.changes.push_back({Time::us(any.real(1, 50)), link, any.real(0, 1)});
      scenario.changes.push_back({Time::us(60), link, 1});
    }
    const auto run = [&](const SpeedUps& speed_ups) {
      const auto outcome = simulate(fabric, scenario, speed_ups);
      if (!outcome) throw std::runtime_error(outcome.error().text());
      return *outcome;
    };
    const auto plain = run(SpeedUps::none());
    const auto symmetric = run({true, false, false}), remembering = run({false, true, false}),
               periodic = run({false, false, true}), all = run({});
    expect_equal(symmetric, plain, seed, " symmetry ");
    expect_equal(remembering, plain, seed, " memory ");
    expect_equal(periodic, plain, seed, " period ");
    expect_equal(all, plain, seed, " all ");
    plain_events += plain.events;
    symmetric_events += symmetric.events;
    remembering_events += remembering.events;
    periodic_events += periodic.events;
  }
  // Each was at work.
  EXPECT_LT(symmetric_events, plain_events * 9 / 10);
  EXPECT_LT(remembering_events, plain_events * 95 / 100);
  EXPECT_LT(periodic_events, plain_events * 95 / 100);
}

TEST(SpeedUps, RolesPeersAndLoopsAreWhatTheProgramsSay) {
  for (int seed = 0; seed < 60; ++seed) {
    AnyCase any(static_cast<unsigned>(seed));
    const int ranks = any.whole(2, 9);
    const auto schedule = any.schedule(ranks);
    std::map<std::uint64_t, std::uint64_t> program_of_role;
    Peers said, found;
    Action action, later;
    for (std::int32_t agent = 0; agent < schedule->agents(); ++agent)
      for (std::int32_t stream = 0; stream < schedule->streams(); ++stream) {
        const Port port{agent, stream};
        const auto program = schedule->Schedule::role(port);
        EXPECT_EQ(program_of_role.try_emplace(schedule->role(port), program).first->second, program)
            << seed;
        schedule->peers(port, said);
        schedule->Schedule::peers(port, found);
        EXPECT_EQ(said.receives, found.receives) << seed;
        EXPECT_EQ(said.sends, found.sends) << seed;
        const Loop loop = schedule->loop(port);
        EXPECT_LE(loop.first + loop.count * loop.length, schedule->action_count(port)) << seed;
        for (std::int64_t k = loop.first; k < loop.first + (loop.count - 1) * loop.length; ++k) {
          schedule->action(port, k, action);
          schedule->action(port, k + loop.length, later);
          ASSERT_EQ(action.bytes, later.bytes) << seed;
          ASSERT_EQ(serves_itself(action), serves_itself(later)) << seed;
          ASSERT_TRUE(std::ranges::equal(action.recv, later.recv)) << seed;
          ASSERT_TRUE(std::ranges::equal(action.send, later.send)) << seed;
        }
      }
  }
}

/// Work is counted, not timed: a change that makes the engine do more shows here.
TEST(SpeedUps, DoAsFewEventsAsTheyDid) {
  CollectiveCall call;
  call.ranks = 64;
  call.size.bytes = 1 << 30;
  const auto events = [&](std::int64_t chunk, const SpeedUps& speed_ups) {
    const auto ring = make_simple_ring(call, 2, {chunk, chunk}).value();
    Connection price;
    price.latency = Time::us(1);
    const Fabric fabric = star(64, Rate::GBs(50));
    return testing::run(*make_flow_engine(speed_ups), fabric, *ring, StarWiring(64, price)).events;
  };
  const std::int64_t whole = (1 << 30) / 64 / 2, parts = whole / 32;
  const std::uint64_t messages = 2 * 64 * 126;
  EXPECT_EQ(events(whole, SpeedUps::none()), 2 * messages);
  EXPECT_EQ(events(whole, {true, false, false}), 2 * 126u);
  EXPECT_EQ(events(parts, SpeedUps::none()), 32 * 2 * messages);
  EXPECT_LE(events(parts, {false, false, true}), 6 * 2 * messages);
  EXPECT_LE(events(parts, {}), 6 * 2 * 126u);
}

}  // namespace
}  // namespace isleway
