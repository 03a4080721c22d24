// Simulations that run beside one another, in step.
#pragma once

#include <cstdint>
#include <span>

namespace isleway {

/// Part of a simulation that hears from the others no sooner than a lookahead later.
class Process {
 public:
  static constexpr std::int64_t kStop = -1;
  struct Progress {
    /// When the next happens that it knows of, what it told others included: kNever for nothing,
    /// kStop when all must stop.
    std::int64_t next = 0;
    std::uint64_t events = 0;  ///< that happened
  };

  virtual ~Process() = default;
  /// Goes on to all that happens before `limit`.
  virtual Progress run_until(std::int64_t limit, unsigned window) = 0;
};

/// Conservative windows: from the earliest time at which anything happens, all go on by one
/// lookahead, then they meet. So no result depends on `threads`, which are 1 and more.
void run_windows(std::span<Process* const> processes, std::int64_t lookahead, unsigned threads);

}  // namespace isleway
