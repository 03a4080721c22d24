// What every exported function of the runtime does before and after its own part.
#pragma once

#include <fmt/format.h>

#include <cstdlib>

#include "virtual/cudart/abi.hpp"
#include "virtual/cudart/graph.hpp"
#include "virtual/cudart/kernels.hpp"

#define ISLEWAY_API extern "C" __attribute__((visibility("default")))

namespace isleway::vgpu::cudart {

/// Of the calling thread; cudaGetLastError takes it.
inline int& last_error() {
  thread_local int status = success;
  return status;
}

/// With ISLEWAY_DEBUG, a line that names what failed.
inline void debug(const char* function, int status) {
  static const bool wanted = std::getenv("ISLEWAY_DEBUG") != nullptr;
  if (wanted && status != success && status != not_ready)
    fmt::print(stderr, "isleway: {} gives {}\n", function, status_name(status));
}

inline int remember(const char* function, int status) {
  if (status == success) return status;
  debug(function, status);
  if (status != not_ready) last_error() = status;
  return status;
}

/// Runs `body(process)` with the process's lock held.
template <class Body>
int with_process(const char* function, Body body) {
  Process& process = Process::get();
  if (!process) return remember(function, initialization_error);
  if (process.system_not_ready()) return remember(function, system_not_ready);
  const auto held = process.hold();
  return remember(function, body(process));
}

/// The same, where there is a current device, whatever has become of it.
template <class Body>
int with_devices(const char* function, Body body) {
  return with_process(function, [&](Process& process) -> int {
    if (process.device_count() == 0) return no_device;
    return body(process, process.current_device());
  });
}

/// The same on a device that works before and after: its context remembers what it died of.
template <class Body>
int with_device(const char* function, Body body) {
  return with_devices(function, [&](Process& process, int device) -> int {
    if (const int dead = status_of(process.trouble(device)); dead != success) return dead;
    const int status = body(process, device);
    if (const int dead = status_of(process.trouble(device)); dead != success) return dead;
    return status;
  });
}

inline bool is_device(Process& process, int device) {
  return device >= 0 && device < process.device_count();
}

/// cudaStream_t: null is the current device's default stream, or the calling thread's where the
/// program was compiled so; 1 and 2 are one and the other. Null when there is no such stream.
inline Stream* stream_of(Process& process, void* handle) {
  enum : std::uintptr_t { null, legacy, per_thread };
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  const int device = process.current_device();
  if (number == per_thread || (number == null && ThreadDefaultStream::wanted()))
    return process.thread_stream(device);
  if (number <= legacy) return process.default_stream(device);
  auto* stream = static_cast<Stream*>(handle);
  return process.knows(stream) ? stream : nullptr;
}

/// The same with `body(process, stream)`.
template <class Body>
int with_stream(const char* function, void* handle, Body body) {
  return with_device(function, [&](Process& process, int) -> int {
    Stream* stream = stream_of(process, handle);
    return stream == nullptr ? int{invalid_resource_handle} : body(process, *stream);
  });
}

}  // namespace isleway::vgpu::cudart
