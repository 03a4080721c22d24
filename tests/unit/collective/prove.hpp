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

/// What every connection carries, as the visits tell; empty when one is visited twice.
template <class Visitor>
Loads collect(const Visitor& visit_all) {
  Loads loads;
  bool twice = false;
  visit_all([&](const Load& load) {
    twice |=
        !loads.emplace(std::pair{load.from, load.to}, std::pair{load.bytes, load.messages}).second;
  });
  return twice ? Loads() : loads;
}

inline bool equal(const Action& a, const Action& b) {
  const auto same_region = [](const Region& x, const Region& y) {
    return x.buffer == y.buffer && x.offset == y.offset;
  };
  return a.bytes == b.bytes && same_region(a.source, b.source) && same_region(a.store, b.store) &&
         std::equal(a.recv.begin(), a.recv.end(), b.recv.begin(), b.recv.end()) &&
         std::equal(a.send.begin(), a.send.end(), b.send.begin(), b.send.end());
}

/// Whether any action can be asked for at any time, into an Action that held something else.
inline bool has_random_access(const Schedule& schedule, std::uint64_t seed) {
  std::vector<std::pair<Port, std::int64_t>> places;
  std::vector<Action> actions;
  for (std::int32_t a = 0; a < schedule.agents(); ++a)
    for (std::int32_t s = 0; s < schedule.streams(); ++s)
      for (std::int64_t k = 0; k < schedule.action_count({a, s}); ++k) {
        places.push_back({{a, s}, k});
        schedule.action({a, s}, k, actions.emplace_back());
      }
  if (places.empty()) return true;
  std::mt19937_64 random(seed);
  Action action;
  for (int i = 0; i < 200; ++i) {
    const std::size_t at = random() % places.size();
    schedule.action(places[at].first, places[at].second, action);
    if (!equal(action, actions[at])) return false;
  }
  return true;
}

/// What is wrong with a schedule, or nothing. The data must end where it should, whatever
/// runs first, in place too, with any number of credits from `least_credits` on; the closed
/// form of the loads must be what the actions send; the critical path must use connections
/// that exist. `seed` chooses among what may vary.
inline std::string problem_with(const CollectiveCall& call, const Schedule& schedule,
                                int least_credits, std::uint64_t seed = 1) {
  const std::string which = describe(call) + ": ";
  const bool can_be_in_place =
      call.collective != Collective::all_to_all && call.collective != Collective::sendrecv;
  const int credits =
      least_credits + static_cast<int>(seed % static_cast<std::uint64_t>(9 - least_credits));
  for (const bool again : {false, true}) {
    const bool in_place = again && can_be_in_place;
    const std::uint64_t order = again ? seed : 0;
    if (const auto ok = check_schedule(call, schedule, in_place, credits, order); !ok)
      return which + ok.error().text() + (in_place ? ", in place, " : ", ") +
             std::to_string(credits) + " credits, order " + std::to_string(order);
  }
  const Loads loads = collect([&](const auto& visit) { schedule.loads(visit); });
  if (loads != collect([&](const auto& visit) { schedule.Schedule::loads(visit); }))
    return which + "the closed form of the loads is not what is sent";
  for (const CriticalStep& step : schedule.critical_path()) {
    if (!loads.contains({step.from, step.to})) return which + "a critical step from nowhere";
    if (step.bytes < 0 || step.hidden_bytes < 0 || step.repeats <= 0)
      return which + "a critical step makes no sense";
  }
  return has_random_access(schedule, seed) ? "" : which + "an action depends on the one before";
}

}  // namespace isleway
