// What addresses mean: whose memory, of which kind, since when.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "isleway/virtual/world.hpp"
#include "virtual/device/arena.hpp"

namespace isleway::vgpu {

enum class Space : std::uint8_t {
  device,
  pinned,      ///< host memory that was allocated for the GPUs
  registered,  ///< host memory of the program's own
  managed,
  peer,  ///< another process's device memory, opened here
};

struct Block {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
  Space space = Space::device;
  GpuId gpu = 0;             ///< device, managed (where it was asked for), peer
  std::uint64_t offset = 0;  ///< of device memory in its arena
  int owner_pid = 0;         ///< peer
  bool on_host() const { return space == Space::pinned || space == Space::registered; }
};

/// Where another process finds a block.
struct SharedBlock {
  std::int32_t pid = 0, file = -1;
  std::uint32_t gpu = 0, reserved = 0;
  std::uint64_t offset = 0, bytes = 0, arena_bytes = 0;
};

/// The memory of one process's GPUs, and what it allocated for them on the host.
class Memory {
 public:
  explicit Memory(World& world) : world_(world) {}
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Null when the GPU has no room for it.
  std::byte* take_device(GpuId gpu, std::uint64_t bytes);
  /// Null when the system has no room for it.
  std::byte* take_host(std::uint64_t bytes, Space space, GpuId gpu);
  /// The program's own bytes from now on count as pinned. False: some of them do already.
  bool register_host(void* address, std::uint64_t bytes);
  /// What any of the above, or open(), gave. False: it gave no such address.
  bool give_back(void* address);
  /// Device memory that the program has freed, and that keeps its bytes until release().
  void retire(void* address);
  /// Lets go of what was retired and `in_use` does not hold any more.
  void release(const std::function<bool(const Block&)>& in_use);
  /// What the program has of a GPU's memory.
  std::vector<std::byte*> all_of(GpuId gpu) const;

  /// The block that holds the address; null for the program's own memory.
  const Block* find(const void* address) const;

  /// What other processes need to open the memory around a device address.
  std::optional<SharedBlock> share(const void* address) const;
  /// Another process's block, mapped here. Null: that process is gone.
  std::byte* open(const SharedBlock& block);

  Bytes total(GpuId gpu) const;
  Bytes used(GpuId gpu) const { return world_.memory_used(gpu); }

 private:
  struct Mapping {
    std::byte* base = nullptr;
    std::uint64_t bytes = 0;
  };
  Arena* arena(GpuId gpu);

  World& world_;
  std::map<GpuId, Arena> arenas_;
  std::map<const std::byte*, Block> blocks_;
  std::vector<Block> retired_;
  std::map<std::pair<int, int>, Mapping> opened_;  ///< arenas of others, by pid and file
};

}  // namespace isleway::vgpu
