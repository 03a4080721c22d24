#include "virtual/device/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace isleway::vgpu {
namespace {

/// Of GPUs that the catalogue does not know.
constexpr Bytes kUnknownMemory = Bytes::gib(16);

/// The file behind a process's GPU; -1: that process is gone. To be closed.
int open_file(const SharedBlock& block) {
  const std::string path =
      "/proc/" + std::to_string(block.pid) + "/fd/" + std::to_string(block.file);
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

}  // namespace

Memory::~Memory() {
  for (const auto& [key, mapping] : opened_) ::munmap(mapping.base, mapping.bytes);
}

Bytes Memory::total(GpuId gpu) const {
  const Fabric& machine = world_.machine();
  const GpuPart* part = world_.parts().gpu(machine.device(machine.gpu(gpu)).part);
  return part != nullptr && part->memory > Bytes() ? part->memory : kUnknownMemory;
}

Arena* Memory::arena(GpuId gpu) {
  const auto found = arenas_.find(gpu);
  if (found != arenas_.end()) return &found->second;
  // Gaps between blocks cost addresses, not memory.
  auto made = Arena::make(static_cast<std::uint64_t>(total(gpu).count()) * 2);
  if (!made) return nullptr;
  return &arenas_.emplace(gpu, std::move(*made)).first->second;
}

std::byte* Memory::take_device(GpuId gpu, std::uint64_t bytes) {
  Arena* from = arena(gpu);
  if (from == nullptr || bytes > static_cast<std::uint64_t>(total(gpu).count())) return nullptr;
  const auto offset = from->take(bytes);
  if (!offset) return nullptr;
  const Bytes size(static_cast<std::int64_t>(from->size_at(*offset)));
  if (!world_.take_memory(gpu, size, total(gpu))) {
    from->give_back(*offset);
    return nullptr;
  }
  std::byte* base = from->base() + *offset;
  blocks_[base] = {base, bytes, Space::device, gpu, *offset};
  return base;
}

std::byte* Memory::take_host(std::uint64_t bytes, Space space, GpuId gpu) {
  if (bytes == 0) return nullptr;
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  auto* address = static_cast<std::byte*>(base);
  blocks_[address] = {address, bytes, space, gpu};
  return address;
}

bool Memory::register_host(void* address, std::uint64_t bytes) {
  auto* base = static_cast<std::byte*>(address);
  if (find(base) != nullptr) return false;
  blocks_[base] = {base, bytes, Space::registered, 0};
  return true;
}

bool Memory::give_back(void* address) {
  const auto found = blocks_.find(static_cast<std::byte*>(address));
  if (found == blocks_.end()) return false;
  const Block block = found->second;
  blocks_.erase(found);
  switch (block.space) {
    case Space::device: {
      Arena& from = arenas_.at(block.gpu);
      world_.give_back_memory(block.gpu,
                              Bytes(static_cast<std::int64_t>(from.size_at(block.offset))));
      from.give_back(block.offset);
      break;
    }
    case Space::pinned:
    case Space::managed: ::munmap(block.base, block.bytes); break;
    case Space::registered:
    case Space::peer:
    case Space::mapped:
    case Space::multicast: break;
  }
  return true;
}

void Memory::retire(void* address) {
  const auto found = blocks_.find(static_cast<std::byte*>(address));
  if (found == blocks_.end()) return;
  const Block& block = found->second;
  const Arena& from = arenas_.at(block.gpu);
  world_.give_back_memory(block.gpu, Bytes(static_cast<std::int64_t>(from.size_at(block.offset))));
  retired_.push_back(block);
  blocks_.erase(found);
}

void Memory::release(const std::function<bool(const Block&)>& in_use) {
  std::erase_if(retired_, [&](const Block& block) {
    if (in_use(block)) return false;
    arenas_.at(block.gpu).give_back(block.offset);
    return true;
  });
}

std::vector<std::byte*> Memory::all_of(GpuId gpu) const {
  std::vector<std::byte*> all;
  for (const auto& [base, block] : blocks_)
    if (block.space == Space::device && block.gpu == gpu) all.push_back(block.base);
  return all;
}

const Block* Memory::find(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  auto after = blocks_.upper_bound(byte);
  if (after == blocks_.begin()) return nullptr;
  const Block& block = std::prev(after)->second;
  return byte < block.base + std::max<std::uint64_t>(block.bytes, 1) ? &block : nullptr;
}

void Memory::mark_exported(const void* address) {
  if (const Block* block = find(address)) blocks_.at(block->base).exported = true;
}

std::optional<SharedBlock> Memory::share(const void* address) const {
  const Block* block = find(address);
  if (block == nullptr) return std::nullopt;
  if (block->space == Space::mapped || block->space == Space::peer) return block->origin;
  if (block->space != Space::device) return std::nullopt;
  const Arena& from = arenas_.at(block->gpu);
  return SharedBlock{::getpid(),    from.file(),  block->gpu, 0,
                     block->offset, block->bytes, from.size()};
}

std::byte* Memory::open(const SharedBlock& shared) {
  if (shared.pid == ::getpid()) {
    const auto own = arenas_.find(shared.gpu);
    return own == arenas_.end() ? nullptr : own->second.base() + shared.offset;
  }
  const std::pair key(shared.pid, shared.file);
  auto found = opened_.find(key);
  if (found == opened_.end()) {
    const int file = open_file(shared);
    if (file < 0) return nullptr;
    void* base = ::mmap(nullptr, shared.arena_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, file, 0);
    ::close(file);
    if (base == MAP_FAILED) return nullptr;
    found = opened_.emplace(key, Mapping{static_cast<std::byte*>(base), shared.arena_bytes}).first;
  }
  std::byte* address = found->second.base + shared.offset;
  blocks_[address] = {address, shared.bytes, Space::peer, shared.gpu, shared.offset, shared};
  return address;
}

std::optional<SharedBlock> Memory::take_physical(GpuId gpu, std::uint64_t bytes) {
  Arena* from = arena(gpu);
  if (from == nullptr || bytes > static_cast<std::uint64_t>(total(gpu).count()))
    return std::nullopt;
  const auto offset = from->take(bytes, kPage);
  if (!offset) return std::nullopt;
  if (!world_.take_memory(gpu, Bytes(static_cast<std::int64_t>(bytes)), total(gpu))) {
    from->give_back(*offset);
    return std::nullopt;
  }
  return SharedBlock{::getpid(), from->file(), gpu, 0, *offset, bytes, from->size()};
}

void Memory::give_back_physical(const SharedBlock& block) {
  world_.give_back_memory(block.gpu, Bytes(static_cast<std::int64_t>(block.bytes)));
  arenas_.at(block.gpu).give_back(block.offset);
}

bool Memory::map(std::byte* address, const SharedBlock& block, std::uint64_t inner,
                 std::uint64_t bytes) {
  const bool own = block.pid == ::getpid();
  const int file = own ? block.file : open_file(block);
  if (file < 0) return false;
  void* base =
      ::mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file,
             static_cast<off_t>(block.offset + inner));
  if (!own) ::close(file);
  if (base == MAP_FAILED) return false;
  SharedBlock origin = block;
  origin.offset += inner;
  origin.bytes = bytes;
  blocks_[address] = {address, bytes, Space::mapped, block.gpu, origin.offset, origin};
  return true;
}

void Memory::map_multicast(std::byte* address, std::uint64_t bytes, std::uint64_t object,
                           GpuId gpu) {
  blocks_[address] = {address, bytes, Space::multicast, gpu, 0, {}, object};
}

void Memory::unmap(std::byte* address, std::uint64_t bytes) {
  ::mmap(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  blocks_.erase(address);
}

void Memory::set_accessible(std::byte* address, bool accessible) {
  if (const auto found = blocks_.find(address); found != blocks_.end())
    found->second.accessible = accessible;
}

}  // namespace isleway::vgpu
