// The time that a process's threads live in.
#pragma once

#include <atomic>
#include <cstdint>

#include "isleway/core/units.hpp"
#include "isleway/virtual/run_plan.hpp"

namespace isleway::vgpu {

/// Every thread has a time line of its own, which begins where the process's furthest one is.
/// Simulated, it moves only by what the thread does; else with the clock on the wall.
class HostClock {
 public:
  HostClock(TimeMode mode, double scale);

  /// The calling thread's time.
  Time now();
  /// The calling thread works for `time`. Does nothing where real work takes real time.
  void work(Time time);
  /// The calling thread sleeps until `time`; at once, if that lies behind it.
  void wait_until(Time time);
  bool simulated() const { return mode_ == TimeMode::simulated; }

 private:
  std::int64_t& mine();
  void raise(std::int64_t to);

  const TimeMode mode_;
  const double scale_;
  const std::int64_t began_ns_;  ///< on the wall
  std::atomic<std::int64_t> furthest_ps_{0};
};

}  // namespace isleway::vgpu
