// Training, congestion, counters, errors, constants.
#include "isleway/link.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace isleway::link {
namespace {

std::vector<Lane> lanes(std::size_t count) { return std::vector<Lane>(count); }

TrainingRules limits() {
  return {1e-4, Time::us(1000), Time::us(70'000), Time::us(7'000'000), Time::us(70'000)};
}

bool passed(const Training& training, LinkState state) {
  return std::ranges::find(training.history(), state, &Training::Step::state) !=
         training.history().end();
}

TEST(Training, ComesUpAtFullWidth) {
  Training training(4, limits());
  EXPECT_EQ(training.train(lanes(2)), Width::full);
  EXPECT_EQ(training.state(), LinkState::active);
  EXPECT_EQ(training.lanes_used(), 2);
  EXPECT_EQ(reported_state(training.state()), 3);
  EXPECT_TRUE(passed(training, LinkState::inittl));
  Training older(3, limits());
  EXPECT_EQ(older.train(lanes(4)), Width::full);
  EXPECT_FALSE(passed(older, LinkState::inittl)) << "a state that came with NVLink 4";
}

TEST(Training, UsesTheGoodHalf) {
  auto eight = lanes(8);
  eight[5].ber = 1e-3;
  Training training(2, limits());
  EXPECT_EQ(training.train(eight), Width::reduced);
  EXPECT_EQ(training.lanes_used(), 4);
  eight[1].detected = false;
  EXPECT_EQ(training.train(eight), Width::reduced);
  EXPECT_EQ(training.lanes_used(), 2);
  Link link;
  link.lanes = link.lanes_max = 8;
  link.link_rate = Rate::GBs(25);
  EXPECT_NEAR(trained(link, training).rate().GBs(), 25.0 / 4, 1e-9);
}

TEST(Training, EndsInFaultWithoutAnyLane) {
  auto two = lanes(2);
  two[0].detected = two[1].detected = false;
  Training training(4, limits());
  EXPECT_EQ(training.train(two), Width::failed);
  EXPECT_EQ(training.state(), LinkState::fault);
  EXPECT_EQ(training.history().back().at, Time::us(70'000));
  EXPECT_FALSE(passed(training, LinkState::safe));
  Link link;
  EXPECT_FALSE(trained(link, training).up());
  EXPECT_EQ(Training(4, limits()).train({}), Width::failed);
}

TEST(Training, RecoversWithFewerLanes) {
  auto four = lanes(4);
  Training training(3, limits());
  training.train(four);
  four[3].ber = 1e-2;
  EXPECT_EQ(training.recover(four), Width::reduced);
  EXPECT_EQ(training.lanes_used(), 2);
  EXPECT_EQ(training.state(), LinkState::active);
  EXPECT_EQ(training.recoveries(), 1U);
  for (Lane& lane : four) lane.ber = 1;
  EXPECT_EQ(training.recover(four), Width::failed);
  EXPECT_EQ(reported_state(training.state()), 4);
}

TEST(BitErrors, HaveTheirRateAndDependOnTheSeedAlone) {
  const auto positions = [](std::uint64_t seed, std::uint64_t step) {
    BitErrors errors(1e-4, seed, 3);
    std::vector<std::uint64_t> wrong;
    for (std::uint64_t at = 0; at < 10'000'000; at += step)
      errors.pass(step, [&](std::uint64_t bit) { wrong.push_back(at + bit); });
    return wrong;
  };
  const auto wrong = positions(1, 1000);
  EXPECT_NEAR(static_cast<double>(wrong.size()), 1000, 5 * std::sqrt(1000));
  EXPECT_TRUE(std::ranges::is_sorted(wrong));
  EXPECT_EQ(wrong, positions(1, 10'000)) << "how the bits are cut does not matter";
  EXPECT_NE(wrong, positions(2, 1000));
  int all = 0;
  BitErrors(1, 1, 1).pass(100, [&](std::uint64_t) { ++all; });
  EXPECT_EQ(all, 100);
  BitErrors().pass(UINT64_MAX - 1, [](std::uint64_t) { FAIL(); });
}

TEST(Counters, BitErrorRatesAsNvmlHoldsThem) {
  EXPECT_EQ(nvml_ber(1e-12), 0x10cU);
  EXPECT_EQ(nvml_ber(1.5e-12), 0x20cU);  // four bits of mantissa
  EXPECT_EQ(nvml_ber(0), 0xffU);
  EXPECT_EQ(nvml_ber(0.97e-3), 0x103U);
  for (double rate = 1e-18; rate < 0.5; rate *= 3) {
    EXPECT_LE(nvml_ber(rate), 0xfffU);
    EXPECT_NEAR(from_nvml_ber(nvml_ber(rate)) / rate, 1, 0.5);
  }
}

TEST(Counters, AddUp) {
  Counters a, b;
  a.replays = 2;
  a.received_bits = 1000;
  a.effective_errors = 1;
  b = a;
  a += b;
  EXPECT_EQ(a.replays, 4U);
  EXPECT_DOUBLE_EQ(a.effective_ber(), 1e-3);
  EXPECT_EQ(Counters().symbol_ber(), 0);
}

DcqcnRules dcqcn() {
  DcqcnRules rules;
  rules.alpha_timer = rules.increase_timer = Time::us(55);
  rules.additive = Rate::gbits(0.4);
  rules.hyper = Rate::gbits(4);
  rules.notification_gap = Time::us(50);
  rules.least = Rate::gbits(0.1);
  return rules;
}

TEST(Dcqcn, HalvesAtFirstAndComesBack) {
  const DcqcnRules rules = dcqcn();
  Dcqcn flow(rules, Rate::gbits(400));
  EXPECT_DOUBLE_EQ(flow.rate(Time::us(1000)).gbits(), 400);
  EXPECT_TRUE(flow.notified(Time::us(1000)));
  EXPECT_DOUBLE_EQ(flow.rate(Time::us(1000)).gbits(), 200);
  EXPECT_FALSE(flow.notified(Time::us(1049))) << "one notification in 50 us";
  // Fast recovery goes half way back to where it was, each time.
  EXPECT_DOUBLE_EQ(flow.rate(Time::us(1055)).gbits(), 300);
  EXPECT_DOUBLE_EQ(flow.rate(Time::us(1110)).gbits(), 350);
  EXPECT_NEAR(flow.rate(Time::us(5000)).gbits(), 400, 1e-6);
}

TEST(Dcqcn, NeverStops) {
  const DcqcnRules rules = dcqcn();
  Dcqcn flow(rules, Rate::gbits(400));
  for (int i = 0; i < 1000; ++i) flow.notified(Time::us(50 * i));
  EXPECT_GE(flow.rate(Time::us(50'000)).gbits(), 0.1);
  EXPECT_LT(flow.rate(Time::us(50'000)).gbits(), 50);
}

TEST(Ecn, MarksMoreAsTheQueueGrows) {
  const EcnRules ecn{Bytes(1000), Bytes(2000), 0.2};
  EXPECT_EQ(ecn.probability(1000), 0);
  EXPECT_DOUBLE_EQ(ecn.probability(1500), 0.1);
  EXPECT_EQ(ecn.probability(2000), 1);
}

TEST(Framing, IsThePublishedOne) {
  const Rules rules =
      Rules::from(Parts::load(ISLEWAY_SOURCE_DIR "/machines/parts").value()).value();
  EXPECT_NEAR(rules.nvlink_copy.efficiency(), 256.0 / 272, 1e-12);
  EXPECT_NEAR(rules.nvlink_sm.efficiency(), 128.0 / 144, 1e-12);
  EXPECT_EQ(rules.nvlink_copy.wire_bytes(1), 32);
  EXPECT_EQ(rules.nvlink_copy.wire_bytes(0), 0);
  EXPECT_EQ(rules.nvlink_copy.wire_bytes(257), 272 + 32);
  EXPECT_NEAR(rules.pcie.efficiency(), 256.0 / 280, 1e-12);
}

TEST(Rules, NamesTheConstantThatIsMissing) {
  const auto rules = Rules::from(Parts());
  ASSERT_FALSE(rules);
  EXPECT_NE(rules.error().text().find("nvlink.flit"), std::string::npos);
}

}  // namespace
}  // namespace isleway::link
