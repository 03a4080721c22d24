// Memory that is made, given addresses and mapped in three steps, and objects of which one write
// reaches many GPUs: what the driver calls virtual memory management.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "virtual/device/memory.hpp"

namespace isleway::vgpu {

/// What other processes import memory or a multicast object by: 64 bytes, as a fabric handle has.
struct SharedHandle {
  std::uint64_t magic = 0;
  SharedBlock memory;
  std::uint64_t object = 0;  ///< a multicast object's place in the world; 0: memory
};

/// Of one process. Multicast objects lie in the world, where every process of the run adds its
/// GPUs and memory to them.
class MappedMemory {
 public:
  using Handle = std::uint64_t;  ///< 0: none

  MappedMemory(World& world, Memory& memory) : world_(world), memory_(memory) {}

  /// 0: the GPU has no room. Sizes are multiples of Memory::kPage.
  Handle create(GpuId gpu, std::uint64_t bytes, unsigned kinds);
  /// 0: there is no more room in the world.
  Handle create_multicast(std::uint32_t devices, std::uint64_t bytes, unsigned kinds);

  struct Item {
    SharedBlock memory;
    std::uint64_t object = 0;
    std::uint64_t bytes = 0;
    unsigned kinds = 0;  ///< of handles that it may be exported as
    int references = 1;
  };
  const Item* find(Handle handle) const;
  void retain(Handle handle) { ++items_.at(handle).references; }
  /// False: no such handle. What is mapped stays until it is unmapped.
  bool release(Handle handle);

  SharedHandle share(Handle handle) const;
  /// 0: no handle of a run's.
  Handle import(const SharedHandle& shared, unsigned kinds);

  /// Addresses for nothing yet; null: the system has none.
  std::byte* reserve(std::uint64_t bytes, std::uint64_t alignment, std::byte* wish);
  /// False: not reserved, or still mapped.
  bool unreserve(std::byte* address, std::uint64_t bytes);

  enum class Outcome : std::uint8_t { done, no_such_range, in_use, owner_gone };
  Outcome map(std::byte* address, std::uint64_t bytes, std::uint64_t offset, Handle handle);
  bool unmap(std::byte* address, std::uint64_t bytes);
  /// For the GPUs of `device` numbers; whole mappings. False: nothing is mapped there.
  bool set_access(std::byte* address, std::uint64_t bytes, int device, int flags);
  /// What the device may do at the address: 0 nothing, 1 read, 3 write too. Nothing: not mapped.
  std::optional<int> access(const std::byte* address, int device) const;
  Handle handle_at(const std::byte* address) const;
  /// Of what is mapped there, in what its handle stands for.
  std::uint64_t offset_of(const std::byte* address) const;

  // Multicast objects.
  enum class Bind : std::uint8_t {
    done,
    no_multicast,
    full,
    devices_missing,
    out_of_range,
    no_room
  };
  Bind add_device(Handle multicast, GpuId gpu);
  /// Memory stays as long as it is bound.
  Bind bind(Handle multicast, std::uint64_t at, Handle memory, std::uint64_t offset,
            std::uint64_t bytes);
  /// False: the GPU has nothing bound there.
  bool unbind(Handle multicast, GpuId gpu, std::uint64_t at, std::uint64_t bytes);

  /// Where in this process's memory bytes of a multicast address lie, GPU by GPU.
  struct Target {
    GpuId gpu;
    std::byte* address;
  };
  std::vector<Target> targets(const std::byte* address, std::uint64_t bytes) const;

 private:
  struct Mapping {
    std::uint64_t bytes = 0;
    Handle handle = 0;
    std::uint64_t offset = 0;  ///< in what the handle stands for
    std::map<int, int> access;
  };
  const std::pair<std::byte* const, Mapping>* mapping_at(const std::byte* address) const;

  World& world_;
  Memory& memory_;
  std::map<Handle, Item> items_;
  Handle last_ = 0;
  std::map<std::byte*, std::uint64_t> reserved_;
  std::map<std::byte*, Mapping> mappings_;
  struct Bound {
    std::uint64_t object;
    GpuId gpu;
    std::uint64_t at, bytes;
    Handle memory;
  };
  std::vector<Bound> bound_;  ///< by this process
};

}  // namespace isleway::vgpu
