#include "virtual/device/mapped.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "virtual/world/segment.hpp"

namespace isleway::vgpu {
namespace {

constexpr std::uint64_t kMagic = 0x6c646e6168766c69;  // "ilvhandl"
/// Pieces of memory that each GPU may bind to one multicast object.
constexpr std::uint32_t kPiecesPerDevice = 16;

struct Member {
  SharedBlock memory;
  std::uint64_t at, bytes;  ///< in the object
};
/// A multicast object, as it lies in the world: this, the GPUs, the members.
struct Multicast {
  std::uint64_t bytes;
  std::uint32_t devices, added, members, capacity;

  std::uint32_t* gpus() { return reinterpret_cast<std::uint32_t*>(this + 1); }
  Member* member() {
    const std::size_t at = (sizeof(Multicast) + devices * sizeof(std::uint32_t) + 63) / 64 * 64;
    return reinterpret_cast<Member*>(reinterpret_cast<std::byte*>(this) + at);
  }
  bool has(GpuId gpu) { return std::find(gpus(), gpus() + added, gpu) != gpus() + added; }
};

Multicast* multicast_at(const World& world, std::uint64_t object) {
  return object == 0 ? nullptr : reinterpret_cast<Multicast*>(world.at(object));
}

}  // namespace

MappedMemory::Handle MappedMemory::create(GpuId gpu, std::uint64_t bytes, unsigned kinds) {
  const auto memory = memory_.take_physical(gpu, bytes);
  if (!memory) return 0;
  items_[++last_] = {*memory, 0, bytes, kinds};
  return last_;
}

MappedMemory::Handle MappedMemory::create_multicast(std::uint32_t devices, std::uint64_t bytes,
                                                    unsigned kinds) {
  const std::uint32_t capacity = devices * kPiecesPerDevice;
  const std::uint64_t object = world_.reserve(sizeof(Multicast) + devices * sizeof(std::uint32_t) +
                                              64 + capacity * sizeof(Member));
  if (object == 0) return 0;
  *multicast_at(world_, object) = {bytes, devices, 0, 0, capacity};
  items_[++last_] = {{}, object, bytes, kinds};
  return last_;
}

const MappedMemory::Item* MappedMemory::find(Handle handle) const {
  const auto found = items_.find(handle);
  return found == items_.end() ? nullptr : &found->second;
}

bool MappedMemory::release(Handle handle) {
  const auto found = items_.find(handle);
  if (found == items_.end()) return false;
  if (--found->second.references > 0) return true;
  if (found->second.object == 0 && found->second.memory.pid == ::getpid())
    memory_.give_back_physical(found->second.memory);
  items_.erase(found);
  return true;
}

SharedHandle MappedMemory::share(Handle handle) const {
  const Item& item = items_.at(handle);
  SharedHandle shared{kMagic, item.memory, item.object};
  shared.memory.bytes = item.bytes;
  return shared;
}

MappedMemory::Handle MappedMemory::import(const SharedHandle& shared, unsigned kinds) {
  if (shared.magic != kMagic) return 0;
  for (auto& [handle, item] : items_) {
    const bool same = shared.object != 0
                          ? item.object == shared.object
                          : item.object == 0 && item.memory.pid == shared.memory.pid &&
                                item.memory.file == shared.memory.file &&
                                item.memory.offset == shared.memory.offset;
    if (!same) continue;
    ++item.references;
    return handle;
  }
  items_[++last_] = {shared.memory, shared.object, shared.memory.bytes, kinds};
  return last_;
}

std::byte* MappedMemory::reserve(std::uint64_t bytes, std::uint64_t alignment, std::byte* wish) {
  alignment = std::max(alignment, Memory::kPage);
  if (bytes == 0 || bytes + alignment < bytes) return nullptr;
  // More than asked for, so that an aligned part of it can be kept.
  void* base = ::mmap(wish, bytes + alignment, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  const std::uintptr_t kept = (begin + alignment - 1) / alignment * alignment;
  if (kept > begin) ::munmap(base, kept - begin);
  if (const std::uintptr_t rest = begin + alignment - kept; rest > 0)
    ::munmap(reinterpret_cast<void*>(kept + bytes), rest);
  auto* address = reinterpret_cast<std::byte*>(kept);
  reserved_[address] = bytes;
  return address;
}

bool MappedMemory::unreserve(std::byte* address, std::uint64_t bytes) {
  const auto found = reserved_.find(address);
  if (found == reserved_.end() || found->second != bytes) return false;
  const auto first = mappings_.lower_bound(address);
  if (first != mappings_.end() && first->first < address + bytes) return false;
  ::munmap(address, bytes);
  reserved_.erase(found);
  return true;
}

MappedMemory::Outcome MappedMemory::map(std::byte* address, std::uint64_t bytes,
                                        std::uint64_t offset, Handle handle) {
  const auto after = reserved_.upper_bound(address);
  if (after == reserved_.begin()) return Outcome::no_such_range;
  const auto& [base, size] = *std::prev(after);
  if (bytes > size || static_cast<std::uint64_t>(address - base) > size - bytes)
    return Outcome::no_such_range;
  const Item& item = items_.at(handle);
  if (offset > item.bytes || bytes > item.bytes - offset) return Outcome::no_such_range;
  const auto next = mappings_.lower_bound(address);
  if (next != mappings_.end() && next->first < address + bytes) return Outcome::in_use;
  if (mapping_at(address) != nullptr) return Outcome::in_use;
  if (item.object != 0) memory_.map_multicast(address, bytes, item.object, 0);
  else if (!memory_.map(address, item.memory, offset, bytes)) return Outcome::owner_gone;
  memory_.set_accessible(address, false);
  mappings_[address] = {bytes, handle, offset, {}};
  retain(handle);
  return Outcome::done;
}

bool MappedMemory::unmap(std::byte* address, std::uint64_t bytes) {
  // One call may take away several mappings, each as a whole.
  std::vector<std::byte*> whole;
  std::uint64_t covered = 0;
  for (auto m = mappings_.lower_bound(address); m != mappings_.end() && m->first < address + bytes;
       ++m) {
    whole.push_back(m->first);
    covered += m->second.bytes;
  }
  if (whole.empty() || covered != bytes) return false;
  for (std::byte* each : whole) {
    const Mapping mapping = mappings_.at(each);
    memory_.unmap(each, mapping.bytes);
    mappings_.erase(each);
    release(mapping.handle);
  }
  return true;
}

bool MappedMemory::set_access(std::byte* address, std::uint64_t bytes, int device, int flags) {
  std::uint64_t covered = 0;
  for (auto m = mappings_.lower_bound(address); m != mappings_.end() && m->first < address + bytes;
       ++m) {
    Mapping& mapping = m->second;
    covered += mapping.bytes;
    mapping.access[device] = flags;
    memory_.set_accessible(m->first, std::ranges::any_of(mapping.access, [](const auto& access) {
                             return access.second != 0;
                           }));
  }
  return covered > 0 && covered == bytes;
}

const std::pair<std::byte* const, MappedMemory::Mapping>* MappedMemory::mapping_at(
    const std::byte* address) const {
  auto after = mappings_.upper_bound(const_cast<std::byte*>(address));
  if (after == mappings_.begin()) return nullptr;
  const auto& found = *std::prev(after);
  return address < found.first + found.second.bytes ? &found : nullptr;
}

std::optional<int> MappedMemory::access(const std::byte* address, int device) const {
  const auto* found = mapping_at(address);
  if (found == nullptr) return std::nullopt;
  const auto own = found->second.access.find(device);
  return own == found->second.access.end() ? 0 : own->second;
}

MappedMemory::Handle MappedMemory::handle_at(const std::byte* address) const {
  const auto* found = mapping_at(address);
  return found == nullptr ? 0 : found->second.handle;
}

std::uint64_t MappedMemory::offset_of(const std::byte* address) const {
  const auto* found = mapping_at(address);
  if (found == nullptr) return 0;
  return found->second.offset + static_cast<std::uint64_t>(address - found->first);
}

MappedMemory::Bind MappedMemory::add_device(Handle handle, GpuId gpu) {
  const Item* item = find(handle);
  Multicast* object = item == nullptr ? nullptr : multicast_at(world_, item->object);
  if (object == nullptr) return Bind::no_multicast;
  const std::lock_guard held(world_.lock());
  if (object->has(gpu)) return Bind::out_of_range;
  if (object->added == object->devices) return Bind::full;
  object->gpus()[object->added++] = gpu;
  return Bind::done;
}

MappedMemory::Bind MappedMemory::bind(Handle handle, std::uint64_t at, Handle memory,
                                      std::uint64_t offset, std::uint64_t bytes) {
  const Item* item = find(handle);
  const Item* what = find(memory);
  Multicast* object = item == nullptr ? nullptr : multicast_at(world_, item->object);
  if (object == nullptr) return Bind::no_multicast;
  const GpuId gpu = what == nullptr ? GpuId{} : what->memory.gpu;
  {
    const std::lock_guard held(world_.lock());
    if (object->added < object->devices) return Bind::devices_missing;
    if (what == nullptr || what->object != 0 || !object->has(gpu) || at > object->bytes ||
        bytes > object->bytes - at || offset > what->bytes || bytes > what->bytes - offset)
      return Bind::out_of_range;
    if (object->members == object->capacity) return Bind::no_room;
    SharedBlock block = what->memory;
    block.offset += offset;
    block.bytes = bytes;
    object->member()[object->members++] = {block, at, bytes};
  }
  retain(memory);
  bound_.push_back({item->object, gpu, at, bytes, memory});
  return Bind::done;
}

bool MappedMemory::unbind(Handle handle, GpuId gpu, std::uint64_t at, std::uint64_t bytes) {
  const Item* item = find(handle);
  Multicast* object = item == nullptr ? nullptr : multicast_at(world_, item->object);
  if (object == nullptr) return false;
  const auto within = [&](const auto& piece) {
    return piece.at >= at && piece.at + piece.bytes <= at + bytes;
  };
  bool any = false;
  {
    const std::lock_guard held(world_.lock());
    Member* const end = object->member() + object->members;
    Member* const left = std::remove_if(object->member(), end, [&](const Member& member) {
      return member.memory.gpu == gpu && within(member);
    });
    any = left != end;
    object->members = static_cast<std::uint32_t>(left - object->member());
  }
  const std::uint64_t known = item->object;
  std::erase_if(bound_, [&](const Bound& bound) {
    if (bound.object != known || bound.gpu != gpu || !within(bound)) return false;
    release(bound.memory);
    return true;
  });
  return any;
}

std::vector<MappedMemory::Target> MappedMemory::targets(const std::byte* address,
                                                        std::uint64_t bytes) const {
  std::vector<Target> all;
  const auto* mapping = mapping_at(address);
  if (mapping == nullptr) return all;
  Multicast* object = multicast_at(world_, items_.at(mapping->second.handle).object);
  if (object == nullptr) return all;
  const std::uint64_t at =
      mapping->second.offset + static_cast<std::uint64_t>(address - mapping->first);
  const std::lock_guard held(world_.lock());
  for (std::uint32_t i = 0; i < object->members; ++i) {
    const Member& member = object->member()[i];
    if (at < member.at || at + bytes > member.at + member.bytes) continue;
    if (std::byte* base = memory_.open(member.memory))
      all.push_back({member.memory.gpu, base + (at - member.at)});
  }
  return all;
}

}  // namespace isleway::vgpu
