// Execution traces again: what waits for what, who shares links, what does not fit together.
#include "isleway/nccl/replay.hpp"

#include <gtest/gtest.h>

#include <set>

#include "isleway/fabric/join.hpp"

namespace isleway::nccl {
namespace {

using formats::ExecutionTrace;
using formats::TraceNode;
using Kind = TraceNode::Kind;

const Catalogue& catalogue() {
  static const Catalogue opened = Catalogue::open(ISLEWAY_SOURCE_DIR "/machines").value();
  return opened;
}

Fabric machine(int ranks) {
  return with_first_ranks(catalogue().fabric("dgx-h100").value(), ranks).value();
}

TraceNode compute(std::uint64_t id, std::uint64_t us, std::vector<std::uint64_t> after = {}) {
  TraceNode node;
  node.id = id;
  node.kind = Kind::compute;
  node.duration_us = us;
  node.after = std::move(after);
  return node;
}

TraceNode all_reduce(std::uint64_t id, std::int64_t bytes, const std::string& group = "",
                     std::vector<std::uint64_t> after = {}) {
  TraceNode node;
  node.id = id;
  node.kind = Kind::collective;
  node.bytes = bytes;
  node.group = group;
  node.after = std::move(after);
  return node;
}

TraceNode message(std::uint64_t id, bool sends, int from, int to, std::int64_t bytes) {
  TraceNode node;
  node.id = id;
  node.kind = sends ? Kind::send : Kind::receive;
  node.source = from;
  node.target = to;
  node.bytes = bytes;
  return node;
}

std::vector<ExecutionTrace> traces(std::vector<std::vector<TraceNode>> nodes) {
  std::vector<ExecutionTrace> all;
  for (auto& one : nodes)
    all.push_back({"rank" + std::to_string(all.size()) + ".et", "", std::move(one)});
  return all;
}

Result<Replay> run(const std::vector<ExecutionTrace>& all, const ReplayOptions& options = {}) {
  Notices notices;
  return replay(machine(static_cast<int>(all.size())), catalogue().parts(), all, options, notices);
}

TEST(Replay, ComputesOneThingAtATime) {
  // 1 and 2 could run side by side; a GPU runs them in turn.
  const auto result = run(traces({{compute(1, 10), compute(2, 20), compute(3, 5, {1})}})).value();
  EXPECT_EQ(result.time, Time::us(35));
  EXPECT_EQ(result.ranks[0].computing, Time::us(35));
  EXPECT_EQ(result.ranks[0].exposed, Time());
}

TEST(Replay, NodesOfTheCpuRunBeside) {
  TraceNode cpu = compute(2, 20);
  cpu.on_cpu = true;
  EXPECT_EQ(run(traces({{compute(1, 10), cpu}})).value().time, Time::us(20));
}

TEST(Replay, CallsTakeWhatTheEngineSays) {
  constexpr std::int64_t bytes = 64 << 20;
  const auto result = run(traces({{all_reduce(1, bytes)}, {all_reduce(1, bytes)}})).value();
  const Fabric fabric = machine(2);
  const auto communicator = Communicator::create(fabric, catalogue().parts(), {}).value();
  const CollectiveCall call{Collective::all_reduce, {bytes, 4}, 2};
  const auto decision = communicator->decide(call).value();
  const auto schedule = communicator->schedule(call, decision).value();
  const auto wiring = communicator->wiring(call, decision);
  EXPECT_EQ(result.time, make_flow_engine()->run(fabric, *schedule, *wiring).value().time);
  ASSERT_EQ(result.calls.size(), 1U);
  EXPECT_EQ(result.calls[0].ranks, (std::vector<int>{0, 1}));
  EXPECT_EQ(result.ranks[1].exposed, result.time);
}

TEST(Replay, ACallWaitsForItsLastRank) {
  const auto result = run(traces({{compute(1, 50), all_reduce(2, 4096, "", {1})},
                                  {compute(1, 90), all_reduce(2, 4096, "", {1})}}))
                          .value();
  EXPECT_EQ(result.calls[0].begin, Time::us(90));
}

TEST(Replay, ComputingHidesCommunication) {
  const auto both = [](std::uint64_t us) {
    return std::vector<TraceNode>{all_reduce(1, 256 << 20), compute(2, us)};
  };
  const auto result = run(traces({both(100), both(100'000)})).value();
  EXPECT_EQ(result.ranks[0].exposed, result.ranks[0].communicating - Time::us(100));
  EXPECT_EQ(result.ranks[1].exposed, Time());
}

TEST(Replay, AGroupUsesTheLinksOfItsOwnGpus) {
  std::vector<std::vector<TraceNode>> nodes(6);
  nodes[2] = {message(1, true, 2, 5, 1 << 20)};
  nodes[5] = {message(1, false, 2, 5, 1 << 20)};
  const auto result = run(traces(nodes)).value();
  const Fabric fabric = machine(6);
  std::set<std::string> used;
  for (const LinkLoad& load : result.loads) used.insert(fabric.link_name(load.link).substr(0, 4));
  EXPECT_EQ(used, (std::set<std::string>{"GPU2", "GPU5"}));
  ASSERT_EQ(result.calls.size(), 1U);
  EXPECT_EQ(result.calls[0].what, "send");
}

TEST(Replay, GroupsBesideOneAnotherShareLinks) {
  std::vector<std::vector<TraceNode>> one(4), both(4);
  for (const std::size_t r : {0, 1, 2, 3}) {
    const std::string all = "all", pair = r < 2 ? "low" : "high";
    one[r] = {all_reduce(1, 256 << 20, all)};
    both[r] = {all_reduce(1, 256 << 20, all), all_reduce(2, 256 << 20, pair)};
  }
  const auto length = [](const ReplayedCall& call) { return call.end - call.begin; };
  const auto alone = run(traces(one)).value(), beside = run(traces(both)).value();
  Time slowed;
  for (const ReplayedCall& call : beside.calls)
    if (call.group == "all") slowed = length(call);
  EXPECT_GT(slowed, length(alone.calls[0]).scaled(1.2));
}

TEST(Replay, MadeUpNodesNeedAComputer) {
  TraceNode node = compute(1, 0);
  node.operations = 1'000'000'000;
  EXPECT_FALSE(run(traces({{node}})));
  ReplayOptions options;
  options.flops = 1e12;
  EXPECT_EQ(run(traces({{node}}), options).value().time, Time::us(1000));
  node.tensor_bytes = 4'000'000'000;
  options.memory_rate = Rate::GBs(2000);
  EXPECT_EQ(run(traces({{node}}), options).value().time, Time::us(2000));
}

TEST(Replay, GroupsMayBeGiven) {
  // Rank 2 never calls, so that without --groups it would not be missed.
  const auto nodes = traces({{all_reduce(1, 64, "g")}, {all_reduce(1, 64, "g")}, {compute(1, 1)}});
  EXPECT_TRUE(run(nodes));
  ReplayOptions options;
  options.groups["g"] = {0, 1, 2};
  const auto result = run(nodes, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().where.file, "rank2.et");
}

TEST(Replay, TracesThatDoNotFitAreErrors) {
  const auto what = [](std::vector<std::vector<TraceNode>> nodes) {
    const auto result = run(traces(std::move(nodes)));
    EXPECT_FALSE(result);
    return result ? "" : result.error().what;
  };
  EXPECT_NE(what({{all_reduce(1, 64)}, {all_reduce(1, 128)}}).find("is another than on rank 0"),
            std::string::npos);
  EXPECT_NE(what({{all_reduce(1, 64)}, {compute(1, 1)}}).find("has 0 collectives"),
            std::string::npos);
  EXPECT_NE(what({{message(1, true, 0, 1, 64)}, {}}).find("no such receive"), std::string::npos);
  EXPECT_NE(what({{message(1, true, 0, 7, 64)}, {}}).find("sends to rank 7"), std::string::npos);
  EXPECT_NE(what({{compute(1, 1, {2}), compute(2, 1, {1})}}).find("waits, over others, for itself"),
            std::string::npos);
  EXPECT_NE(what({{compute(1, 1), compute(1, 1)}}).find("two nodes of id 1"), std::string::npos);
}

TEST(Replay, NamesDependenciesThatAreNotThere) {
  Notices notices;
  const auto all = traces({{compute(1, 3, {99})}});
  EXPECT_TRUE(replay(machine(1), catalogue().parts(), all, {}, notices));
  EXPECT_EQ(notices.size(), 1U);
}

}  // namespace
}  // namespace isleway::nccl
