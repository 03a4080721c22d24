// Memory that all processes of a run share, and its lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "isleway/core/error.hpp"

namespace isleway::vgpu {

/// A mapping of one file, or of nothing (shared with forks only). Whoever made a file removes
/// it; whoever opened it only lets go.
class Segment {
 public:
  static Result<Segment> create(std::size_t bytes, bool named);
  static Result<Segment> open(const std::string& path);
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&&) = delete;
  ~Segment();

  const std::string& path() const { return path_; }  ///< empty: without a name
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  Segment(std::byte* data, std::size_t size, std::string path, bool owner)
      : data_(data), size_(size), path_(std::move(path)), owner_(owner) {}
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::string path_;
  bool owner_ = false;
};

/// A lock between processes; a holder's death frees it. Lies in a segment. Its waiters are told
/// of changes, whoever makes them.
class SharedLock {
 public:
  void init();
  void lock();
  void unlock();

  /// Something that others may wait for has changed.
  void announce();
  /// Counts announcements: what `wait` compares.
  std::uint32_t announced() const { return changes_.load(std::memory_order_acquire); }
  /// Until there is an announcement after number `seen`, or for `real_ms` of real time.
  void wait(std::uint32_t seen, int real_ms);

 private:
  alignas(64) std::byte mutex_[64];
  alignas(64) std::atomic<std::uint32_t> changes_;
};

}  // namespace isleway::vgpu
