#include "virtual/nccl/comm.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "virtual/world/segment.hpp"

namespace isleway::vgpu::nccl {

CollectiveCall collective_call(const Call& call, const RankHandle& handle) {
  const int ranks = handle.comm->ranks;
  CollectiveCall result;
  result.collective = call.collective;
  result.ranks = ranks;
  result.root = call.root;
  result.size.element_bytes = size_of(call.type);
  const std::int64_t bytes = call.count * result.size.element_bytes;
  const auto* send = static_cast<const std::byte*>(call.send);
  const auto* recv = static_cast<const std::byte*>(call.recv);
  switch (call.collective) {
    case Collective::all_gather:
      result.size.bytes = bytes * ranks;
      result.in_place = send == recv + handle.rank * bytes;
      break;
    case Collective::reduce_scatter:
      result.size.bytes = bytes * ranks;
      result.in_place = recv == send + handle.rank * bytes;
      break;
    case Collective::all_to_all:
    case Collective::gather:
    case Collective::scatter: result.size.bytes = bytes * ranks; break;
    default: result.size.bytes = bytes; break;
  }
  return result;
}

int complete(Process& process, Comm& comm, bool wait) {
  if (comm.ready) return success;
  World& world = process.world();
  Board& board = *comm.board;
  while (true) {
    const std::uint32_t seen = world.lock().announced();
    {
      const std::lock_guard held(world.lock());
      if (board.arrived == board.ranks) break;
      if (board.failed != 0) return comm.error = remote_error;
    }
    if (!wait) return in_progress;
    // Other threads of this process may be on their way.
    world.lock().wait(seen, 100);
    const auto dead = world.find_dead();
    const std::lock_guard held(world.lock());
    // Whoever dies after all have come is found by those who wait for it.
    for (std::uint32_t r = 0; r < board.ranks && board.arrived < board.ranks; ++r) {
      const RankInfo& info = comm.board.rank(static_cast<int>(r));
      if (info.joined == 0 || std::ranges::find(dead, info.pid) == dead.end()) continue;
      comm.last_error =
          "process " + std::to_string(info.pid) + " (rank " + std::to_string(r) + ") has died";
      board.failed = r + 1;
      return comm.error = remote_error;
    }
  }
  comm.gpus.clear();
  comm.alone = true;
  for (int r = 0; r < comm.ranks; ++r) {
    const RankInfo& info = comm.board.rank(r);
    comm.gpus.push_back(info.gpu);
    comm.alone = comm.alone && info.pid == ::getpid();
  }
  comm.ready = true;
  process.clock().wait_until(Time::ps(board.clock_ps));
  return success;
}

bool has_lost_gpu(Process& process, const Comm& comm) {
  return std::ranges::any_of(
      comm.gpus, [&](GpuId gpu) { return process.trouble_of(gpu) != GpuTrouble::none; });
}

Result<Planner*> planner_of(Process& process, Comm& comm) {
  auto present = process.present();
  if (!comm.planner || comm.planned_on != present) {
    auto planner = Planner::make(present, process.world().parts(), comm.gpus, comm.gpus_per_thread);
    if (!planner) return tl::unexpected(planner.error());
    comm.planner = std::move(*planner);
    comm.planned_on = std::move(present);
  }
  return comm.planner.get();
}

bool refer(Process& process, const Comm& comm, const void* address, std::uint64_t bytes,
           BufferRef& out) {
  out = BufferRef{};
  out.address = reinterpret_cast<std::uint64_t>(address);
  out.bytes = bytes;
  if (address == nullptr || comm.alone) return true;
  const auto shared = process.memory().share(address);
  if (!shared) return false;
  out.block = *shared;
  out.inner = static_cast<std::uint64_t>(static_cast<const std::byte*>(address) -
                                         process.memory().find(address)->base);
  return true;
}

std::byte* resolve(Process& process, const BufferRef& buffer, int pid) {
  if (buffer.address == 0) return nullptr;
  if (pid == ::getpid()) return reinterpret_cast<std::byte*>(buffer.address);
  std::byte* base = process.memory().open(buffer.block);
  return base == nullptr ? nullptr : base + buffer.inner;
}

}  // namespace isleway::vgpu::nccl
