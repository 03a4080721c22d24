#include "virtual/world/segment.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>

namespace isleway::vgpu {
namespace {

static_assert(sizeof(pthread_mutex_t) <= 64);

Result<std::byte*> map(int file, std::size_t bytes) {
  const int flags = MAP_SHARED | MAP_NORESERVE | (file < 0 ? MAP_ANONYMOUS : 0);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (memory == MAP_FAILED)
    return fail("the memory that a run's processes share cannot be mapped: " +
                std::string(std::strerror(errno)));
  return static_cast<std::byte*>(memory);
}

tl::unexpected<Error> failed(const std::string& path) {
  return fail(path + ": " + std::strerror(errno), {}, "is the run that made it still going on?");
}

/// In memory where the system has such a folder.
std::string new_path() {
  const char* temporary = std::getenv("TMPDIR");
  const std::string fallback = temporary != nullptr ? temporary : "/tmp";
  return (::access("/dev/shm", W_OK) == 0 ? std::string("/dev/shm") : fallback) + "/isleway-XXXXXX";
}

}  // namespace

Result<Segment> Segment::create(std::size_t bytes, bool named) {
  if (!named)
    return map(-1, bytes).map([&](std::byte* data) { return Segment(data, bytes, "", false); });
  std::string path = new_path();
  const int file = ::mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) return failed(path);
  if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    auto error = failed(path);
    ::close(file);
    ::unlink(path.c_str());
    return error;
  }
  auto data = map(file, bytes);
  ::close(file);
  if (!data) {
    ::unlink(path.c_str());
    return tl::unexpected(data.error());
  }
  return Segment(*data, bytes, path, true);
}

Result<Segment> Segment::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return failed(path);
  struct stat status {};
  if (::fstat(file, &status) != 0) {
    auto error = failed(path);
    ::close(file);
    return error;
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  auto data = map(file, bytes);
  ::close(file);
  if (!data) return tl::unexpected(data.error());
  return Segment(*data, bytes, path, false);
}

Segment::Segment(Segment&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(other.size_),
      path_(std::move(other.path_)),
      owner_(std::exchange(other.owner_, false)) {}

Segment::~Segment() {
  if (data_ != nullptr) ::munmap(data_, size_);
  if (owner_) ::unlink(path_.c_str());
}

void SharedLock::init() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(reinterpret_cast<pthread_mutex_t*>(mutex_), &attributes);
  pthread_mutexattr_destroy(&attributes);
  new (&changes_) std::atomic<std::uint32_t>(0);
}

void SharedLock::lock() {
  auto* mutex = reinterpret_cast<pthread_mutex_t*>(mutex_);
  // What a process left half done when it died is a count that is off; nothing points into it.
  if (pthread_mutex_lock(mutex) == EOWNERDEAD) pthread_mutex_consistent(mutex);
}

void SharedLock::unlock() { pthread_mutex_unlock(reinterpret_cast<pthread_mutex_t*>(mutex_)); }

void SharedLock::announce() {
  changes_.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &changes_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void SharedLock::wait(std::uint32_t seen, int real_ms) {
  timespec limit{real_ms / 1000, (real_ms % 1000) * 1'000'000L};
  ::syscall(SYS_futex, &changes_, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

}  // namespace isleway::vgpu
