// Transfers as fluid: each has a rate, which changes only when another starts or ends.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/event_queue.hpp"
#include "isleway/engine/max_min.hpp"

namespace isleway {

/// Flows in progress. Those of one class (same way, same cap) have the same rate at any time,
/// so that a class needs one running sum: how much each of its flows was served since the
/// class began. A flow is over when that sum reaches what it was when the flow started plus
/// its size. Only the next end of each class is predicted, whatever the number of flows.
///
/// Amounts are whole numbers of 2^-54 bytes and rates whole numbers of those in a picosecond:
/// what was served does not depend on how often it was asked for, nor on when all began.
class Fluid {
 public:
  using Class = std::uint32_t;

  std::uint32_t add_resource(double capacity) { return solver_.add_resource(capacity); }
  void set_capacity(std::uint32_t resource, double capacity) {
    solver_.set_capacity(resource, capacity);
  }
  /// `wire_cap` in bytes per second, infinity for none.
  Class add_class(std::span<const Usage> uses, double wire_cap);
  void reserve(std::size_t classes, std::size_t uses, std::size_t flows);
  /// True when flows of this class take no time: nothing limits them.
  bool is_instant(Class c) const { return classes_[c].instant; }

  /// What ends: whose flow it is is up to the caller.
  struct Token {
    std::uint32_t owner = 0, id = 0;
  };
  /// Starts `copies` equal flows that end together.
  void start(Class c, double wire_bytes, Token token, std::uint32_t copies, std::int64_t now);

  /// When the next flows of a class end, as it looks now.
  struct Prediction {
    std::int64_t time;
    Class c;
    std::uint32_t version;
  };
  static constexpr std::uint32_t kVersionMask = (1u << 28) - 1;  ///< versions are below this
  /// True while nothing has changed the prediction.
  bool holds(Class c, std::uint32_t version) const { return classes_[c].version == version; }
  /// Ends the flows of a class that are due at `now`, appending their tokens. The caller
  /// says with left() how many copies each had.
  void finish(Class c, std::int64_t now, std::vector<Token>& tokens);
  void left(Class c, std::uint32_t copies);

  /// Shares capacities anew after all starts and ends of `now`, and hands `take` a prediction for
  /// each class whose next end is another than before; tells `expect` first how many at most.
  template <class Expect, class Take>
  void settle(std::int64_t now, Expect expect, Take take) {
    share(now);
    expect(stale_.size());
    for (const Class c : stale_)
      if (Prediction next{0, c, 0}; predict(next)) take(next);
    expect(std::size_t{0});
    stale_.clear();
  }

  bool idle() const { return active_ == 0; }
  /// A class with flows, for messages about a standstill.
  Class stalled_class() const;

  /// Of one flow's class: all bytes that were started, and those moved at the class's own cap.
  double bytes(Class c) const;
  double capped_bytes(Class c) const { return c < capped_bytes_.size() ? capped_bytes_[c] : 0; }
  std::size_t class_count() const { return classes_.size(); }

  /// What a class moved so far, to be counted again for what is not simulated.
  struct Moved {
    std::int64_t started = 0;  ///< 1/1024 bytes
    double capped_bytes = 0;
  };
  Moved moved(Class c, std::int64_t now) {
    advance(c, now);
    return {started_[c], capped_bytes(c)};
  }
  void add_moved(Class c, const Moved& since, std::int64_t times) {
    started_[c] += since.started * times;
    if (c < capped_bytes_.size())
      capped_bytes_[c] += since.capped_bytes * static_cast<double>(times);
  }
  /// Appends what determines all that happens from `now` on, but for the time.
  void append_state(std::int64_t now, std::vector<std::uint64_t>& words);
  /// Goes on as if all flows had begun `later`.
  void shift(std::int64_t later);

  __extension__ typedef __int128 Amount;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  /// A node of a class's pairing heap, the first end on top.
  struct Flow {
    Amount end;  ///< of the class's running sum
    Token token;
    std::uint32_t child, sibling;
  };
  /// As small as can be: there may be a million.
  struct State {
    Amount served = 0;
    std::int64_t rate = 0;
    std::int64_t at = 0;             ///< when `served` was right
    std::uint32_t first = kNone;     ///< of its flows
    std::uint32_t count = 0;         ///< flows, each as often as it has copies
    std::uint32_t version : 28 = 0;  ///< of the prediction that counts
    bool instant : 1 = false, stale : 1 = false, capped : 1 = false;
  };
  void advance(Class c, std::int64_t now);
  void share(std::int64_t now);
  void mark_stale(Class c);
  /// False: no end is in sight.
  bool predict(Prediction& next);
  std::uint32_t meld(std::uint32_t a, std::uint32_t b);
  void pop(State& state);

  MaxMinSolver solver_;
  std::vector<State> classes_;
  std::vector<std::int64_t> started_;  ///< by class: 1/1024 bytes
  std::vector<double> capped_bytes_;   ///< by class, up to the last that has a cap
  std::vector<Flow> flows_;
  std::uint32_t free_ = kNone;  ///< flows that ended, joined by `sibling`
  std::vector<Class> stale_;
  std::vector<std::uint32_t> melding_;
  std::size_t active_ = 0;
};

}  // namespace isleway
