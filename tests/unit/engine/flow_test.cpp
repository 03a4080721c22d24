#include <gtest/gtest.h>

#include "unit/engine/fakes.hpp"

namespace isleway {
namespace {

using testing::run;
using testing::star;
using testing::StarWiring;
using testing::WrittenSchedule;

// A rate of 1 GB/s moves one byte a nanosecond: times below can be added up by hand.
const Rate kByteANanosecond = Rate::GBs(1);

class FlowEngine : public ::testing::Test {
 protected:
  Outcome flow(const Schedule& schedule, const Wiring& wiring) {
    return run(*make_flow_engine(), fabric, schedule, wiring);
  }
  Fabric fabric = star(4, kByteANanosecond);
};

TEST_F(FlowEngine, OneMessageCostsStartOverheadBytesLatencyAndFinish) {
  WrittenSchedule schedule(4, 1);
  schedule.add({0, 0}, 1000, {}, {{1, 0}}).add({1, 0}, 1000, {{0, 0}}, {});
  Connection price;
  price.overhead = Time::ns(10);
  price.latency = Time::ns(300);
  price.wire_expansion = 2;
  StarWiring wiring(4, price);
  wiring.launch = Time::us(5);
  wiring.done = Time::us(1);
  const Outcome outcome = flow(schedule, wiring);
  EXPECT_EQ(outcome.time, Time::ns(5000 + 10 + 2000 + 300 + 1000));
  ASSERT_EQ(outcome.loads.size(), 2u);
  EXPECT_EQ(outcome.loads[0].wire_bytes, 2000);
  EXPECT_TRUE(outcome.loads[0].forward);
  EXPECT_FALSE(outcome.loads[1].forward);
  EXPECT_EQ(outcome.bottleneck, 0);
  EXPECT_NEAR(outcome.latency_share, 6310.0 / 8310, 1e-9);
}

TEST_F(FlowEngine, TwoSendersIntoOneReceiverShareItsLinkUntilOneIsDone) {
  WrittenSchedule schedule(4, 1);
  schedule.add({0, 0}, 1000, {}, {{2, 0}}).add({1, 0}, 3000, {}, {{2, 0}});
  schedule.add({2, 0}, 1000, {{0, 0}}, {}).add({2, 0}, 3000, {{1, 0}}, {});
  // 2000 ns at half rate each, then the rest of the longer one alone.
  EXPECT_EQ(flow(schedule, StarWiring(4)).time, Time::ns(2000 + 2000));
}

TEST_F(FlowEngine, ACapLeavesTheRestToOthersAndIsReported) {
  WrittenSchedule schedule(4, 1);
  schedule.add({0, 0}, 1000, {}, {{1, 0}}).add({1, 0}, 1000, {{0, 0}}, {});
  Connection price;
  price.cap = Rate::GBs(0.25);
  const Outcome outcome = flow(schedule, StarWiring(4, price));
  EXPECT_EQ(outcome.time, Time::ns(4000));
  EXPECT_TRUE(outcome.limited_by_sender);
  EXPECT_NEAR(outcome.loads[0].busy, 0.25, 1e-9);
}

TEST_F(FlowEngine, CreditsHoldTheSenderUntilTheReceiverHasPassedTheMessageOn) {
  // 0 -> 1 -> 2. With one credit, 0 may send again only when 1 has forwarded to 2.
  WrittenSchedule schedule(4, 1);
  for (int i = 0; i < 3; ++i) {
    schedule.add({0, 0}, 100, {}, {{1, 0}});
    schedule.add({1, 0}, 100, {{0, 0}}, {{2, 0}});
    schedule.add({2, 0}, 100, {{1, 0}}, {});
  }
  Connection price;
  price.credits = 1;
  EXPECT_EQ(flow(schedule, StarWiring(4, price)).time, Time::ns(600));
  price.credits = 2;  // now both hops work at once
  EXPECT_EQ(flow(schedule, StarWiring(4, price)).time, Time::ns(400));
}

TEST_F(FlowEngine, MulticastInTheSwitchLoadsTheSendersSideOnce) {
  // Agent 4 is in the switch: GPU 0 sends to it once, and it sends to every other GPU.
  WrittenSchedule schedule(4, 1, 5);
  schedule.add({0, 0}, 1000, {}, {{4, 0}});
  schedule.add({4, 0}, 1000, {{0, 0}}, {{1, 0}, {2, 0}, {3, 0}});
  for (int gpu = 1; gpu < 4; ++gpu) schedule.add({gpu, 0}, 1000, {{4, 0}}, {});
  const Outcome outcome = flow(schedule, StarWiring(4));
  EXPECT_EQ(outcome.time, Time::ns(2000));
  ASSERT_EQ(outcome.loads.size(), 4u);
  for (const LinkLoad& load : outcome.loads) EXPECT_EQ(load.wire_bytes, 1000);
}

TEST_F(FlowEngine, MoversOfUnequalEfficiencyShareOneLink) {
  Efficiency efficiency;
  efficiency.sm = 0.5;
  fabric = star(2, kByteANanosecond, efficiency);
  WrittenSchedule schedule(2, 1);
  schedule.add({0, 0}, 1000, {}, {{1, 0}}).add({1, 0}, 1000, {{0, 0}}, {});
  Connection price;
  EXPECT_EQ(flow(schedule, StarWiring(2, price)).time, Time::ns(2000));
  price.mover = Mover::copy_engine;
  EXPECT_EQ(flow(schedule, StarWiring(2, price)).time, Time::ns(1000));
}

TEST_F(FlowEngine, BothDirectionsOfAHalfDuplexLinkShareItsRate) {
  Efficiency efficiency;
  efficiency.duplex = 0.5;
  fabric = star(2, kByteANanosecond, efficiency);
  WrittenSchedule schedule(2, 2);
  for (int gpu : {0, 1}) {
    schedule.add({gpu, 0}, 1000, {}, {{1 - gpu, 1}});
    schedule.add({gpu, 1}, 1000, {{1 - gpu, 0}}, {});
  }
  Connection price;
  EXPECT_EQ(flow(schedule, StarWiring(2, price)).time, Time::ns(1000));  // SMs: full duplex
  price.mover = Mover::copy_engine;
  const Outcome outcome = flow(schedule, StarWiring(2, price));
  EXPECT_EQ(outcome.time, Time::ns(2000));
  EXPECT_NEAR(outcome.loads[0].busy, 1, 1e-9);
}

TEST_F(FlowEngine, LocalMessagesAndThoseOfNoBytesNeedNoLink) {
  WrittenSchedule schedule(4, 2);
  schedule.add({0, 0}, 1000, {}, {{0, 1}}).add({0, 1}, 1000, {{0, 0}}, {{1, 0}});
  schedule.add({1, 0}, 1000, {{0, 1}}, {});
  schedule.add({1, 0}, 0, {}, {{2, 0}}).add({2, 0}, 0, {{1, 0}}, {});
  const Outcome outcome = flow(schedule, StarWiring(4));
  EXPECT_EQ(outcome.time, Time::ns(1000));
  EXPECT_EQ(outcome.loads.size(), 2u);
}

TEST_F(FlowEngine, ACallWithoutMessagesTakesItsStartOnly) {
  StarWiring wiring(4);
  wiring.launch = Time::us(7);
  const Outcome outcome = flow(WrittenSchedule(4, 2), wiring);
  EXPECT_EQ(outcome.time, Time::us(7));
  EXPECT_EQ(outcome.bottleneck, -1);
}

TEST_F(FlowEngine, AScheduleThatWaitsForEverNamesThePorts) {
  WrittenSchedule schedule(4, 1);
  schedule.add({0, 0}, 8, {{1, 0}}, {{1, 0}}).add({1, 0}, 8, {{0, 0}}, {{0, 0}});
  const auto outcome = make_flow_engine()->run(fabric, schedule, StarWiring(4));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().what.find("rank 0 stream 0 at action 0 of 1 for a message from "
                                      "rank 1 stream 0"),
            std::string::npos)
      << outcome.error().text();
}

TEST_F(FlowEngine, ASenderThatIsNeverGivenACreditIsNamedToo) {
  WrittenSchedule schedule(4, 1);
  for (int i = 0; i < 9; ++i) schedule.add({0, 0}, 8, {}, {{1, 0}});
  const auto outcome = make_flow_engine()->run(fabric, schedule, StarWiring(4));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().what.find("at action 8 of 9 for a credit of rank 1"),
            std::string::npos);
}

TEST_F(FlowEngine, PeersThatDoNotExistAndDeadLinksAreErrorsNotHangs) {
  WrittenSchedule wrong(4, 1);
  wrong.add({0, 0}, 8, {}, {{9, 0}});
  EXPECT_FALSE(make_flow_engine()->run(fabric, wrong, StarWiring(4)));

  fabric = star(2, Rate());
  WrittenSchedule schedule(2, 1);
  schedule.add({0, 0}, 8, {}, {{1, 0}}).add({1, 0}, 8, {{0, 0}}, {});
  for (const char* engine : {"flow", "analytic"}) {
    const auto outcome = (*make_engine(engine))->run(fabric, schedule, StarWiring(2));
    ASSERT_FALSE(outcome) << engine;
    EXPECT_NE(outcome.error().what.find("GPU0-NVSwitch0"), std::string::npos);
  }
}

}  // namespace
}  // namespace isleway
