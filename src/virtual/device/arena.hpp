// One GPU's memory, as a range of addresses backed by a file that other processes can map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "isleway/core/error.hpp"

namespace isleway::vgpu {

/// Address space is reserved at once; memory is used only where something was written.
class Arena {
 public:
  /// Error: the system gives no such file or range.
  static Result<Arena> make(std::uint64_t bytes);
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&&) = delete;
  ~Arena();

  /// Zeroed bytes at a multiple of `alignment`, itself one of kGrain; nothing when no gap is large
  /// enough.
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment = kGrain);
  /// What take() gave; the memory goes back to the system.
  void give_back(std::uint64_t offset);
  /// Of what take() gave; 0 when it did not.
  std::uint64_t size_at(std::uint64_t offset) const;

  std::byte* base() const { return base_; }
  std::uint64_t size() const { return size_; }
  int file() const { return file_; }
  bool holds(const void* address) const { return address >= base_ && address < base_ + size_; }

  static constexpr std::uint64_t kGrain = 512;

 private:
  Arena(std::byte* base, std::uint64_t size, int file);
  std::byte* base_ = nullptr;
  std::uint64_t size_ = 0;
  int file_ = -1;
  std::map<std::uint64_t, std::uint64_t> taken_, gaps_;  ///< size by offset
};

}  // namespace isleway::vgpu
