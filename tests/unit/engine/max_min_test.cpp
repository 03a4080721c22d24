#include "isleway/engine/max_min.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

namespace isleway {
namespace {

constexpr double kNoCap = std::numeric_limits<double>::infinity();

TEST(MaxMin, EqualFlowsShareEquallyAndACapLeavesTheRestToOthers) {
  const double capacity[] = {9};
  const Usage use[] = {{0, 1}};
  const FlowDemand flows[] = {{use, kNoCap}, {use, kNoCap}, {use, 1}};
  EXPECT_EQ(max_min_rates(capacity, flows), (std::vector<double>{4, 4, 1}));
}

TEST(MaxMin, TheTextbookChainOfLinks) {
  // One long flow over both links, one short flow on each: the long one gets half of the
  // tight link, and its rest on the wide link goes to the short one there.
  const double capacity[] = {10, 4};
  const Usage both[] = {{0, 1}, {1, 1}}, wide[] = {{0, 1}}, tight[] = {{1, 1}};
  const FlowDemand flows[] = {{both, kNoCap}, {wide, kNoCap}, {tight, kNoCap}};
  EXPECT_EQ(max_min_rates(capacity, flows), (std::vector<double>{2, 8, 2}));
}

TEST(MaxMin, SprayedFlowsLoadEachPlaneByItsShare) {
  const double capacity[] = {100, 80};
  const Usage sprayed[] = {{0, 0.5}, {1, 0.5}};
  const FlowDemand flows[] = {{sprayed, kNoCap}};
  EXPECT_EQ(max_min_rates(capacity, flows), (std::vector<double>{160}));
}

TEST(MaxMin, NothingHoldsBackAFlowWithoutUsesAndADeadResourceStopsIt) {
  const double capacity[] = {0};
  const Usage use[] = {{0, 1}};
  const FlowDemand flows[] = {{{}, kNoCap}, {use, kNoCap}, {{}, 7}};
  EXPECT_EQ(max_min_rates(capacity, flows), (std::vector<double>{kNoCap, 0, 7}));
}

/// A random system of classes over resources.
struct System {
  std::vector<double> capacity;
  std::vector<std::vector<Usage>> uses;
  std::vector<double> caps;
};

System any_system() {
  System system;
  const auto resources = *rc::gen::inRange<std::size_t>(1, 9);
  for (std::size_t r = 0; r < resources; ++r) system.capacity.push_back(*rc::gen::inRange(0, 200));
  const auto classes = *rc::gen::inRange<std::size_t>(1, 12);
  for (std::size_t c = 0; c < classes; ++c) {
    std::vector<Usage> uses;
    for (std::uint32_t r = 0; r < resources; ++r)
      if (*rc::gen::inRange(0, 3) == 0) uses.push_back({r, *rc::gen::inRange(1, 9) / 8.0});
    system.uses.push_back(uses);
    const int cap = *rc::gen::inRange(1, 80);
    system.caps.push_back(cap > 60 && !uses.empty() ? kNoCap : cap / 2.0);
  }
  return system;
}

std::vector<double> reference(const System& system, const std::vector<std::uint32_t>& counts) {
  std::vector<FlowDemand> flows;
  std::vector<std::size_t> first(counts.size(), 0);
  for (std::size_t c = 0; c < counts.size(); ++c) {
    first[c] = flows.size();
    for (std::uint32_t i = 0; i < counts[c]; ++i) flows.push_back({system.uses[c], system.caps[c]});
  }
  const auto rates = max_min_rates(system.capacity, flows);
  std::vector<double> by_class;
  for (std::size_t c = 0; c < counts.size(); ++c)
    by_class.push_back(counts[c] == 0 ? 0 : rates[first[c]]);
  return by_class;
}

RC_GTEST_PROP(MaxMin, NoFlowCanGainWithoutOneThatHasNoMoreLosing, ()) {
  const System system = any_system();
  std::vector<FlowDemand> flows;
  for (std::size_t c = 0; c < system.uses.size(); ++c)
    flows.push_back({system.uses[c], system.caps[c]});
  const auto rates = max_min_rates(system.capacity, flows);

  std::vector<double> load(system.capacity.size(), 0), largest(system.capacity.size(), 0);
  for (std::size_t f = 0; f < flows.size(); ++f)
    for (const Usage& use : flows[f].uses) {
      load[use.resource] += use.weight * rates[f];
      largest[use.resource] = std::max(largest[use.resource], rates[f]);
    }
  for (std::size_t r = 0; r < load.size(); ++r) RC_ASSERT(load[r] <= system.capacity[r] + 1e-9);
  // The bottleneck property characterises the max-min fair point.
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const bool capped = rates[f] >= flows[f].cap - 1e-9;
    const bool held = std::ranges::any_of(flows[f].uses, [&](const Usage& use) {
      return load[use.resource] >= system.capacity[use.resource] - 1e-9 &&
             rates[f] >= largest[use.resource] - 1e-9;
    });
    RC_ASSERT(capped || held);
  }
}

RC_GTEST_PROP(MaxMinSolver, FollowsAnyChangesAsTheReferenceDoes, ()) {
  const System system = any_system();
  MaxMinSolver solver;
  for (const double capacity : system.capacity) solver.add_resource(capacity);
  for (std::size_t c = 0; c < system.uses.size(); ++c)
    solver.add_class(system.uses[c], system.caps[c]);

  std::vector<std::uint32_t> counts(system.uses.size(), 0);
  std::vector<double> seen(system.uses.size(), 0);
  const auto steps = *rc::gen::inRange(1, 30);
  for (int step = 0; step < steps; ++step) {
    for (auto changes = *rc::gen::inRange(1, 4); changes > 0; --changes) {
      const auto c = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(counts.size()));
      counts[c] = *rc::gen::inRange(0u, 5u);
      solver.set_count(c, counts[c]);
    }
    for (const std::uint32_t c : solver.solve()) seen[c] = solver.rate(c);
    const auto expected = reference(system, counts);
    for (std::uint32_t c = 0; c < counts.size(); ++c) {
      if (counts[c] == 0) continue;
      RC_ASSERT(std::abs(solver.rate(c) - expected[c]) <= 1e-9 * (1 + expected[c]));
      RC_ASSERT(seen[c] == solver.rate(c));  // every change of a rate was reported
    }
  }
}

TEST(MaxMinSolver, LeavesAloneWhatAChangeCannotReach) {
  MaxMinSolver solver;
  const auto left = solver.add_resource(10), right = solver.add_resource(10);
  const Usage on_left[] = {{left, 1}}, on_right[] = {{right, 1}},
              on_both[] = {{left, 1}, {right, 1}};
  const auto a = solver.add_class(on_left, kNoCap), b = solver.add_class(on_right, 6);
  const auto bridge = solver.add_class(on_both, 3);
  for (const auto c : {a, b, bridge}) solver.set_count(c, 1);
  solver.solve();
  EXPECT_EQ(solver.rate(a), 7);
  EXPECT_EQ(solver.rate(b), 6);  // 6 + 3 do not fill the right resource
  EXPECT_TRUE(solver.capped(b));
  solver.set_count(a, 2);
  const auto changed = solver.solve();
  EXPECT_EQ(std::vector<std::uint32_t>(changed.begin(), changed.end()),
            (std::vector<std::uint32_t>{a}));
  EXPECT_EQ(solver.rate(a), 3.5);
}

}  // namespace
}  // namespace isleway
