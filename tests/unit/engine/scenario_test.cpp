// Several jobs, other traffic and links that fail, against sums done by hand and against a
// simulation that does everything the long way.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "unit/engine/fakes.hpp"

namespace isleway {
namespace {

using testing::star;
using testing::StarWiring;
using testing::WrittenSchedule;

// A rate of 1 GB/s moves one byte a nanosecond: times below can be added up by hand.
const Rate kByteANanosecond = Rate::GBs(1);

/// Flows written out; each with its own way.
class WrittenTraffic final : public Traffic {
 public:
  WrittenTraffic& add(Time start, std::int64_t bytes, std::vector<Hop> hops,
                      Rate cap = Rate::unlimited()) {
    flows_.push_back({start, bytes, static_cast<std::uint32_t>(ways_.size())});
    Way way;
    for (const Hop& hop : hops) way.hops.push_back(hop);
    way.cap = cap;
    ways_.push_back(way);
    return *this;
  }
  std::uint32_t way_count() const override { return static_cast<std::uint32_t>(ways_.size()); }
  void way(std::uint32_t number, Way& out) const override { out = ways_[number]; }
  std::size_t flow_count() const override { return flows_.size(); }
  Flow flow(std::size_t number) const override { return flows_[number]; }

 private:
  std::vector<Way> ways_;
  std::vector<Flow> flows_;
};

WrittenSchedule one_message(int from, int to, std::int64_t bytes) {
  WrittenSchedule schedule(4, 1);
  schedule.add({from, 0}, bytes, {}, {{to, 0}}).add({to, 0}, bytes, {{from, 0}}, {});
  return schedule;
}

ScenarioOutcome outcome(const Scenario& scenario, const SpeedUps& speed_ups = {}) {
  const auto result = simulate(star(4, kByteANanosecond), scenario, speed_ups);
  if (!result) throw std::runtime_error(result.error().text());
  return *result;
}

TEST(Scenario, JobsThatRunAtTheSameTimeShareLinks) {
  const auto a = one_message(0, 2, 1000), b = one_message(1, 2, 3000);
  StarWiring wiring(4);
  Scenario scenario;
  scenario.jobs = {{&a, &wiring, Time(), {}}, {&b, &wiring, Time::ns(500), {}}};
  const auto result = outcome(scenario);
  EXPECT_EQ(result.jobs[0].end, Time::ns(500 + 1000));  // half of it alone
  EXPECT_EQ(result.jobs[1].begin, Time::ns(500));
  EXPECT_EQ(result.jobs[1].end, Time::ns(500 + 1000 + 2500));
  EXPECT_EQ(result.time, result.jobs[1].end);
}

TEST(Scenario, AJobBeginsWhenThoseItWaitsForHaveEndedAndItsDelayIsOver) {
  const auto a = one_message(0, 1, 1000), b = one_message(2, 3, 400);
  StarWiring wiring(4);
  wiring.launch = Time::ns(50);
  wiring.done = Time::ns(7);
  Scenario scenario;
  scenario.jobs = {{&a, &wiring, Time(), {}},
                   {nullptr, nullptr, Time::ns(5000), {}},
                   {&b, &wiring, Time::ns(100), {0, 1}}};
  const auto result = outcome(scenario);
  EXPECT_EQ(result.jobs[0].end, Time::ns(1057));
  EXPECT_EQ(result.jobs[1].end, Time::ns(5000));
  EXPECT_EQ(result.jobs[2].begin, Time::ns(5100));
  EXPECT_EQ(result.jobs[2].end, Time::ns(5100 + 457));
}

TEST(Scenario, WhatIsOnALinkThatFailsWaitsUntilItIsRepaired) {
  const auto a = one_message(0, 1, 1000);
  StarWiring wiring(4);
  Scenario scenario;
  scenario.jobs = {{&a, &wiring, Time(), {}}};
  scenario.changes = {{Time::ns(300), 1, 0}, {Time::ns(900), 1, 0.5}, {Time::ns(1300), 1, 1}};
  // 300 bytes, nothing, 200 bytes at half rate, the rest.
  EXPECT_EQ(outcome(scenario).jobs[0].end, Time::ns(1300 + 500));
  scenario.changes.resize(1);
  const auto stuck = simulate(star(4, kByteANanosecond), scenario);
  ASSERT_FALSE(stuck);
  EXPECT_NE(stuck.error().what.find("GPU1-NVSwitch0"), std::string::npos) << stuck.error().text();
}

TEST(Scenario, TrafficArrivesOverTimeAndSharesWithJobs) {
  const auto a = one_message(0, 1, 1000);
  StarWiring wiring(4);
  WrittenTraffic traffic;
  traffic.add(Time::ns(500), 200, {{1, false, 1}}).add(Time::ns(5000), 0, {{2, true, 1}});
  traffic.add(Time::ns(6000), 100, {{2, true, 1}}, Rate::GBs(0.1));
  Scenario scenario;
  scenario.jobs = {{&a, &wiring, Time(), {}}};
  scenario.traffic = &traffic;
  const auto result = outcome(scenario);
  EXPECT_EQ(result.flow_ends[0], Time::ns(900));
  EXPECT_EQ(result.flow_ends[1], Time::ns(5000));
  EXPECT_EQ(result.flow_ends[2], Time::ns(7000));
  EXPECT_EQ(result.jobs[0].end, Time::ns(1200));
}

TEST(Scenario, AJobLikeOneBeforeItIsRemembered) {
  const auto a = one_message(0, 1, 1000), b = one_message(2, 3, 400);
  StarWiring wiring(4);
  Scenario scenario;
  for (std::uint32_t i = 0; i < 10; ++i)
    scenario.jobs.push_back({i % 3 == 2 ? &b : &a, &wiring, Time::ns(10),
                             i == 0 ? std::vector<std::uint32_t>{} : std::vector{i - 1}});
  const auto plain = outcome(scenario, SpeedUps::none());
  const auto fast = outcome(scenario, {false, true, false});
  EXPECT_EQ(plain.events, 20u);
  EXPECT_EQ(fast.events, 4u);
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    EXPECT_EQ(fast.jobs[i].end, plain.jobs[i].end) << i;
    EXPECT_EQ(fast.jobs[i].busy, plain.jobs[i].busy) << i;
  }
  ASSERT_EQ(fast.loads.size(), plain.loads.size());
  for (std::size_t i = 0; i < fast.loads.size(); ++i)
    EXPECT_EQ(fast.loads[i].wire_bytes, plain.loads[i].wire_bytes);
}

TEST(Scenario, AJobThatMeetsOneLikeItIsNotRemembered) {
  const auto a = one_message(0, 1, 1000);
  StarWiring wiring(4);
  Scenario scenario;
  // The second is like the first; the third begins while it is under way.
  scenario.jobs = {
      {&a, &wiring, Time(), {}}, {&a, &wiring, Time(), {0}}, {&a, &wiring, Time::ns(400), {0}}};
  const auto result = outcome(scenario);
  EXPECT_EQ(result.jobs[1].end, Time::ns(1000 + 1600));
  EXPECT_EQ(result.jobs[2].end, Time::ns(1000 + 2000));
}

TEST(Scenario, WrongNumbersAreErrors) {
  const auto a = one_message(0, 1, 1000);
  StarWiring wiring(4);
  Scenario scenario;
  scenario.jobs = {{&a, &wiring, Time(), {0}}};
  EXPECT_FALSE(simulate(star(4, kByteANanosecond), scenario));
  scenario.jobs = {{&a, nullptr, Time(), {}}};
  EXPECT_FALSE(simulate(star(4, kByteANanosecond), scenario));
  scenario.jobs = {{&a, &wiring, Time(), {}}};
  scenario.changes = {{Time(), 99, 0}};
  EXPECT_FALSE(simulate(star(4, kByteANanosecond), scenario));
  scenario.changes = {{Time(), 0, -1}};
  EXPECT_FALSE(simulate(star(4, kByteANanosecond), scenario));
}

/// Every flow by itself: whenever anything happens, all rates are found anew by progressive
/// filling. Ends are whole picoseconds, rounded up.
std::vector<std::int64_t> the_long_way(const std::vector<Traffic::Way>& ways,
                                       const std::vector<Traffic::Flow>& flows,
                                       const std::vector<LinkChange>& changes, int links,
                                       double rate) {
  std::vector<double> missing, capacity(static_cast<std::size_t>(links) * 2, rate);
  std::vector<std::int64_t> ends(flows.size(), -1);
  for (const Traffic::Flow& flow : flows) missing.push_back(static_cast<double>(flow.bytes));
  std::vector<std::vector<Usage>> uses(ways.size());
  for (std::size_t w = 0; w < ways.size(); ++w)
    for (const Hop& hop : ways[w].hops)
      uses[w].push_back({hop.link * 2 + (hop.forward ? 0u : 1u), hop.share});
  for (std::int64_t now = 0;;) {
    for (const LinkChange& change : changes)
      if (change.at.ps() == now)
        capacity[change.link * 2] = capacity[change.link * 2 + 1] = rate * change.share;
    std::vector<std::size_t> open;
    std::vector<FlowDemand> demands;
    std::int64_t next = INT64_MAX;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (flows[f].start.ps() > now) next = std::min(next, flows[f].start.ps());
      else if (ends[f] < 0) {
        open.push_back(f);
        demands.push_back({uses[flows[f].way], ways[flows[f].way].cap.bytes_per_second()});
      }
    }
    for (const LinkChange& change : changes)
      if (change.at.ps() > now) next = std::min(next, change.at.ps());
    const auto rates = max_min_rates(capacity, demands);
    for (std::size_t i = 0; i < open.size(); ++i)
      if (rates[i] > 0)
        next = std::min(next, now + static_cast<std::int64_t>(
                                        std::ceil(missing[open[i]] / (rates[i] * 1e-12) - 1e-3)));
    if (next == INT64_MAX) return ends;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const double per_ps = rates[i] * 1e-12;
      missing[open[i]] -= per_ps * static_cast<double>(next - now);
      if (missing[open[i]] <= per_ps / 2) ends[open[i]] = next;
    }
    now = next;
  }
}

RC_GTEST_PROP(Scenario, FlowsEndWhenALongerWayOfReckoningSaysSo, ()) {
  const int gpus = *rc::gen::inRange(2, 7);
  WrittenTraffic traffic;
  std::vector<Traffic::Way> ways;
  std::vector<Traffic::Flow> flows;
  Time start;
  for (int i = *rc::gen::inRange(1, 25); i > 0; --i) {
    const auto from = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(gpus));
    const auto to = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(gpus));
    const Rate cap =
        *rc::gen::inRange(0, 3) == 0 ? Rate::GBs(*rc::gen::inRange(1, 9) / 8.0) : Rate::unlimited();
    start += Time::ns(*rc::gen::inRange(0, 400));
    traffic.add(start, *rc::gen::inRange(1, 5000), {{from, true, 1}, {to, false, 1}}, cap);
    ways.emplace_back();
    traffic.way(traffic.way_count() - 1, ways.back());
    flows.push_back(traffic.flow(traffic.flow_count() - 1));
  }
  Scenario scenario;
  scenario.traffic = &traffic;
  Time at;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    at += Time::ns(*rc::gen::inRange(1, 2000));
    const auto link = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(gpus));
    scenario.changes.push_back({at, link, *rc::gen::inRange(0, 5) / 4.0});
    scenario.changes.push_back({at + Time::us(10), link, 1});  // in the end all is well
  }
  const auto result = simulate(star(gpus, kByteANanosecond), scenario);
  RC_ASSERT(result.has_value());
  const auto expected = the_long_way(ways, flows, scenario.changes, gpus, 1e9);
  for (std::size_t f = 0; f < flows.size(); ++f)
    RC_ASSERT(std::abs(result->flow_ends[f].ps() - expected[f]) <= 2);  // rounding
}

}  // namespace
}  // namespace isleway
