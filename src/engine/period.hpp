// A pipeline that repeats itself is jumped over.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/fluid.hpp"
#include "engine/programs.hpp"

namespace isleway {

/// Watches one job that runs alone. Whenever its longest stream has done one more of its loops,
/// all that decides the future (messages, credits, what flows still miss, what is due when, all
/// counted from the present) is compared with what it was at an earlier loop. When it is the
/// same, and every stream does the same actions for a while, then so will be what follows, and
/// the whole can be put off to the last time that it repeats.
class Period {
 public:
  /// What the simulation knows besides the job's programs.
  struct Sums {
    std::int64_t now = 0, idle = 0;
    std::vector<Fluid::Moved> moved;  ///< by class
  };

  Period(const Schedule& schedule, const Programs& programs);

  /// The longest stream has come to another loop.
  bool is_due(const Programs& programs) const {
    return patience_ > 0 && programs.at(leader_) >= next_;
  }
  /// Takes note of the state. How often what happened since the state was the same can be
  /// repeated by `latest`; 0 when it was not.
  std::int64_t repeats(const Programs& programs, std::vector<std::uint64_t> state, Sums sums,
                       std::int64_t latest);
  /// What happened since then, once.
  std::int64_t length(std::int64_t now) const { return now - saved_.sums.now; }
  const Sums& before() const { return saved_.sums; }
  /// What was before is no guide any more: a link has changed.
  void forget() { saved_.state.clear(); }
  /// Moves all streams on.
  void jump(Programs& programs, std::int64_t times);

 private:
  struct Saved {
    std::vector<std::uint64_t> state;
    std::vector<std::int64_t> at;  ///< by stream
    Sums sums;
  };
  std::vector<Loop> loops_;  ///< by stream
  StreamId leader_ = 0;
  std::int64_t next_ = 0;  ///< action of the leader
  int patience_ = 0;       ///< states that will still be compared
  int since_saved_ = 0, keep_for_ = 1;
  Saved saved_;
};

}  // namespace isleway
