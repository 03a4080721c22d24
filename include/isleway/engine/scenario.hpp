// Several calls and other traffic on one fabric, as time goes by.
#pragma once

#include <cstdint>
#include <vector>

#include "isleway/engine/engine.hpp"

namespace isleway {

/// A call that begins `delay` after the last of `after` has ended, or after time 0 when it
/// waits for none. Calls that run at the same time share the links.
struct Job {
  const Schedule* schedule = nullptr;  ///< null: nothing moves, as while ranks compute
  const Wiring* wiring = nullptr;      ///< null only where `schedule` is
  Time delay;
  std::vector<std::uint32_t> after;  ///< places in the list of jobs, all before its own
};

/// Transfers beside the jobs. A rule, not a list, as a Schedule is.
class Traffic {
 public:
  struct Way {
    SmallVector<Hop, 8> hops;
    Rate cap = Rate::unlimited();
    Mover mover = Mover::sm;
  };
  struct Flow {
    Time start;
    std::int64_t bytes = 0;
    std::uint32_t way = 0;
  };

  virtual ~Traffic() = default;
  virtual std::uint32_t way_count() const = 0;
  /// Fills `out`, which is as new.
  virtual void way(std::uint32_t number, Way& out) const = 0;
  virtual std::size_t flow_count() const = 0;
  /// In order of start.
  virtual Flow flow(std::size_t number) const = 0;
};

/// Both directions of a link get `share` of the rate that the fabric gives it: 0 when it fails,
/// 1 when it is repaired. What is under way waits meanwhile.
struct LinkChange {
  Time at;
  LinkId link = 0;
  double share = 0;
};

struct Scenario {
  std::vector<Job> jobs;
  const Traffic* traffic = nullptr;
  std::vector<LinkChange> changes;
};

struct JobOutcome {
  Time begin, end;
  /// As in Outcome, without what the call waits for before its first action and after its last.
  Time busy;
};

struct ScenarioOutcome {
  Time time;  ///< when all is over
  std::vector<JobOutcome> jobs;
  std::vector<Time> flow_ends;  ///< by number
  std::vector<LinkLoad> loads;  ///< by (link, direction); only links that carried something
  std::uint64_t events = 0;     ///< simulated one by one
};

/// Error: a connection without a route (which), jobs that wait for ever, a transfer over a link
/// that carries nothing, a wrong number (of a job, way or link).
Result<ScenarioOutcome> simulate(const Fabric& fabric, const Scenario& scenario,
                                 const SpeedUps& speed_ups = {});

}  // namespace isleway
