#include "virtual/device/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace isleway::vgpu {

Result<Arena> Arena::make(std::uint64_t bytes) {
  const int file = ::memfd_create("isleway-gpu", MFD_CLOEXEC);
  const auto failed = [&] {
    const std::string why = std::strerror(errno);
    if (file >= 0) ::close(file);
    return fail("there is no room for a virtual GPU's memory: " + why);
  };
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) return failed();
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (base == MAP_FAILED) return failed();
  return Arena(static_cast<std::byte*>(base), bytes, file);
}

Arena::Arena(std::byte* base, std::uint64_t size, int file)
    : base_(base), size_(size), file_(file), gaps_{{0, size}} {}

Arena::Arena(Arena&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      size_(other.size_),
      file_(std::exchange(other.file_, -1)),
      taken_(std::move(other.taken_)),
      gaps_(std::move(other.gaps_)) {}

Arena::~Arena() {
  if (base_ != nullptr) ::munmap(base_, size_);
  if (file_ >= 0) ::close(file_);
}

std::optional<std::uint64_t> Arena::take(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t size = (bytes + kGrain - 1) / kGrain * kGrain;
  if (size < bytes) return std::nullopt;
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    const auto [begin, length] = *gap;
    const std::uint64_t offset = (begin + alignment - 1) / alignment * alignment;
    const std::uint64_t skipped = offset - begin;
    if (length < skipped || length - skipped < size) continue;
    gaps_.erase(gap);
    if (skipped > 0) gaps_.emplace(begin, skipped);
    if (length - skipped > size) gaps_.emplace(offset + size, length - skipped - size);
    taken_.emplace(offset, size);
    return offset;
  }
  return std::nullopt;
}

void Arena::give_back(std::uint64_t offset) {
  const auto found = taken_.find(offset);
  if (found == taken_.end()) return;
  std::uint64_t size = found->second;
  taken_.erase(found);
  ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
              static_cast<off_t>(size));
  const auto next = gaps_.lower_bound(offset);
  if (next != gaps_.end() && next->first == offset + size) {
    size += next->second;
    gaps_.erase(next);
  }
  const auto after = gaps_.lower_bound(offset);
  if (after != gaps_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      before->second += size;
      return;
    }
  }
  gaps_.emplace(offset, size);
}

std::uint64_t Arena::size_at(std::uint64_t offset) const {
  const auto found = taken_.find(offset);
  return found == taken_.end() ? 0 : found->second;
}

}  // namespace isleway::vgpu
