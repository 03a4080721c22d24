// Communicators: made, asked, split, let go of.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "virtual/nccl/exports/api.hpp"
#include "virtual/world/segment.hpp"

using namespace isleway::vgpu;
using namespace isleway::vgpu::nccl;

namespace {

constexpr int kVersion = 22809;
constexpr int kJoined = -1;                  ///< of init_rank: the other ranks may still be missing
constexpr int kUndefined = -2147483647 - 1;  ///< a field of the configuration that was not set

struct UniqueId {
  char bytes[kIdBytes];
};

/// The fields that mean something here, in the place that 2.28 gives them.
struct Config {
  std::size_t size;
  unsigned magic, version;
  int blocking;
};
constexpr unsigned kMagic = 0xcafebeef;

std::string wrong(const Config* config) {
  if (config == nullptr) return {};
  if (config->magic != kMagic) return "config is not initialised";
  if (config->blocking != kUndefined && config->blocking != 0 && config->blocking != 1)
    return "config.blocking is neither 0 nor 1";
  return {};
}
bool blocks(const Config* config) { return config == nullptr || config->blocking != 0; }

/// Comms of this process by board: the ranks of one share it.
std::map<Board*, std::weak_ptr<Comm>>& comms() {
  static auto& all = *new std::map<Board*, std::weak_ptr<Comm>>;
  return all;
}

/// Of the rank that is missed first, for all who wait for it.
std::string loss_of(Process& process, const Comm& comm, int rank) {
  const RankInfo& info = comm.board.rank(rank);
  if (process.trouble_of(info.gpu) != GpuTrouble::none)
    return fmt::format("the GPU of rank {} no longer works", rank);
  return fmt::format("process {} (rank {}) has died", info.pid, rank);
}

/// Tells when a process dies, or a GPU, that others still count on.
std::string find_lost_ranks() {
  Process& process = Process::get();
  World& world = process.world();
  world.find_dead();
  std::set<int> gone;
  for (const ProcessInfo& known : world.processes())
    if (!known.alive) gone.insert(known.pid);
  std::string told;
  for (const auto& [board, weak] : comms()) {
    const auto comm = weak.lock();
    if (!comm || comm->error != success) continue;
    const std::lock_guard locked(world.lock());
    // Whoever is missed first is named by all, though others end because of it.
    for (int r = 0; r < comm->ranks && board->failed == 0; ++r) {
      const RankInfo& info = comm->board.rank(r);
      const bool lost = gone.contains(info.pid) || process.trouble_of(info.gpu) != GpuTrouble::none;
      if (info.joined != 0 && info.left == 0 && lost)
        board->failed = static_cast<std::uint32_t>(r) + 1;
    }
    if (board->failed == 0) continue;
    const int lost = static_cast<int>(board->failed) - 1;
    // A GPU of one's own is CUDA's to tell about.
    const bool own = std::ranges::find(comm->local, lost) != comm->local.end();
    comm->error = own ? unhandled_cuda_error : remote_error;
    told = comm->last_error = loss_of(process, *comm, lost);
    fmt::print(stderr, "isleway: NCCL communicator of {} ranks: {}\n", comm->ranks, told);
  }
  return told;
}

/// Of communicators that have failed, whatever else is waited for.
std::string standing_error() {
  if (std::string now = find_lost_ranks(); !now.empty()) return now;
  for (const auto& [board, weak] : comms())
    if (const auto comm = weak.lock(); comm && fate_of(*comm) == Fate::hangs)
      return comm->last_error;
  return {};
}

int init_rank(const char* function, RankHandle** out, int ranks, const UniqueId& id, int rank,
              int device) {
  Process& process = Process::get();
  if (!process || process.device_count() == 0)
    return fail(function, unhandled_cuda_error, "there is no GPU");
  if (process.system_not_ready())
    return fail(function, unhandled_cuda_error, "the fabric manager is not running");
  if (out == nullptr) return fail(function, invalid_argument, "comm is null");
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return fail(function, invalid_argument, fmt::format("rank {} of {}", rank, ranks));
  World& world = process.world();
  const auto held = process.hold();
  static const bool watching = (process.watch(standing_error), true);
  (void)watching;
  auto handle = std::make_unique<RankHandle>();
  handle->rank = rank;
  handle->device = device;
  {
    const std::lock_guard locked(world.lock());
    Board* board = BoardView::find_or_make(world, id.bytes, static_cast<std::uint32_t>(ranks));
    if (board == nullptr)
      return fail(function, invalid_usage,
                  "other ranks said another number of ranks, or there are too many communicators");
    auto& known = comms()[board];
    handle->comm = known.lock();
    if (!handle->comm) {
      known = handle->comm = std::make_shared<Comm>();
      handle->comm->board = BoardView(world, board);
      handle->comm->ranks = ranks;
    }
    RankInfo& info = handle->comm->board.rank(rank);
    if (info.joined != 0)
      return fail(function, invalid_usage, fmt::format("rank {} is there already", rank));
    for (int other = 0; other < ranks; ++other) {
      const RankInfo& o = handle->comm->board.rank(other);
      if (o.joined == 0 || o.gpu != process.gpu(device)) continue;
      board->failed = static_cast<std::uint32_t>(rank) + 1;
      world.lock().announce();
      return fail(function, invalid_usage,
                  fmt::format("Duplicate GPU detected : rank {} and rank {} both on device {}",
                              rank, other, device));
    }
    info.pid = ::getpid();
    info.gpu = process.gpu(device);
    info.joined = 1;
    ++board->arrived;
    board->clock_ps = std::max(board->clock_ps, process.clock().now().ps());
    handle->comm->local.push_back(rank);
    std::ranges::sort(handle->comm->local);
  }
  world.lock().announce();
  *out = handle.release();
  handles().insert(*out);
  return kJoined;
}

/// init_rank, and then waits for the other ranks, with the group where there is one.
int init(const char* function, RankHandle** out, int ranks, const UniqueId& id, int rank,
         const Config* config) {
  if (const std::string why = wrong(config); !why.empty())
    return fail(function, invalid_argument, why);
  Process& process = Process::get();
  const int status =
      init_rank(function, out, ranks, id, rank, process ? process.current_device() : 0);
  if (status != kJoined) return status;
  if (!blocks(config)) return in_progress;
  const int waited = Group::mine().add(process, (*out)->comm);
  return waited == success ? waited : fail(function, waited, (*out)->comm->last_error);
}

UniqueId derived(const RankHandle& parent, char what, unsigned round, int color) {
  UniqueId id{};
  std::memcpy(id.bytes, parent.comm->board->id, kIdBytes);
  // Each descendant writes its own lineage behind the counter, mixed so that it always fits.
  std::uint64_t mixed;
  std::memcpy(&mixed, id.bytes + 16, sizeof mixed);
  for (const std::uint64_t part : {std::uint64_t(what), std::uint64_t(round) + 1,
                                   std::uint64_t(static_cast<std::uint32_t>(color)) + 1}) {
    mixed = (mixed ^ part) * 0x9e3779b97f4a7c15u;
    mixed ^= mixed >> 29;
  }
  std::memcpy(id.bytes + 16, &mixed, sizeof mixed);
  return id;
}

void let_go(RankHandle* comm, bool aborted) {
  Process& process = Process::get();
  const auto held = process.hold();
  const std::lock_guard locked(process.world().lock());
  comm->comm->board.rank(comm->rank).left = 1;
  comm->comm->aborted |= aborted;
  process.world().lock().announce();
  handles().erase(comm);
}

template <class Body>
int with_comm(const char* function, RankHandle* comm, Body body) {
  if (!Process::get() || !is_handle(comm))
    return fail(function, invalid_argument, "comm is no communicator");
  return body(*comm);
}

}  // namespace

ISLEWAY_API int ncclGetVersion(int* version) {
  if (version == nullptr) return fail(__func__, invalid_argument, "version is null");
  *version = kVersion;
  return success;
}

ISLEWAY_API const char* ncclGetErrorString(int status) {
  switch (status) {
    case success: return "no error";
    case unhandled_cuda_error: return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case system_error: return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case internal_error: return "internal error";
    case invalid_argument: return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case invalid_usage: return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case remote_error: return "remote process exited or there was a network error";
    case in_progress: return "NCCL operation in progress";
    default: return "unknown result code";
  }
}
ISLEWAY_API const char* pncclGetErrorString(int status) { return ncclGetErrorString(status); }

ISLEWAY_API const char* ncclGetLastError(RankHandle* comm) {
  if (comm != nullptr && is_handle(comm) && !comm->comm->last_error.empty())
    last_error() = comm->comm->last_error;
  return last_error().c_str();
}
ISLEWAY_API const char* pncclGetLastError(RankHandle* comm) { return ncclGetLastError(comm); }

ISLEWAY_API int ncclGetUniqueId(UniqueId* id) {
  Process& process = Process::get();
  if (!process) return fail(__func__, unhandled_cuda_error, "there is no GPU");
  if (id == nullptr) return fail(__func__, invalid_argument, "uniqueId is null");
  const std::lock_guard locked(process.world().lock());
  constexpr int counter = 0;
  const std::uint64_t number = ++process.world().root(counter);
  *id = UniqueId{};
  std::memcpy(id->bytes, "isleway", 8);
  std::memcpy(id->bytes + 8, &number, sizeof number);
  return success;
}

ISLEWAY_API int ncclCommInitRankConfig(RankHandle** comm, int ranks, UniqueId id, int rank,
                                       Config* config) {
  return init(__func__, comm, ranks, id, rank, config);
}
ISLEWAY_API int ncclCommInitRank(RankHandle** comm, int ranks, UniqueId id, int rank) {
  return init(__func__, comm, ranks, id, rank, nullptr);
}
ISLEWAY_API int ncclCommInitRankScalable(RankHandle** comm, int ranks, int rank, int ids,
                                         UniqueId* id, Config* config) {
  if (ids < 1 || id == nullptr) return fail(__func__, invalid_argument, "no unique id is given");
  return init(__func__, comm, ranks, id[0], rank, config);
}

ISLEWAY_API int ncclCommInitAll(RankHandle** comms_out, int count, const int* devices) {
  Process& process = Process::get();
  if (!process) return fail(__func__, unhandled_cuda_error, "there is no GPU");
  if (comms_out == nullptr || count < 1)
    return fail(__func__, invalid_argument, "no communicators");
  if (devices == nullptr && count > process.device_count())
    return fail(__func__, invalid_argument, "more ranks than devices");
  for (int i = 0; devices != nullptr && i < count; ++i)
    if (devices[i] < 0 || devices[i] >= process.device_count())
      return fail(__func__, unhandled_cuda_error, fmt::format("there is no device {}", devices[i]));
  UniqueId id;
  if (const int status = ncclGetUniqueId(&id); status != success) return status;
  Group& group = Group::mine();
  group.start();
  int result = success;
  for (int i = 0; i < count && result == success; ++i) {
    const int status =
        init_rank(__func__, &comms_out[i], count, id, i, devices != nullptr ? devices[i] : i);
    result = status == kJoined ? group.add(process, comms_out[i]->comm) : status;
  }
  if (result != success) group.fail(result);
  const int ended = group.end(process);
  return result != success ? result : ended;
}

ISLEWAY_API int ncclCommSplit(RankHandle* comm, int color, int key, RankHandle** out,
                              Config* config) {
  return with_comm(__func__, comm, [&](RankHandle& parent) -> int {
    if (out == nullptr) return fail("ncclCommSplit", invalid_argument, "newcomm is null");
    *out = nullptr;
    Process& process = Process::get();
    World& world = process.world();
    // A split inside a group is one of many by the same thread: nobody can wait in it.
    const unsigned round = ++parent.splits;
    const BoardView& board = parent.comm->board;
    {
      const std::lock_guard locked(world.lock());
      RankInfo& info = board.rank(parent.rank);
      info.color = color;
      info.key = key;
      info.split = round;
    }
    world.lock().announce();
    const auto join = [&process, board, round, config](RankHandle& from, int own_color,
                                                       RankHandle** made) -> int {
      while (true) {
        const std::uint32_t seen = process.world().lock().announced();
        bool all = true;
        for (int r = 0; r < from.comm->ranks; ++r) all = all && board.rank(r).split >= round;
        if (all) break;
        process.world().lock().wait(seen, 100);
        if (const std::string why = standing_error(); !why.empty()) return remote_error;
      }
      if (own_color < 0) return success;
      std::vector<std::pair<int, int>> members;
      for (int r = 0; r < from.comm->ranks; ++r)
        if (board.rank(r).color == own_color) members.emplace_back(board.rank(r).key, r);
      std::ranges::sort(members);
      int rank = 0;
      while (members[static_cast<std::size_t>(rank)].second != from.rank) ++rank;
      const UniqueId id = derived(from, 's', round, own_color);
      const int status =
          init_rank("ncclCommSplit", made, static_cast<int>(members.size()), id, rank, from.device);
      if (status != kJoined) return status;
      return blocks(config) ? Group::mine().add(process, (*made)->comm) : int{success};
    };
    if (Group::mine().open()) {
      Group::mine().add([&parent, color, out, join] { return join(parent, color, out); });
      return success;
    }
    return join(parent, color, out);
  });
}

ISLEWAY_API int ncclCommShrink(RankHandle* comm, int* excluded, int count, RankHandle** out,
                               Config* config, int) {
  return with_comm(__func__, comm, [&](RankHandle& parent) -> int {
    if (out == nullptr || count < 0 || (count > 0 && excluded == nullptr))
      return fail("ncclCommShrink", invalid_argument, "an argument is null");
    const std::set<int> gone(excluded, excluded + count);
    if (gone.contains(parent.rank))
      return fail("ncclCommShrink", invalid_usage, "an excluded rank calls it");
    int rank = 0;
    for (int r = 0; r < parent.rank; ++r) rank += gone.contains(r) ? 0 : 1;
    UniqueId id = derived(parent, 'x', ++parent.shrinks, count);
    Process& process = Process::get();
    const int status =
        init_rank("ncclCommShrink", out, parent.comm->ranks - static_cast<int>(gone.size()), id,
                  rank, parent.device);
    if (status != kJoined) return status;
    return blocks(config) ? Group::mine().add(process, (*out)->comm) : int{in_progress};
  });
}

ISLEWAY_API int ncclCommFinalize(RankHandle* comm) {
  return with_comm(__func__, comm, [](RankHandle& handle) -> int {
    if (handle.finalized) return invalid_argument;
    handle.finalized = true;
    return success;
  });
}
ISLEWAY_API int ncclCommDestroy(RankHandle* comm) {
  if (comm == nullptr) return success;
  return with_comm(__func__, comm, [](RankHandle& handle) -> int {
    Process& process = Process::get();
    {
      const auto held = process.hold();
      if (handle.comm->error == success) process.synchronize_device(handle.device);
    }
    let_go(&handle, false);
    delete &handle;
    return success;
  });
}
ISLEWAY_API int ncclCommAbort(RankHandle* comm) {
  if (comm == nullptr) return success;
  return with_comm(__func__, comm, [](RankHandle& handle) -> int {
    let_go(&handle, true);
    delete &handle;
    return success;
  });
}
ISLEWAY_API int ncclCommRevoke(RankHandle* comm, int flags) {
  return with_comm(__func__, comm, [&](RankHandle& handle) -> int {
    if (flags != 0) return fail("ncclCommRevoke", invalid_argument, "flags are none");
    if (handle.comm->error == success) handle.comm->error = invalid_usage;
    return success;
  });
}

ISLEWAY_API int ncclCommGetAsyncError(RankHandle* comm, int* error) {
  return with_comm(__func__, comm, [&](RankHandle& handle) -> int {
    if (error == nullptr)
      return fail("ncclCommGetAsyncError", invalid_argument, "asyncError is null");
    if (!handle.comm->ready) {
      *error = complete(Process::get(), *handle.comm, false);
      return success;
    }
    {
      const auto held = Process::get().hold();
      find_lost_ranks();
    }
    *error = handle.comm->error;
    return success;
  });
}
ISLEWAY_API int ncclCommCount(RankHandle* comm, int* count) {
  return with_comm(__func__, comm, [&](RankHandle& handle) -> int {
    if (count == nullptr) return fail("ncclCommCount", invalid_argument, "count is null");
    *count = handle.comm->ranks;
    return success;
  });
}
ISLEWAY_API int ncclCommCuDevice(RankHandle* comm, int* device) {
  return with_comm(__func__, comm, [&](RankHandle& handle) -> int {
    if (device == nullptr) return fail("ncclCommCuDevice", invalid_argument, "device is null");
    *device = handle.device;
    return success;
  });
}
ISLEWAY_API int ncclCommUserRank(RankHandle* comm, int* rank) {
  return with_comm(__func__, comm, [&](RankHandle& handle) -> int {
    if (rank == nullptr) return fail("ncclCommUserRank", invalid_argument, "rank is null");
    *rank = handle.rank;
    return success;
  });
}

// Registered buffers: any buffer will do.
ISLEWAY_API int ncclCommRegister(RankHandle* comm, void* buffer, std::size_t, void** handle) {
  return with_comm(__func__, comm, [&](RankHandle&) -> int {
    if (buffer == nullptr || handle == nullptr)
      return fail("ncclCommRegister", invalid_argument, "an argument is null");
    *handle = buffer;
    return success;
  });
}
ISLEWAY_API int ncclCommDeregister(RankHandle* comm, void*) {
  return with_comm(__func__, comm, [](RankHandle&) -> int { return success; });
}
ISLEWAY_API int ncclCommWindowRegister(RankHandle* comm, void* buffer, std::size_t bytes,
                                       void** window, int) {
  return ncclCommRegister(comm, buffer, bytes, window);
}
ISLEWAY_API int ncclCommWindowDeregister(RankHandle* comm, void* window) {
  return ncclCommDeregister(comm, window);
}

ISLEWAY_API int ncclMemAlloc(void** address, std::size_t bytes) {
  Process& process = Process::get();
  if (!process || process.device_count() == 0)
    return fail(__func__, unhandled_cuda_error, "there is no GPU");
  if (address == nullptr || bytes == 0)
    return fail(__func__, invalid_argument, "an argument is null");
  const auto held = process.hold();
  *address = process.memory().take_device(process.gpu(process.current_device()), bytes);
  return *address != nullptr ? int{success} : fail(__func__, unhandled_cuda_error, "out of memory");
}
ISLEWAY_API int ncclMemFree(void* address) {
  Process& process = Process::get();
  if (!process) return fail(__func__, unhandled_cuda_error, "there is no GPU");
  const auto held = process.hold();
  const Block* block = process.memory().find(address);
  if (block == nullptr || block->base != address)
    return fail(__func__, invalid_argument, "no such memory");
  process.free_device(address);
  return success;
}

// Kernels that communicate themselves cannot run.
ISLEWAY_API int ncclDevCommCreate(RankHandle*, const void*, void*) {
  return fail(__func__, invalid_usage, "device code cannot run on virtual GPUs");
}
ISLEWAY_API int ncclDevCommDestroy(RankHandle*, const void*) { return success; }

ISLEWAY_PROFILED(ncclGetVersion, (int*));
ISLEWAY_PROFILED(ncclGetUniqueId, (UniqueId*));
ISLEWAY_PROFILED(ncclCommInitRankConfig, (RankHandle**, int, UniqueId, int, Config*));
ISLEWAY_PROFILED(ncclCommInitRank, (RankHandle**, int, UniqueId, int));
ISLEWAY_PROFILED(ncclCommInitRankScalable, (RankHandle**, int, int, int, UniqueId*, Config*));
ISLEWAY_PROFILED(ncclCommInitAll, (RankHandle**, int, const int*));
ISLEWAY_PROFILED(ncclCommSplit, (RankHandle*, int, int, RankHandle**, Config*));
ISLEWAY_PROFILED(ncclCommShrink, (RankHandle*, int*, int, RankHandle**, Config*, int));
ISLEWAY_PROFILED(ncclCommFinalize, (RankHandle*));
ISLEWAY_PROFILED(ncclCommDestroy, (RankHandle*));
ISLEWAY_PROFILED(ncclCommAbort, (RankHandle*));
ISLEWAY_PROFILED(ncclCommRevoke, (RankHandle*, int));
ISLEWAY_PROFILED(ncclCommGetAsyncError, (RankHandle*, int*));
ISLEWAY_PROFILED(ncclCommCount, (RankHandle*, int*));
ISLEWAY_PROFILED(ncclCommCuDevice, (RankHandle*, int*));
ISLEWAY_PROFILED(ncclCommUserRank, (RankHandle*, int*));
ISLEWAY_PROFILED(ncclCommRegister, (RankHandle*, void*, std::size_t, void**));
ISLEWAY_PROFILED(ncclCommDeregister, (RankHandle*, void*));
ISLEWAY_PROFILED(ncclCommWindowRegister, (RankHandle*, void*, std::size_t, void**, int));
ISLEWAY_PROFILED(ncclCommWindowDeregister, (RankHandle*, void*));
ISLEWAY_PROFILED(ncclMemAlloc, (void**, std::size_t));
ISLEWAY_PROFILED(ncclMemFree, (void*));
