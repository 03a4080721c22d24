// What every exported function of NCCL does before and after its own part.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "virtual/nccl/group.hpp"

#define ISLEWAY_API extern "C" __attribute__((visibility("default")))
/// NCCL exports each function under a second name, for profilers that replace the first.
#define ISLEWAY_PROFILED(name, declaration) \
  extern "C" __attribute__((visibility("default"), alias(#name))) int p##name declaration

namespace isleway::vgpu::nccl {

inline std::string& last_error() {
  thread_local std::string text;
  return text;
}

inline int fail(const char* function, int status, const std::string& why) {
  last_error() = std::string(function) + ": " + why;
  static const bool wanted =
      std::getenv("ISLEWAY_DEBUG") != nullptr || std::getenv("NCCL_DEBUG") != nullptr;
  if (wanted) fmt::print(stderr, "isleway: {}\n", last_error());
  return status;
}

/// The ranks that programs hold handles of.
inline std::set<RankHandle*>& handles() {
  static std::set<RankHandle*>& all = *new std::set<RankHandle*>;
  return all;
}
inline bool is_handle(RankHandle* handle) {
  const auto held = Process::get().hold();
  return handles().contains(handle);
}

/// cudaStream_t: null and 1 are the default stream of the communicator's device.
inline Stream* stream_of(Process& process, const RankHandle& handle, void* stream) {
  if (reinterpret_cast<std::uintptr_t>(stream) <= 2) return process.default_stream(handle.device);
  auto* known = static_cast<Stream*>(stream);
  return process.knows(known) ? known : nullptr;
}

}  // namespace isleway::vgpu::nccl
