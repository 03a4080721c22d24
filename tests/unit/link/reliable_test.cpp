// Replay, acknowledgements and credits: whatever happens on the wire, each packet arrives once.
#include <gtest/gtest.h>

#include "isleway/link.hpp"

namespace isleway::link {
namespace {

ReliableRules rules() {
  ReliableRules rules;
  rules.flit = Time::ps(640);  // 25 GB/s
  rules.latency = Time::ns(100);
  rules.replay_packets = 64;
  rules.credits = 64;
  rules.timeout = Time::us(1);
  rules.recovery = Time::us(100);
  return rules;
}

std::vector<Packet> packets(std::size_t count, std::size_t bytes = 256) {
  std::vector<Packet> packets(count);
  for (std::size_t i = 0; i < count; ++i) {
    packets[i].kind = Packet::Kind::write;
    packets[i].address = i;
    packets[i].data.assign(bytes, static_cast<std::uint8_t>(i));
  }
  return packets;
}

void expect_each_once(const ReliableResult& result, std::size_t count) {
  ASSERT_EQ(result.received.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(result.received[i].address, i);
    ASSERT_EQ(result.received[i].data.front(), static_cast<std::uint8_t>(i));
  }
}

TEST(Replay, AGoodLinkRunsAtItsRate) {
  const auto result = send_reliably(packets(1000), rules(), {}, {}).value();
  expect_each_once(result, 1000);
  EXPECT_EQ(result.counters.replays, 0U);
  EXPECT_EQ(result.counters.data_bytes, 256'000U);
  EXPECT_EQ(result.counters.raw_bytes, 272'000U);
  // 17 flits each, then there and back.
  EXPECT_EQ(result.time, Time::ps(1000 * 17 * 640) + 2 * Time::ns(100));
}

TEST(Replay, DamageCostsTimeButNoPacket) {
  for (const double ber : {1e-6, 1e-5, 1e-4, 3e-4}) {
    const auto result =
        send_reliably(packets(5000), rules(), BitErrors(ber, 7, 0), BitErrors(ber, 7, 1)).value();
    expect_each_once(result, 5000);
    EXPECT_GE(result.counters.replays, 1U) << ber;
    EXPECT_GT(result.counters.raw_bytes, 272U * 5000) << ber;
    EXPECT_GT(result.counters.crc_data_errors + result.counters.crc_flit_errors, 0U) << ber;
  }
}

TEST(Replay, LastsAsLongAsGoingBackMust) {
  // One wrong bit in the middle of a row: everything after the damaged packet is sent again,
  // once the sender has heard of it.
  const double ber = 1e-6;
  const auto good = send_reliably(packets(2000), rules(), {}, {}).value();
  const auto damaged = send_reliably(packets(2000), rules(), BitErrors(ber, 3, 0), {}).value();
  ASSERT_GE(damaged.counters.replays, 1U);
  const Time each = 2 * Time::ns(100) + Time::ps(17 * 640);
  const Time lost = damaged.time - good.time;
  const auto errors = static_cast<std::int64_t>(damaged.counters.replays);
  EXPECT_GE(lost, (errors - 1) * each);
  EXPECT_LE(lost, errors * (each + Time::ps(17 * 640)));
}

TEST(Replay, OnlyAcknowledgementsLost) {
  const auto result = send_reliably(packets(3000), rules(), {}, BitErrors(2e-4, 5, 0)).value();
  expect_each_once(result, 3000);
  EXPECT_EQ(result.counters.crc_data_errors, 0U);
}

TEST(Replay, GivesUpOnALinkThatCarriesNothing) {
  const auto result = send_reliably(packets(3), rules(), BitErrors(0.3, 1, 0), {});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().text().find("damaged"), std::string::npos);
}

TEST(Replay, TrainsAnewAfterManyReplays) {
  const auto result = send_reliably(packets(200), rules(), BitErrors(5e-4, 1, 0), {}).value();
  expect_each_once(result, 200);
  EXPECT_GT(result.counters.recoveries, 0U);
}

TEST(Credits, ASlowReceiverSetsThePace) {
  ReliableRules slow = rules();
  slow.credits = 4;
  slow.drain = Time::ns(50);
  const auto result = send_reliably(packets(1000), slow, {}, {}).value();
  expect_each_once(result, 1000);
  EXPECT_GE(result.time, Time::ns(50) * 1000);
  // Four packets for each round trip and the time to pass one on.
  slow.drain = Time();
  const auto bound = send_reliably(packets(1000), slow, {}, {}).value();
  EXPECT_NEAR(bound.time.us(), 1000 / 4 * (0.2 + 17 * 640e-6), 0.3);
}

TEST(Credits, AreCountedForEachVirtualChannel) {
  ReliableRules slow = rules();
  slow.credits = 4;
  auto two = packets(1000);
  for (std::size_t i = 0; i < two.size(); ++i) two[i].virtual_channel = i % 2;
  const auto result = send_reliably(two, slow, {}, {}).value();
  expect_each_once(result, 1000);
  const auto one = send_reliably(packets(1000), slow, {}, {}).value();
  EXPECT_NEAR(result.time.us() / one.time.us(), 0.5, 0.05);
}

TEST(Gate, CreditsAndPauseFrames) {
  Gate credits({.limit_bytes = 1000, .limit_packets = 3});
  EXPECT_TRUE(credits.open(2000, 1));  // nothing is smaller than one packet
  credits.sent(300, 1);
  EXPECT_TRUE(credits.open(700, 1));
  EXPECT_FALSE(credits.open(701, 1));
  credits.sent(300, 2);
  EXPECT_FALSE(credits.open(1, 1));  // no header credit is left
  credits.returned(300, 1);
  EXPECT_TRUE(credits.open(1, 1));

  Gate pause({.limit_bytes = 1000, .resume_bytes = 500});
  pause.sent(1000, 1);
  EXPECT_FALSE(pause.open(1, 1));
  pause.returned(400, 1);
  EXPECT_FALSE(pause.open(1, 1)) << "paused until it has fallen to 500";
  pause.returned(100, 1);
  EXPECT_TRUE(pause.open(1, 1));
  EXPECT_EQ(pause.pauses(), 1U);
}

}  // namespace
}  // namespace isleway::link
