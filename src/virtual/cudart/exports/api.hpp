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
  const auto held = process.hold();
  return remember(function, body(process));
}

/// The same, where there is a current device.
template <class Body>
int with_device(const char* function, Body body) {
  return with_process(function, [&](Process& process) -> int {
    if (process.device_count() == 0) return no_device;
    return body(process, process.current_device());
  });
}

inline bool is_device(Process& process, int device) {
  return device >= 0 && device < process.device_count();
}

/// cudaStream_t: null and 1 are the current device's default stream; 2, a thread's own, is
/// treated as that too. Null when there is no such stream.
inline Stream* stream_of(Process& process, void* handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= 2)
    return process.default_stream(process.current_device());
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

/// Waiting that was in vain: another process died, say.
inline int waited(const std::string& why) {
  if (why.empty()) return success;
  fmt::print(stderr, "isleway: {}\n", why);
  return unknown;
}

}  // namespace isleway::vgpu::cudart
