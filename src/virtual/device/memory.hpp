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
  peer,       ///< another process's device memory, opened here
  mapped,     ///< a GPU's memory, of this process or another, at addresses that were reserved
  multicast,  ///< addresses that stand for memory of many GPUs at once
};

/// Where another process finds a block.
struct SharedBlock {
  std::int32_t pid = 0, file = -1;
  std::uint32_t gpu = 0, reserved = 0;
  std::uint64_t offset = 0, bytes = 0, arena_bytes = 0;
};

struct Block {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
  Space space = Space::device;
  GpuId gpu = 0;             ///< of all but host memory; managed: where it was asked for
  std::uint64_t offset = 0;  ///< of device memory in its arena
  SharedBlock origin{};      ///< peer, mapped: whose memory it is
  std::uint64_t object = 0;  ///< multicast: which, in the world
  bool accessible = true;    ///< mapped, multicast: somebody may touch it
  bool exported = false;     ///< device: other processes can open it

  /// Only this process's libraries can look at the bytes.
  bool is_private() const { return space == Space::device && !exported; }

  bool on_host() const { return space == Space::pinned || space == Space::registered; }
  bool on_gpu() const { return !on_host() && space != Space::managed; }
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

  /// Memory of a GPU that has no address yet, in whole pages of kPage. Nothing: no room.
  std::optional<SharedBlock> take_physical(GpuId gpu, std::uint64_t bytes);
  void give_back_physical(const SharedBlock& block);
  /// Shows `bytes` of it, from `inner` on, at reserved addresses. False: its owner is gone.
  bool map(std::byte* address, const SharedBlock& block, std::uint64_t inner, std::uint64_t bytes);
  /// The addresses stand for a multicast object of the world.
  void map_multicast(std::byte* address, std::uint64_t bytes, std::uint64_t object, GpuId gpu);
  /// The addresses of either are only reserved again.
  void unmap(std::byte* address, std::uint64_t bytes);
  /// Whether programs may touch what is mapped there.
  void set_accessible(std::byte* address, bool accessible);
  static constexpr std::uint64_t kPage = std::uint64_t{2} << 20;

  /// The block that holds the address; null for the program's own memory.
  const Block* find(const void* address) const;

  /// From now on other processes may open the memory around a device address.
  void mark_exported(const void* address);
  /// What other processes need to open the memory around a device address.
  std::optional<SharedBlock> share(const void* address) const;
  /// Another process's block, mapped here; this one's as it is. Null: that process is gone.
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
