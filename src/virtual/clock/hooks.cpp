#include "virtual/clock/hooks.hpp"

#include <dlfcn.h>

#include "virtual/clock/host_clock.hpp"

namespace isleway::vgpu {
namespace {

HostClock* installed = nullptr;  // C's functions take no context

std::int64_t now_ns() { return installed->now().ps() / 1000; }
void sleep_ns(std::int64_t span) {
  installed->wait_until(installed->now() + Time::ps(span * 1000));
}

}  // namespace

void install_clock(HostClock& clock) {
  using Install = void (*)(const ClockHooks*);
  const auto install = reinterpret_cast<Install>(::dlsym(RTLD_DEFAULT, "isleway_clock_install"));
  if (install == nullptr) return;
  installed = &clock;
  static constexpr ClockHooks hooks{now_ns, sleep_ns};
  install(&hooks);
}

}  // namespace isleway::vgpu
