// How the shared memory of a run is laid out. Everything is reached by offsets, since every
// process maps it elsewhere.
#pragma once

#include <atomic>
#include <cstdint>

#include "virtual/world/segment.hpp"

namespace isleway::vgpu {

constexpr std::uint64_t kWorldMagic = 0x31646c726f776c69;  // "ilworld1"
constexpr std::uint32_t kMostProcesses = 1024;
constexpr std::uint32_t kMostFaults = 1024;
constexpr std::uint32_t kMostMemoryUses = 16384;
constexpr std::uint32_t kFaultText = 120;
constexpr std::uint32_t kHostIdText = 64;
constexpr std::uint64_t kMeetingBytes = std::uint64_t{256} << 20;  ///< sparse

struct ProcessSlot {
  std::int32_t pid;
  std::uint32_t host, place;
  std::uint64_t started;  ///< as /proc has it: pids are used again
  std::atomic<std::int64_t> clock_ps;
  std::atomic<bool> alive;
  char host_id[kHostIdText];  ///< NCCL_HOSTID
};

struct FaultSlot {
  std::int64_t at_ps;
  char text[kFaultText];
};

struct GpuSlot {
  std::atomic<std::int64_t> memory_used;
  std::atomic<std::int64_t> busy_ps;
};

struct MemoryUseSlot {
  std::int32_t pid;
  std::uint32_t gpu;
  std::int64_t bytes;
};

struct LinkSlot {
  std::atomic<std::uint64_t> bytes[2];  ///< forward, backward
};

struct WorldState {
  std::uint64_t magic;
  std::uint64_t bytes;
  std::uint32_t gpus, links, plan_bytes;
  std::uint64_t plan_at, gpus_at, links_at, meeting_at;
  SharedLock lock;
  std::atomic<std::int64_t> now_ps;
  std::atomic<std::uint32_t> processes, faults, memory_uses;
  std::atomic<std::uint64_t> meeting_used;
  std::uint64_t roots[4];
  ProcessSlot process[kMostProcesses];
  FaultSlot fault[kMostFaults];
  MemoryUseSlot memory_use[kMostMemoryUses];
};

template <class T>
T* at_offset(WorldState* state, std::uint64_t offset) {
  return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(state) + offset);
}

}  // namespace isleway::vgpu
