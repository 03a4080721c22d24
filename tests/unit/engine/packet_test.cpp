// The packet engine on small machines where the right time can be told.
#include "isleway/engine/packet.hpp"

#include "unit/engine/fakes.hpp"

namespace isleway {
namespace {

using testing::run;
using testing::star;
using testing::StarWiring;
using testing::WrittenSchedule;

PacketOptions options() {
  PacketOptions options;
  options.rules =
      link::Rules::from(Parts::load(ISLEWAY_SOURCE_DIR "/machines/parts").value()).value();
  return options;
}

Outcome packets(const Fabric& fabric, const Schedule& schedule, const Wiring& wiring,
                const PacketOptions& with = options()) {
  return run(*make_packet_engine(with), fabric, schedule, wiring);
}

constexpr std::int64_t kMiB = 1 << 20;

/// Each of `senders` ranks sends `bytes` to the rank after the last of them.
WrittenSchedule incast(int senders, std::int64_t bytes) {
  WrittenSchedule schedule(senders + 1, senders + 1);
  for (int i = 0; i < senders; ++i) {
    schedule.add({i, 0}, bytes, {}, {{senders, i}});
    schedule.add({senders, i}, bytes, {{i, 0}}, {});
  }
  return schedule;
}

TEST(PacketEngine, OneMessageTakesItsBytesAndOnePacketALink) {
  const Fabric fabric = star(2, Rate::GBs(100));
  WrittenSchedule schedule(2, 1);
  schedule.add({0, 0}, kMiB, {}, {{1, 0}}).add({1, 0}, kMiB, {{0, 0}}, {});
  Connection price;
  price.latency = Time::us(1);
  const Outcome outcome = packets(fabric, schedule, StarWiring(2, price));
  const double bytes_us = kMiB / 100e3;
  EXPECT_GE(outcome.time.us(), bytes_us + 1);
  EXPECT_LE(outcome.time.us(), bytes_us + 1 + 3 * 144 / 100e3);
  // What it was on the wire.
  ASSERT_EQ(outcome.counters.size(), 2U);
  EXPECT_EQ(outcome.counters[0].counters.data_bytes, std::uint64_t{kMiB});
  EXPECT_EQ(outcome.counters[0].counters.packets, std::uint64_t{kMiB} / 128);
  EXPECT_EQ(outcome.counters[0].counters.raw_bytes, std::uint64_t{kMiB} / 128 * 144);
  EXPECT_LT(outcome.events, 10U) << "a train that meets nobody";
}

TEST(PacketEngine, WholeTrainsAndSinglePacketsTakeTheSameTime) {
  const Fabric fabric = star(4, Rate::GBs(25));
  WrittenSchedule schedule(4, 1);
  schedule.add({0, 0}, kMiB, {}, {{1, 0}}).add({1, 0}, kMiB, {{0, 0}}, {{2, 0}});
  schedule.add({2, 0}, kMiB, {{1, 0}}, {{3, 0}}).add({3, 0}, kMiB, {{2, 0}}, {});
  PacketOptions single = options();
  single.most_trains = 0;
  single.whole_when_alone = false;
  for (const double cap : {10.0, 1000.0}) {
    Connection price;
    price.latency = Time::us(1);
    price.cap = Rate::GBs(cap);
    const StarWiring wiring(4, price);
    const Outcome whole = packets(fabric, schedule, wiring);
    const Outcome each = packets(fabric, schedule, wiring, single);
    EXPECT_NEAR(whole.time.us(), each.time.us(), 0.03) << cap;
    EXPECT_LT(whole.events * 100, each.events);
  }
}

TEST(PacketEngine, SendersOfOneReceiverShareItsLinkFairly) {
  const Fabric fabric = star(9, Rate::GBs(50));
  const auto schedule = incast(8, kMiB);
  Connection price;
  price.latency = Time::us(1);
  const Outcome outcome = packets(fabric, schedule, StarWiring(9, price));
  const double bytes_us = 8 * kMiB / 50e3;
  EXPECT_GE(outcome.time.us(), bytes_us + 1);
  EXPECT_LE(outcome.time.us(), 1.01 * bytes_us + 1);
}

TEST(PacketEngine, ALateComerCutsATrain) {
  // Rank 0 has sent for half its time when rank 1 starts to the same receiver: from then on the
  // link is shared, packet by packet, and both end as if it always had been.
  const Fabric fabric = star(3, Rate::GBs(50));
  WrittenSchedule schedule(3, 2);
  schedule.add({0, 0}, 2 * kMiB, {}, {{2, 0}}).add({2, 0}, 2 * kMiB, {{0, 0}}, {});
  // A message to itself of the right length delays rank 1.
  schedule.add({1, 1}, kMiB, {}, {{1, 0}});
  schedule.add({1, 0}, kMiB, {{1, 1}}, {{2, 1}}).add({2, 1}, kMiB, {{1, 0}}, {});
  class Delayed final : public Wiring {
   public:
    explicit Delayed(const Wiring& base) : base_(base) {}
    Connection connection(Port from, Port to) const override {
      Connection c = base_.connection(from, to);
      if (from.agent == to.agent) {
        c.route = nullptr;
        c.cap = Rate::GBs(50);
        c.latency = Time();
      }
      return c;
    }
    Time start() const override { return Time(); }

   private:
    const Wiring& base_;
  };
  Connection price;
  price.latency = Time::us(1);
  const StarWiring base(3, price);
  const Delayed wiring(base);
  const double one = kMiB / 50e3;
  const double flow = run(*make_flow_engine(), fabric, schedule, wiring).time.us();
  const double packet = packets(fabric, schedule, wiring).time.us();
  EXPECT_NEAR(flow, 3 * one + 1, 0.01);
  EXPECT_NEAR(packet, flow, 0.01 * flow);
  PacketOptions single = options();
  single.most_trains = 0;
  single.whole_when_alone = false;
  EXPECT_NEAR(packet, packets(fabric, schedule, wiring, single).time.us(), 0.01 * flow);
}

TEST(PacketEngine, FullBuffersHoldUpTheSenderAndNothingIsLost) {
  // Eight senders' packets meet at one link; with credits, no buffer holds more than it has.
  const Fabric fabric = star(9, Rate::GBs(50));
  const auto schedule = incast(8, kMiB);
  PacketOptions without = options();
  without.flow_control = false;
  Connection price;
  price.latency = Time::us(1);
  const StarWiring wiring(9, price);
  const Outcome held = packets(fabric, schedule, wiring);
  const Outcome free = packets(fabric, schedule, wiring, without);
  EXPECT_NEAR(held.time.us() / free.time.us(), 1, 0.01);
  std::uint64_t waited = 0, waited_without = 0;
  for (const LinkCounters& c : held.counters) waited += c.counters.wait_ps;
  for (const LinkCounters& c : free.counters) waited_without += c.counters.wait_ps;
  EXPECT_GT(waited, 0U);
  EXPECT_EQ(waited_without, 0U);
}

TEST(PacketEngine, SmallMessagesPayForTheirHeaders) {
  // 16 bytes are two flits where 128 are nine: 56% instead of 100% of the payload rate.
  const Fabric fabric = star(2, Rate::GBs(1));
  WrittenSchedule schedule(2, 1);
  for (int i = 0; i < 1000; ++i)
    schedule.add({0, 0}, 16, {}, {{1, 0}}).add({1, 0}, 16, {{0, 0}}, {});
  Connection price;
  price.credits = 2000;
  const double flow = run(*make_flow_engine(), fabric, schedule, StarWiring(2, price)).time.us();
  const double packet = packets(fabric, schedule, StarWiring(2, price)).time.us();
  EXPECT_NEAR(packet / flow, (32.0 / 16) / (144.0 / 128), 0.01);
}

TEST(PacketEngine, WrongBitsCostReplaysByTheSeed) {
  const Fabric fabric = star(2, Rate::GBs(25));
  WrittenSchedule schedule(2, 1);
  schedule.add({0, 0}, 64 * kMiB, {}, {{1, 0}}).add({1, 0}, 64 * kMiB, {{0, 0}}, {});
  Connection price;
  price.latency = Time::us(1);
  const StarWiring wiring(2, price);
  PacketOptions bad = options();
  bad.bit_error_rate = 1e-7;
  const Outcome clean = packets(fabric, schedule, wiring);
  const Outcome errors = packets(fabric, schedule, wiring, bad);
  ASSERT_EQ(errors.counters.size(), 2U);
  // 64 MiB x 9/8 x 8 bits x 1e-7: 60 expected on each of both links.
  const link::Counters& counters = errors.counters[0].counters;
  EXPECT_NEAR(static_cast<double>(counters.symbol_errors), 60, 40);
  EXPECT_GE(counters.replays, counters.symbol_errors / 2);
  EXPECT_EQ(counters.crc_flit_errors + counters.crc_data_errors, counters.replays);
  EXPECT_NEAR(counters.effective_ber(), 1e-7, 0.7e-7);
  EXPECT_GT(errors.time, clean.time);
  EXPECT_EQ(clean.counters[0].counters.replays, 0U);
  // The same seed gives the same, another one others.
  EXPECT_EQ(packets(fabric, schedule, wiring, bad).time, errors.time);
  bad.seed = 2;
  EXPECT_NE(packets(fabric, schedule, wiring, bad).counters[0].counters, counters);
}

TEST(PacketEngine, SaysWhichLinkCarriesNothing) {
  const Fabric fabric = star(2, Rate::GBs(25));
  WrittenSchedule schedule(2, 1);
  schedule.add({0, 0}, kMiB, {}, {{1, 0}}).add({1, 0}, kMiB, {{0, 0}}, {});
  PacketOptions bad = options();
  bad.bit_error_rate = 0.1;
  const auto outcome = make_packet_engine(bad)->run(fabric, schedule, StarWiring(2, Connection{}));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().text().find("every packet arrives damaged"), std::string::npos)
      << outcome.error().text();
  const auto dead =
      make_packet_engine(options())->run(star(2, Rate()), schedule, StarWiring(2, Connection{}));
  ASSERT_FALSE(dead);
  EXPECT_NE(dead.error().text().find("carries nothing"), std::string::npos);
}

TEST(PacketEngine, NamesWhoWaitsForEver) {
  const Fabric fabric = star(2, Rate::GBs(25));
  WrittenSchedule schedule(2, 1);
  schedule.add({0, 0}, 16, {{1, 0}}, {});
  const auto outcome =
      make_packet_engine(options())->run(fabric, schedule, StarWiring(2, Connection{}));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().text().find("rank 0 stream 0"), std::string::npos);
}

}  // namespace
}  // namespace isleway
