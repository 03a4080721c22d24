// What must hold for any schedule of any collective.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "isleway/collective/checker.hpp"

namespace isleway {

inline std::string describe(const CollectiveCall& call) {
  return std::string(name_of(call.collective)) + " of " + std::to_string(call.size.bytes) +
         " bytes (elements of " + std::to_string(call.size.element_bytes) + ") on " +
         std::to_string(call.ranks) + " ranks, root " + std::to_string(call.root);
}

using Loads = std::map<std::pair<Port, Port>, std::pair<std::int64_t, std::int64_t>>;

template <class Visitor>
Loads collect(const Visitor& visit_all) {
  Loads loads;
  visit_all([&](const Load& load) {
    EXPECT_TRUE(loads.emplace(std::pair{load.from, load.to}, std::pair{load.bytes, load.messages})
                    .second)
        << "a connection is visited twice";
  });
  return loads;
}

inline bool equal(const Action& a, const Action& b) {
  const auto same_region = [](const Region& x, const Region& y) {
    return x.buffer == y.buffer && x.offset == y.offset;
  };
  return a.bytes == b.bytes && same_region(a.source, b.source) && same_region(a.store, b.store) &&
         std::equal(a.recv.begin(), a.recv.end(), b.recv.begin(), b.recv.end()) &&
         std::equal(a.send.begin(), a.send.end(), b.send.begin(), b.send.end());
}

/// Any action can be asked for at any time, into an Action that held something else.
inline void expect_random_access(const Schedule& schedule, std::uint64_t seed) {
  std::vector<std::pair<Port, std::int64_t>> places;
  std::vector<Action> actions;
  for (std::int32_t a = 0; a < schedule.agents(); ++a)
    for (std::int32_t s = 0; s < schedule.streams(); ++s)
      for (std::int64_t k = 0; k < schedule.action_count({a, s}); ++k) {
        places.push_back({{a, s}, k});
        schedule.action({a, s}, k, actions.emplace_back());
      }
  if (places.empty()) return;
  std::mt19937_64 random(seed);
  Action action;
  for (int i = 0; i < 200; ++i) {
    const std::size_t at = random() % places.size();
    schedule.action(places[at].first, places[at].second, action);
    ASSERT_TRUE(equal(action, actions[at])) << "action " << places[at].second;
  }
}

/// The data ends where it should, whatever runs first; the closed form of the loads is what
/// the actions send; the critical path uses only connections that exist.
inline void prove(const CollectiveCall& call, const Schedule& schedule, int least_credits,
                  std::uint64_t seed = 1) {
  SCOPED_TRACE(describe(call));
  const bool can_be_in_place =
      call.collective != Collective::all_to_all && call.collective != Collective::sendrecv;
  const int credits = least_credits + static_cast<int>(seed % (9 - least_credits));
  for (const bool in_place : {false, true}) {
    if (in_place && !can_be_in_place) continue;
    for (const std::uint64_t order : {std::uint64_t{0}, seed}) {
      const auto ok = check_schedule(call, schedule, in_place, credits, order);
      ASSERT_TRUE(ok) << ok.error().text() << (in_place ? " in place, " : " ") << credits
                      << " credits, order " << order;
    }
  }
  const Loads loads = collect([&](const auto& visit) { schedule.loads(visit); });
  EXPECT_EQ(loads, collect([&](const auto& visit) { schedule.Schedule::loads(visit); }));
  for (const CriticalStep& step : schedule.critical_path()) {
    EXPECT_TRUE(loads.contains({step.from, step.to}));
    EXPECT_GE(step.bytes, 0);
    EXPECT_GE(step.hidden_bytes, 0);
    EXPECT_GT(step.repeats, 0);
  }
  expect_random_access(schedule, seed);
}

}  // namespace isleway
