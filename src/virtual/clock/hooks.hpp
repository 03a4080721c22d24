// The C library's clock, seen through the preloaded libisleway-clock.so.
#pragma once

#include <cstdint>

namespace isleway::vgpu {

class HostClock;

/// What the preloaded library calls. It knows nothing of this room, so these are C.
struct ClockHooks {
  std::int64_t (*now_ns)();             ///< since the run began
  void (*sleep_ns)(std::int64_t span);  ///< of the calling thread
};

/// Lets the program see `clock` where the library is preloaded; else does nothing.
void install_clock(HostClock& clock);

}  // namespace isleway::vgpu
