#include "virtual/clock/host_clock.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace isleway::vgpu {
namespace {

/// By the kernel itself: the C library's function is what programs see virtual time through.
std::int64_t wall_ns() {
  timespec now{};
  ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

}  // namespace

HostClock::HostClock(TimeMode mode, double scale)
    : mode_(mode), scale_(mode == TimeMode::scaled ? scale : 1), began_ns_(wall_ns()) {}

std::int64_t& HostClock::mine() {
  // A process has one clock, and only its threads can say which of them is calling.
  thread_local std::int64_t ps = -1;
  if (ps < 0) ps = furthest_ps_;
  return ps;
}

void HostClock::raise(std::int64_t to) {
  std::int64_t known = furthest_ps_;
  while (known < to && !furthest_ps_.compare_exchange_weak(known, to)) {
  }
}

Time HostClock::now() {
  if (simulated()) return Time::ps(mine());
  return Time::ns(static_cast<double>(wall_ns() - began_ns_) * scale_);
}

void HostClock::work(Time time) {
  if (simulated()) raise(mine() += time.ps());
}

void HostClock::wait_until(Time time) {
  if (simulated()) {
    std::int64_t& own = mine();
    own = std::max(own, time.ps());
    raise(own);
    return;
  }
  for (Time left = time - now(); left > Time(); left = time - now()) {
    const double seconds = left.seconds() / scale_;
    timespec span{static_cast<time_t>(seconds), 0};
    span.tv_nsec = static_cast<long>((seconds - static_cast<double>(span.tv_sec)) * 1e9) + 1;
    ::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &span, nullptr);
  }
}

}  // namespace isleway::vgpu
