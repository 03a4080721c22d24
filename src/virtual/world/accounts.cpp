// What the processes of a run have used and broken so far.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "isleway/virtual/world.hpp"
#include "virtual/world/process_host.hpp"
#include "virtual/world/state.hpp"

namespace isleway::vgpu {
namespace {

GpuSlot& gpu_slot(WorldState* state, GpuId gpu) {
  return at_offset<GpuSlot>(state, state->gpus_at)[gpu];
}
LinkSlot& link_slot(WorldState* state, LinkId link) {
  return at_offset<LinkSlot>(state, state->links_at)[link];
}

}  // namespace

std::vector<TimedFault> World::faults() const {
  std::vector<TimedFault> faults;
  const std::uint32_t count = fault_count();
  for (std::uint32_t i = 0; i < count; ++i)
    faults.push_back({Time::ps(state_->fault[i].at_ps), state_->fault[i].text});
  return faults;
}

Result<void> World::inject(const TimedFault& fault) {
  if (fault.text.size() >= kFaultText)
    return fail("a fault's text is longer than " + std::to_string(kFaultText - 1) + " characters");
  const std::lock_guard held(state_->lock);
  const std::uint32_t count = state_->faults;
  if (count == kMostFaults)
    return fail("the run has had " + std::to_string(kMostFaults) + " faults, which is the most");
  state_->fault[count].at_ps = fault.at.ps();
  std::strncpy(state_->fault[count].text, fault.text.c_str(), kFaultText - 1);
  state_->faults = count + 1;
  state_->lock.announce();
  return {};
}

std::uint32_t World::fault_count() const { return state_->faults; }

Time World::now() const { return Time::ps(state_->now_ps); }

void World::set_clock(Time time) {
  if (self_ >= 0) state_->process[self_].clock_ps = time.ps();
  std::int64_t now = state_->now_ps;
  while (now < time.ps() && !state_->now_ps.compare_exchange_weak(now, time.ps())) {
  }
}

Bytes World::memory_used(GpuId gpu) const { return Bytes(gpu_slot(state_, gpu).memory_used); }

std::vector<MemoryUse> World::memory_uses(GpuId gpu) const {
  const std::lock_guard held(state_->lock);
  std::vector<MemoryUse> uses;
  for (std::uint32_t i = 0; i < state_->memory_uses; ++i) {
    const MemoryUseSlot& use = state_->memory_use[i];
    if (use.gpu == gpu && use.bytes > 0) uses.push_back({use.pid, use.bytes});
  }
  return uses;
}

bool World::take_memory(GpuId gpu, Bytes bytes, Bytes limit) {
  const std::lock_guard held(state_->lock);
  auto& used = gpu_slot(state_, gpu).memory_used;
  if (bytes > limit - Bytes(used)) return false;
  used += bytes.count();
  const int pid = ::getpid();
  const std::uint32_t count = state_->memory_uses;
  MemoryUseSlot* const end = state_->memory_use + count;
  MemoryUseSlot* use = std::find_if(state_->memory_use, end, [&](const MemoryUseSlot& known) {
    return known.pid == pid && known.gpu == gpu;
  });
  if (use == end) {
    if (count == kMostMemoryUses) return true;  // counted for the GPU, if not for the process
    *use = {pid, gpu, 0};
    state_->memory_uses = count + 1;
  }
  use->bytes += bytes.count();
  return true;
}

void World::give_back_memory(GpuId gpu, Bytes bytes) {
  const std::lock_guard held(state_->lock);
  gpu_slot(state_, gpu).memory_used -= bytes.count();
  const int pid = ::getpid();
  for (std::uint32_t i = 0; i < state_->memory_uses; ++i)
    if (MemoryUseSlot& use = state_->memory_use[i]; use.pid == pid && use.gpu == gpu)
      use.bytes -= bytes.count();
}

std::uint64_t World::link_bytes(LinkId link, bool forward) const {
  return link_slot(state_, link).bytes[forward ? 0 : 1];
}
void World::count_link_bytes(LinkId link, bool forward, std::uint64_t bytes) {
  link_slot(state_, link).bytes[forward ? 0 : 1] += bytes;
}
Time World::busy(GpuId gpu) const { return Time::ps(gpu_slot(state_, gpu).busy_ps); }
void World::count_busy(GpuId gpu, Time time) { gpu_slot(state_, gpu).busy_ps += time.ps(); }

std::vector<ProcessInfo> World::processes() const {
  std::vector<ProcessInfo> all;
  for (std::uint32_t i = 0; i < state_->processes; ++i) {
    const ProcessSlot& slot = state_->process[i];
    all.push_back({slot.pid, slot.host, Time::ps(slot.clock_ps), slot.alive});
  }
  return all;
}

std::vector<int> World::find_dead() {
  const std::lock_guard held(state_->lock);
  std::vector<int> dead;
  for (std::uint32_t i = 0; i < state_->processes; ++i) {
    ProcessSlot& slot = state_->process[i];
    if (!slot.alive || start_ticks(slot.pid) == slot.started) continue;
    slot.alive = false;
    dead.push_back(slot.pid);
    for (std::uint32_t u = 0; u < state_->memory_uses; ++u) {
      MemoryUseSlot& use = state_->memory_use[u];
      if (use.pid != slot.pid) continue;
      gpu_slot(state_, use.gpu).memory_used -= std::exchange(use.bytes, 0);
    }
  }
  if (!dead.empty()) state_->lock.announce();
  return dead;
}

}  // namespace isleway::vgpu
