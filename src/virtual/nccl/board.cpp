#include "virtual/nccl/board.hpp"

#include <cstring>

namespace isleway::vgpu::nccl {
namespace {

constexpr int kFirstBoard = 1;  // among World's roots

}  // namespace

Board* BoardView::find_or_make(World& world, const char* id, std::uint32_t ranks) {
  const auto board_at = [&](std::uint64_t offset) {
    return reinterpret_cast<Board*>(world.at(offset));
  };
  for (std::uint64_t at = world.root(kFirstBoard); at != 0; at = board_at(at)->next) {
    Board* board = board_at(at);
    if (std::memcmp(board->id, id, kIdBytes) == 0) return board->ranks == ranks ? board : nullptr;
  }
  const std::uint64_t offset = world.reserve(sizeof(Board));
  const std::uint64_t ranks_at = world.reserve(sizeof(RankInfo) * ranks);
  const std::uint64_t calls_at = world.reserve(sizeof(CallSlot) * kCallSlots);
  const std::uint64_t posts_at = world.reserve(sizeof(Post) * kCallSlots * ranks);
  const std::uint64_t pairs_at =
      world.reserve(sizeof(std::uint64_t) * std::uint64_t{ranks} * ranks);
  if (offset == 0 || ranks_at == 0 || calls_at == 0 || posts_at == 0 || pairs_at == 0)
    return nullptr;
  Board* board = board_at(offset);
  std::memcpy(board->id, id, kIdBytes);
  board->ranks = ranks;
  board->ranks_at = ranks_at;
  board->calls_at = calls_at;
  board->posts_at = posts_at;
  board->pairs_at = pairs_at;
  board->next = world.root(kFirstBoard);
  world.root(kFirstBoard) = offset;
  return board;
}

MessageSlot* BoardView::message(int from, int to, std::uint64_t k) const {
  std::uint64_t& slots =
      at<std::uint64_t>(board_->pairs_at)[static_cast<std::uint64_t>(from) * board_->ranks +
                                          static_cast<std::uint64_t>(to)];
  if (slots == 0) slots = world_->reserve(sizeof(MessageSlot) * kMessageSlots);
  return slots == 0 ? nullptr : at<MessageSlot>(slots) + k % kMessageSlots;
}

}  // namespace isleway::vgpu::nccl
