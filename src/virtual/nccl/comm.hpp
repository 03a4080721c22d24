// Communicators of this process, and the calls that their ranks make.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "virtual/nccl/board.hpp"
#include "virtual/nccl/element.hpp"
#include "virtual/nccl/planner.hpp"

namespace isleway::vgpu::nccl {

/// ncclResult_t
enum Status : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,
};

/// What the ranks of one communicator in this process share.
struct Comm {
  BoardView board;
  int ranks = 0;
  bool ready = false;       ///< all ranks are known
  bool alone = false;       ///< all of them are in this process
  int gpus_per_thread = 1;  ///< ranks that one thread started together
  std::vector<GpuId> gpus;
  std::vector<int> local;  ///< ranks in this process
  std::unique_ptr<Planner> planner;
  std::shared_ptr<const Present> planned_on;
  std::map<std::uint64_t, std::shared_ptr<Joint>> gathering;  ///< calls, by number
  int open_groups = 0;  ///< of messages, some of which still miss their other half
  bool aborted = false;
  int error = success;  ///< asynchronous
  std::string last_error;
};

struct UserOp {
  Type type = Type::float32;
  std::array<std::byte, 8> scalar{};
  const void* on_device = nullptr;  ///< read when the call begins
};

/// ncclComm_t points to one: a rank.
struct RankHandle {
  std::shared_ptr<Comm> comm;
  int rank = 0;
  int device = 0;
  std::uint64_t calls = 0;                    ///< made so far
  std::vector<std::uint64_t> sent, received;  ///< messages so far, by peer
  std::map<int, UserOp> ops;
  int next_op = 5;  ///< after the built-in ones
  unsigned splits = 0, shrinks = 0;
  bool finalized = false;
};

/// A collective as a rank calls it.
struct Call {
  Collective collective = Collective::all_reduce;
  Type type = Type::float32;
  Op op = Op::sum;
  std::optional<UserOp> user_op;  ///< a copy: it may be gone before the call begins
  int root = 0;
  std::int64_t count = 0;  ///< as the caller gives it
  const void* send = nullptr;
  void* recv = nullptr;
};

/// A send or a receive.
struct Message {
  bool sends = false;
  int peer = 0;
  const void* address = nullptr;
  std::int64_t bytes = 0;
};

/// Of one rank, in the size that nccl-tests counts.
CollectiveCall collective_call(const Call& call, const RankHandle& handle);

/// Whether calls go on, never end (a rank is lost), or end at once without a result.
enum class Fate : std::uint8_t { goes_on, hangs, ends };
inline Fate fate_of(const Comm& comm) {
  if (comm.aborted) return Fate::ends;
  if (comm.error == success) return Fate::goes_on;
  const bool lost = comm.error == remote_error || comm.error == unhandled_cuda_error;
  return lost ? Fate::hangs : Fate::ends;
}

/// Whether a GPU of the communicator's has failed, as far as this process's clock has come.
bool has_lost_gpu(Process& process, const Comm& comm);
/// Finds out who the ranks are, once all have come. `wait`: until then.
int complete(Process& process, Comm& comm, bool wait);
/// NCCL's choices for the machine as it is now. Error: why there is none.
Result<Planner*> planner_of(Process& process, Comm& comm);

/// Puts the rank's part of its next call into the stream.
int enqueue(Process& process, RankHandle& handle, const Call& call, Stream& stream);
/// Sends and receives that go on together.
int enqueue(Process& process, RankHandle& handle, const std::vector<Message>& messages,
            Stream& stream);
/// What the messages of a rank amount to, for the clock.
CollectiveCall pattern_of(const RankHandle& handle, const std::vector<Message>& messages);

/// For the board: where the bytes are. False: memory that other processes cannot reach.
bool refer(Process& process, const Comm& comm, const void* address, std::uint64_t bytes,
           BufferRef& out);
/// In this process; null when their owner is gone.
std::byte* resolve(Process& process, const BufferRef& buffer, int pid);

/// Runs the call's schedule on the posts' buffers. `sources`: what ranks send, where it is not in
/// memory; empty producers, or none at all, where it is.
Result<void> run_call(Process& process, Comm& comm, const CollectiveCall& shape,
                      std::span<const Post> posts, std::span<const Producer> sources = {});

}  // namespace isleway::vgpu::nccl
