#include "virtual/device/timeline.hpp"

#include <gtest/gtest.h>

namespace isleway::vgpu {
namespace {

Work fixed(double us) {
  Work work;
  work.duration = Time::us(us);
  return work;
}

TEST(Timeline, WorkOfAStreamFollowsItself) {
  Timeline timeline;
  const auto stream = timeline.add_stream();
  timeline.put(stream, Time::us(10), fixed(5));
  const Ticket last = timeline.put(stream, Time::us(11), fixed(2));
  EXPECT_TRUE(timeline.run_until(last));
  EXPECT_EQ(last->end, Time::us(17));
}

TEST(Timeline, StreamsWaitForTickets) {
  Timeline timeline;
  const auto a = timeline.add_stream(), b = timeline.add_stream();
  const Ticket first = timeline.put(a, Time::us(1), fixed(100));
  timeline.wait(b, first);
  const Ticket after = timeline.put(b, Time::us(2), fixed(1));
  EXPECT_TRUE(timeline.run_until(after));
  EXPECT_EQ(after->end, Time::us(102));
}

class Flows : public testing::Test {
 protected:
  Flows() {
    const std::uint32_t link = timeline_.add_resource(100e9);
    const Usage use{link, 1};
    path_ = timeline_.add_path(std::span(&use, 1), 100e9);
    timeline_.add_path(std::span(&use, 1), 50e9);  // against traffic
  }
  Work flow(double bytes, double latency_us = 0) const {
    Work work;
    work.kind = Work::Kind::flow;
    work.flow = {path_, -1, bytes, Time::us(latency_us)};
    return work;
  }
  Timeline timeline_;
  std::uint32_t path_ = 0;
};

TEST_F(Flows, ShareALink) {
  const auto a = timeline_.add_stream(), b = timeline_.add_stream();
  const Ticket one = timeline_.put(a, Time(), flow(100e3));
  const Ticket two = timeline_.put(b, Time(), flow(200e3));
  EXPECT_TRUE(timeline_.run_until(two));
  EXPECT_NEAR(one->end.us(), 2, 1e-3);  // both at half the rate
  EXPECT_NEAR(two->end.us(), 3, 1e-3);  // then alone
}

TEST_F(Flows, ALaterOneSlowsAnEarlierOneDown) {
  const auto a = timeline_.add_stream(), b = timeline_.add_stream();
  const Ticket one = timeline_.put(a, Time(), flow(200e3));
  timeline_.advance(Time::us(1), false);
  EXPECT_FALSE(one->resolved);
  timeline_.put(b, Time::us(1), flow(100e3));
  EXPECT_TRUE(timeline_.run_until(one));
  EXPECT_NEAR(one->end.us(), 3, 1e-3);
}

TEST_F(Flows, LaunchesHideBehindTheCopyBefore) {
  const auto stream = timeline_.add_stream();
  Ticket last;
  for (int i = 0; i < 4; ++i) last = timeline_.put(stream, Time(), flow(1000e3, 2));
  EXPECT_TRUE(timeline_.run_until(last));
  EXPECT_NEAR(last->end.us(), 2 + 4 * 10, 1e-2);
  for (int i = 0; i < 4; ++i) last = timeline_.put(stream, Time::us(100), flow(1, 2));
  EXPECT_TRUE(timeline_.run_until(last));
  EXPECT_NEAR(last->end.us(), 100 + 4 * 2, 1e-2);
}

TEST(Timeline, ALatchOpensWhenTheHostWaits) {
  Timeline timeline;
  const auto stream = timeline.add_stream();
  Work latch;
  latch.kind = Work::Kind::latch;
  const Ticket open = timeline.put(stream, Time::us(1), std::move(latch));
  const Ticket after = timeline.put(stream, Time::us(2), fixed(3));
  timeline.advance(Time::us(50), false);
  EXPECT_FALSE(open->resolved);
  timeline.advance(Time::us(60), true);
  EXPECT_TRUE(timeline.run_until(after));
  EXPECT_EQ(open->end, Time::us(60));
  EXPECT_EQ(after->end, Time::us(63));
}

class TwoStreams final : public Joint {
 public:
  std::size_t streams() const override { return 2; }
  const void* group() const override { return group_of; }
  std::optional<JointTimes> begin(Time ready) override {
    if (!others_are_there) return std::nullopt;
    return JointTimes{ready + Time::us(10), ready + Time::us(4)};
  }
  bool others_are_there = true;
  const void* group_of = nullptr;
};

TEST(Timeline, AJointBeginsWhenItsLastStreamComes) {
  Timeline timeline;
  const auto a = timeline.add_stream(), b = timeline.add_stream();
  const auto joint = std::make_shared<TwoStreams>();
  joint->others_are_there = false;
  Work work;
  work.kind = Work::Kind::joint;
  work.joint = joint;
  const Ticket first = timeline.put(a, Time::us(1), work);
  timeline.put(b, Time::us(1), fixed(6));
  EXPECT_FALSE(timeline.run_until(first));
  const Ticket second = timeline.put(b, Time::us(2), work);
  EXPECT_FALSE(timeline.run_until(first));  // another process is missing
  joint->others_are_there = true;
  EXPECT_TRUE(timeline.run_until(first));
  EXPECT_EQ(first->end, Time::us(17));
  EXPECT_EQ(second->end, Time::us(17));
}

TEST(Timeline, JointsOfAGroupOverlap) {
  Timeline timeline;
  const auto a = timeline.add_stream(), b = timeline.add_stream();
  Ticket last;
  const int group = 0;
  for (int i = 0; i < 3; ++i) {
    const auto joint = std::make_shared<TwoStreams>();
    joint->group_of = &group;
    Work work;
    work.kind = Work::Kind::joint;
    work.joint = joint;
    timeline.put(a, Time(), work);
    last = timeline.put(b, Time(), work);
  }
  EXPECT_TRUE(timeline.run_until(last));
  EXPECT_EQ(last->end, Time::us(4 + 4 + 10));
}

}  // namespace
}  // namespace isleway::vgpu
