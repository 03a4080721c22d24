// Transfers as fluid: each has a rate, which changes only when another starts or ends.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/link_use.hpp"

namespace isleway {

/// Flows in progress. Those of one class (same way, same cap) have the same rate at any time,
/// so that a class needs one running sum: how much each of its flows was served since the
/// class began. A flow is over when that sum reaches what it was when the flow started plus
/// its size. Only the next end of each class is predicted, whatever the number of flows.
class Fluid {
 public:
  using Class = std::uint32_t;

  explicit Fluid(LinkUse& links) : links_(links) {}

  /// `wire_cap` in bytes per second, infinity for none.
  Class flow_class(LinkUse::Way way, double wire_cap);
  /// True when flows of this class take no time: nothing limits them.
  bool is_instant(Class c) const { return classes_[c].instant; }

  void start(Class c, double wire_bytes, std::uint32_t token, std::int64_t now);
  /// Shares capacities anew after all starts and ends of `now`.
  void settle(std::int64_t now);
  /// When the next flow ends; kNever when none does.
  std::int64_t next_end();
  /// Ends the flows that are due at `now`, appending their tokens.
  void finish(std::int64_t now, std::vector<std::uint32_t>& tokens);

  bool idle() const { return active_ == 0; }
  /// A class with flows that make no progress; there is one when next_end() is kNever and
  /// not idle().
  LinkUse::Way stalled_way() const;
  /// The part of all bytes that moved at their class's own cap, 0 to 1.
  double capped_share() const { return moved_ > 0 ? capped_ / moved_ : 0; }

  static constexpr std::int64_t kNever = INT64_MAX;

 private:
  struct Flow {
    double end;  ///< of the class's running sum
    std::uint32_t token;
  };
  struct State {
    LinkUse::Way way = 0;
    double cap = 0;
    bool instant = false, stale = false, capped = false;
    std::uint32_t version = 0;    ///< of the prediction that counts
    double served = 0, rate = 0;  ///< bytes, bytes per picosecond
    std::int64_t at = 0;          ///< when `served` was right
    std::vector<Flow> flows;      ///< a heap, the first end on top
  };
  struct Prediction {
    std::int64_t time;
    std::uint64_t order;
    Class c;
    std::uint32_t version;
  };
  void advance(State& state, std::int64_t now);
  void mark_stale(Class c);
  void predict(Class c);
  void drop_old_predictions();
  static bool later(const Prediction& a, const Prediction& b);

  LinkUse& links_;
  MaxMinSolver solver_;
  std::vector<State> classes_;
  std::map<std::pair<LinkUse::Way, double>, Class> known_;
  std::vector<Class> stale_;
  std::vector<Prediction> predictions_;  ///< a heap
  std::uint64_t order_ = 0;
  std::size_t active_ = 0, resources_ = 0;
  double moved_ = 0, capped_ = 0;
};

}  // namespace isleway
