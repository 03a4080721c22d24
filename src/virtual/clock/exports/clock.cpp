// Preloaded into programs of a run: the C library's clocks and sleeps, as the virtual GPUs' host
// sees them. Passes everything through until the virtual libraries say what time it is, so that
// shells and launchers live in real time.
#include <dlfcn.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define ISLEWAY_API extern "C" __attribute__((visibility("default")))

namespace {

/// As src/virtual/clock/hooks.hpp has it.
struct ClockHooks {
  std::int64_t (*now_ns)();
  void (*sleep_ns)(std::int64_t);
};

std::atomic<const ClockHooks*> hooks{nullptr};

constexpr std::int64_t kSecond = 1'000'000'000;
/// Where virtual time begins: a fixed day, so that what programs print is the same every time.
constexpr std::int64_t kRealtimeBegin = 1'767'225'600 * kSecond;  // 2026-01-01 00:00 UTC
constexpr std::int64_t kMonotonicBegin = 1'000 * kSecond;

int real_clock(clockid_t clock, timespec* time) {
  return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
}

/// Whether the clock tells the time of day or since some beginning, rather than CPU time.
bool is_virtual(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME: return hooks.load() != nullptr;
    default: return false;
  }
}

std::int64_t now(clockid_t clock) {
  const bool of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  return (of_day ? kRealtimeBegin : kMonotonicBegin) + hooks.load()->now_ns();
}

timespec to_timespec(std::int64_t ns) {
  return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
}

void sleep_for(std::int64_t ns) { hooks.load()->sleep_ns(ns < 0 ? 0 : ns); }

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

/// The virtual libraries are there from the beginning where the program was linked to one; then
/// its time is virtual from the beginning too.
__attribute__((constructor)) void begin() {
  void* core = ::dlopen("libisleway-virtual.so", RTLD_NOW | RTLD_NOLOAD);
  if (core == nullptr) return;
  if (auto* start = reinterpret_cast<void (*)()>(::dlsym(core, "isleway_virtual_start"))) start();
  ::dlclose(core);
}

}  // namespace

ISLEWAY_API void isleway_clock_install(const ClockHooks* given) { hooks = given; }

ISLEWAY_API int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (!is_virtual(clock)) return real_clock(clock, time);
  *time = to_timespec(now(clock));
  return 0;
}
ISLEWAY_API int gettimeofday(timeval* time, void* zone) noexcept {
  if (hooks.load() == nullptr) return static_cast<int>(::syscall(SYS_gettimeofday, time, zone));
  timespec exact;
  if (const int status = clock_gettime(CLOCK_REALTIME, &exact); status != 0) return status;
  *time = {exact.tv_sec, exact.tv_nsec / 1000};
  return 0;
}
ISLEWAY_API time_t time(time_t* out) noexcept {
  timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (out != nullptr) *out = exact.tv_sec;
  return exact.tv_sec;
}

ISLEWAY_API int clock_nanosleep(clockid_t clock, int flags, const timespec* wanted,
                                timespec* left) {
  if (!is_virtual(clock) || wanted == nullptr) {
    const long status = ::syscall(SYS_clock_nanosleep, clock, flags, wanted, left);
    return status == 0 ? 0 : errno;
  }
  const std::int64_t ns = wanted->tv_sec * kSecond + wanted->tv_nsec;
  sleep_for((flags & TIMER_ABSTIME) != 0 ? ns - now(clock) : ns);
  return 0;
}
ISLEWAY_API int nanosleep(const timespec* wanted, timespec* left) {
  const int status = clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
  if (status == 0) return 0;
  errno = status;
  return -1;
}
ISLEWAY_API int usleep(useconds_t us) {
  const timespec span = to_timespec(std::int64_t{us} * 1000);
  return nanosleep(&span, nullptr);
}
ISLEWAY_API unsigned sleep(unsigned seconds) {
  const timespec span{static_cast<time_t>(seconds), 0};
  nanosleep(&span, nullptr);
  return 0;
}

// Waiting for nothing but time is sleeping. What waits for files waits for other processes, which
// takes real time; when nothing came, its virtual time is over too.
ISLEWAY_API int poll(pollfd* files, nfds_t count, int timeout_ms) {
  static const auto real = next<int (*)(pollfd*, nfds_t, int)>("poll");
  if (hooks.load() == nullptr || timeout_ms <= 0) return real(files, count, timeout_ms);
  const int ready = count == 0 ? 0 : real(files, count, timeout_ms);
  if (ready == 0) sleep_for(timeout_ms * 1'000'000LL);
  return ready;
}
ISLEWAY_API int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  static const auto real = next<int (*)(int, fd_set*, fd_set*, fd_set*, timeval*)>("select");
  if (hooks.load() == nullptr || timeout == nullptr)
    return real(count, read, write, except, timeout);
  const std::int64_t ns = timeout->tv_sec * kSecond + timeout->tv_usec * 1000LL;
  const int ready = count == 0 ? 0 : real(count, read, write, except, timeout);
  if (ready == 0) sleep_for(ns);
  return ready;
}

// Programs find out by the name of the host which processes share one.
ISLEWAY_API int gethostname(char* name, std::size_t length) noexcept {
  static const auto real = next<int (*)(char*, std::size_t)>("gethostname");
  using HostName = const char* (*)();
  static const auto own =
      reinterpret_cast<HostName>(::dlsym(RTLD_DEFAULT, "isleway_virtual_host_name"));
  const char* text = own == nullptr || hooks.load() == nullptr ? nullptr : own();
  if (text == nullptr || *text == '\0') return real(name, length);
  std::strncpy(name, text, length);
  if (length > 0 && std::strlen(text) < length) return 0;
  errno = ENAMETOOLONG;
  return -1;
}
