// The checker must find every way in which a schedule can be wrong.
#include <memory>

#include "isleway/collective/executor.hpp"
#include "unit/collective/prove.hpp"

namespace isleway {
namespace {

/// A right schedule with one action changed.
class Broken final : public Schedule {
 public:
  using Change = std::function<void(Action&)>;
  Broken(const Schedule& right, Port port, std::int64_t k, Change change)
      : right_(right), port_(port), k_(k), change_(std::move(change)) {}
  int ranks() const override { return right_.ranks(); }
  int agents() const override { return right_.agents(); }
  int streams() const override { return right_.streams(); }
  std::int64_t action_count(Port port) const override { return right_.action_count(port); }
  void action(Port port, std::int64_t k, Action& out) const override {
    right_.action(port, k, out);
    if (port == port_ && k == k_) change_(out);
  }
  std::vector<CriticalStep> critical_path() const override { return {}; }

 private:
  const Schedule& right_;
  Port port_;
  std::int64_t k_;
  Change change_;
};

/// Each returns whether it changed something that matters.
struct Mutation {
  const char* name;
  bool (*apply)(Action&);
};

const Mutation kMutations[] = {
    {"wrong source offset",
     [](Action& a) {
       if (a.source.buffer == Region::Buffer::none || a.bytes == 0) return false;
       a.source.offset += a.source.offset >= 4 ? -4 : 4;
       return true;
     }},
    {"wrong store offset",
     [](Action& a) {
       if (a.store.buffer == Region::Buffer::none || a.bytes == 0) return false;
       a.store.offset += a.store.offset >= 4 ? -4 : 4;
       return true;
     }},
    {"missing reduction",
     [](Action& a) {
       if (a.source.buffer == Region::Buffer::none || a.recv.empty() || a.bytes == 0) return false;
       a.source = {};
       return true;
     }},
    {"lost result",
     [](Action& a) {
       if (a.store.buffer == Region::Buffer::none || a.bytes == 0) return false;
       a.store = {};
       return true;
     }},
    {"message not sent",
     [](Action& a) {
       if (a.send.empty()) return false;
       a.send.clear();
       return true;
     }},
    {"message not taken",
     [](Action& a) {
       if (a.recv.empty()) return false;
       a.recv.clear();
       return true;
     }},
    {"swapped peer",
     [](Action& a) {
       if (a.send.empty()) return false;
       Port to = a.send[0];
       to.agent = to.agent == 0 ? 1 : 0;
       a.send.clear();
       a.send.push_back(to);
       return true;
     }},
    {"wrong size",
     [](Action& a) {
       if (a.bytes < 8) return false;
       a.bytes -= 4;
       return true;
     }},
};

struct Right {
  CollectiveCall call;
  std::unique_ptr<Schedule> schedule;
};

/// One of each algorithm and collective, small enough to try every mistake.
std::vector<Right> right_schedules() {
  constexpr Chunking kChunks{64, 32};
  const TreeShape tree{{1, -1, 1, 2}};
  const auto call = [](Collective collective, int ranks, std::int64_t bytes = 200) {
    return CollectiveCall{collective, {bytes, 4}, ranks, 1};
  };
  std::vector<Right> all;
  const auto add = [&](const CollectiveCall& c, Result<std::unique_ptr<Schedule>> schedule) {
    all.push_back({c, std::move(schedule.value())});
  };
  for (const Collective c : {Collective::all_reduce, Collective::all_gather,
                             Collective::reduce_scatter, Collective::broadcast, Collective::reduce})
    add(call(c, 3), make_simple_ring(call(c, 3), 1, kChunks));
  for (const Collective c : {Collective::all_reduce, Collective::broadcast, Collective::reduce})
    add(call(c, 4), make_tree(call(c, 4), {tree}, kChunks));
  for (const Collective c :
       {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter})
    add(call(c, 3), make_nvls(call(c, 3), 1, {{0, 1, 2}}, 3, kChunks));
  add(call(Collective::all_reduce, 4),
      make_nvls(call(Collective::all_reduce, 4), 1, {{0, 1}, {3, 2}}, 1, kChunks));
  for (const Collective c : {Collective::all_gather, Collective::reduce_scatter})
    add(call(c, 5), make_pat(call(c, 5), 1, kChunks));
  for (const Collective c :
       {Collective::all_to_all, Collective::gather, Collective::scatter, Collective::sendrecv})
    add(call(c, 4), make_point_to_point(call(c, 4), 2, 2, 2, kChunks));
  return all;
}

TEST(Checker, FindsEverySingleMistakeInEveryAlgorithm) {
  int mistakes = 0;
  for (const auto& [call, schedule] : right_schedules()) {
    ASSERT_TRUE(check_schedule(call, *schedule)) << describe(call);
    for (std::int32_t agent = 0; agent < schedule->agents(); ++agent)
      for (std::int32_t stream = 0; stream < schedule->streams(); ++stream)
        for (std::int64_t k = 0; k < schedule->action_count({agent, stream}); ++k)
          for (const Mutation& mutation : kMutations) {
            Action probe;
            schedule->action({agent, stream}, k, probe);
            if (!mutation.apply(probe)) continue;
            const Broken broken(*schedule, {agent, stream}, k,
                                [&](Action& a) { mutation.apply(a); });
            EXPECT_FALSE(check_schedule(call, broken))
                << describe(call) << ": " << mutation.name << " in action " << k << " of "
                << port_text(*schedule, {agent, stream});
            ++mistakes;
          }
  }
  EXPECT_GT(mistakes, 1000);
}

class CheckerTells : public testing::Test {
 protected:
  std::string verdict(std::int32_t rank, std::int64_t k, Broken::Change change) const {
    const auto ok = check_schedule(call_, Broken(*ring_, {rank, 0}, k, std::move(change)));
    return ok ? "right" : ok.error().what;
  }
  CollectiveCall call_{Collective::all_reduce, {48, 4}, 3, 0};
  std::unique_ptr<Schedule> ring_ = *make_simple_ring(call_, 1, {});
};

TEST_F(CheckerTells, WhoseContributionIsMissing) {
  EXPECT_EQ(verdict(1, 1, [](Action& a) { a.source = {}; }),
            "rank 0's output element 8 lacks rank 1's contribution");
}

TEST_F(CheckerTells, WhichElementWasNeverStored) {
  EXPECT_EQ(verdict(2, 4, [](Action& a) { a.store = {}; }), "rank 2 never stores output element 0");
}

TEST_F(CheckerTells, WhoWaitsForWhom) {
  EXPECT_EQ(verdict(0, 0, [](Action& a) { a.send.clear(); }),
            "the schedule waits for ever:\n"
            "  rank 1 stream 0 waits in action 4 for a message from rank 0 stream 0\n"
            "  rank 0 stream 0 has ended");
  const auto stuck = check_schedule(call_, *ring_, false, 1);
  EXPECT_EQ(stuck.error().what,
            "the schedule waits for ever:\n"
            "  rank 0 stream 0 waits in action 1 for a free slot at rank 1 stream 0\n"
            "  rank 1 stream 0 waits in action 1 for a free slot at rank 2 stream 0\n"
            "  rank 2 stream 0 waits in action 1 for a free slot at rank 0 stream 0");
}

TEST_F(CheckerTells, WhoLeavesMessages) {
  EXPECT_EQ(verdict(0, 4,
                    [](Action& a) {
                      a.recv.clear();
                      a.bytes = 0;
                      a.store = {};
                    }),
            "rank 0 stream 0 takes 1 messages too few from rank 2 stream 0");
}

TEST_F(CheckerTells, WhichRegionIsOutside) {
  EXPECT_EQ(verdict(1, 0, [](Action& a) { a.source.offset = 44; }),
            "action 0 of rank 1 stream 0 reads 16 bytes at 44 of an input of 48 bytes");
  EXPECT_EQ(verdict(1, 4, [](Action& a) { a.store.offset = -4; }),
            "action 4 of rank 1 stream 0 stores 16 bytes at -4 of an output of 48 bytes");
}

TEST_F(CheckerTells, WhichSizesDoNotAgree) {
  EXPECT_EQ(verdict(1, 0, [](Action& a) { a.bytes = 8; }),
            "action 1 of rank 2 stream 0 receives 8 bytes from rank 1 stream 0, but handles 16");
}

TEST_F(CheckerTells, WhatTwoStoresDisagreeAbout) {
  EXPECT_EQ(verdict(2, 4, [](Action& a) { a.store.offset = 32; }),
            "rank 2 stream 0 stores another value where rank 2's output element 8 was stored "
            "before");
}

TEST_F(CheckerTells, WhichPortDoesNotExist) {
  EXPECT_EQ(verdict(1, 0,
                    [](Action& a) {
                      a.send.push_back({7, 0});
                    }),
            "action 0 of rank 1 stream 0 names the port 7.0");
}

TEST(Executor, ReducesTheUsersOwnElements) {
  const CollectiveCall call{Collective::all_reduce, {40, 4}, 3, 0};
  const auto ring = *make_simple_ring(call, 2, {});
  std::vector<std::vector<float>> in(3, std::vector<float>(10)), out = in;
  std::vector<RankBuffers> buffers;
  for (int r = 0; r < 3; ++r) {
    for (int i = 0; i < 10; ++i) in[r][i] = static_cast<float>(r * 10 + i);
    buffers.push_back({std::as_bytes(std::span(in[r])), std::as_writable_bytes(std::span(out[r]))});
  }
  const auto add = [](std::span<std::byte> into, std::span<const std::byte> from) {
    auto* a = reinterpret_cast<float*>(into.data());
    const auto* b = reinterpret_cast<const float*>(from.data());
    for (std::size_t i = 0; i < into.size() / 4; ++i) a[i] += b[i];
  };
  ASSERT_TRUE(execute_schedule(*ring, buffers, add));
  for (int r = 0; r < 3; ++r)
    for (int i = 0; i < 10; ++i) EXPECT_EQ(out[r][i], static_cast<float>(30 + 3 * i));
}

}  // namespace
}  // namespace isleway
