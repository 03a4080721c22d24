// Where the ranks of a communicator meet, in the memory that all processes of a run share.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "virtual/device/memory.hpp"

namespace isleway::vgpu::nccl {

constexpr int kIdBytes = 128;  ///< ncclUniqueId

/// Bytes of a rank, wherever its process has them.
struct BufferRef {
  SharedBlock block;          ///< of device memory
  std::uint64_t inner = 0;    ///< from the block's beginning
  std::uint64_t address = 0;  ///< in its own process
  std::uint64_t bytes = 0;
};

/// What a rank brings to a call.
struct Post {
  std::int64_t ready_ps;
  std::int32_t collective, type, op, root;
  std::int64_t count;
  BufferRef send, recv;
  unsigned char scalar[8];  ///< of premul_sum
  std::int32_t pid;
};

/// The k-th call of a communicator, in slot k modulo the number of slots.
struct CallSlot {
  std::uint64_t number;  ///< k + 1 while in use
  std::uint32_t posted, taken;
  std::atomic<std::uint32_t> done;
};
constexpr std::uint64_t kCallSlots = 16;

/// The k-th message from one rank to another.
struct MessageSlot {
  std::uint64_t number;
  std::uint32_t sent, received, taken;
  std::atomic<std::uint32_t> done;
  std::int64_t sent_ps, received_ps;
  BufferRef from, to;
};
constexpr std::uint64_t kMessageSlots = 16;

struct RankInfo {
  std::int32_t pid;
  std::uint32_t gpu;
  std::uint32_t joined, left;
  std::int32_t color, key;
  std::uint32_t split;  ///< how many splits it has come to
};

struct Board {
  char id[kIdBytes];
  std::uint32_t ranks, arrived;
  std::uint32_t failed;   ///< the rank that was lost first, plus 1
  std::int64_t clock_ps;  ///< the latest that any rank came
  std::uint64_t next, ranks_at, calls_at, posts_at, pairs_at;
  std::uint32_t splits_done, split_posted;
};

/// A view of one, in this process.
class BoardView {
 public:
  BoardView() = default;
  BoardView(World& world, Board* board) : world_(&world), board_(board) {}

  Board& operator*() const { return *board_; }
  Board* operator->() const { return board_; }
  RankInfo& rank(int r) const { return at<RankInfo>(board_->ranks_at)[r]; }
  CallSlot& call(std::uint64_t k) const { return at<CallSlot>(board_->calls_at)[k % kCallSlots]; }
  std::span<Post> posts(std::uint64_t k) const {
    return {at<Post>(board_->posts_at) + (k % kCallSlots) * board_->ranks, board_->ranks};
  }
  /// Made when first asked for, with the lock held. Null: no more room.
  MessageSlot* message(int from, int to, std::uint64_t k) const;

  /// The board of this id for so many ranks; made by whoever comes first. Called with the lock
  /// held. Null: no more room, or another number of ranks.
  static Board* find_or_make(World& world, const char* id, std::uint32_t ranks);

 private:
  template <class T>
  T* at(std::uint64_t offset) const {
    return reinterpret_cast<T*>(world_->at(offset));
  }
  World* world_ = nullptr;
  Board* board_ = nullptr;
};

}  // namespace isleway::vgpu::nccl
