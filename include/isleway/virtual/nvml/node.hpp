// A machine as its NVIDIA driver sees it: what NVML and nvidia-smi print is read from here.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isleway/virtual/fault.hpp"
#include "isleway/virtual/identity.hpp"
#include "isleway/virtual/nvml/board.hpp"

namespace isleway::vgpu::nvml {

/// One NVLink of a GPU. Numbers count along the GPU's bundles, as faults name them.
struct Port {
  LinkId link = 0;     ///< of the healthy fabric: the bundle that it belongs to
  bool from_a = true;  ///< the GPU is that link's `a`: what it sends runs forward
  int in_bundle = 1;   ///< links that are up in the bundle, which share its traffic
  DeviceRef peer;      ///< at the other end
  int peer_port = 0;   ///< its number there
  bool up = true;
  int lanes = 1, lanes_max = 1;
  int generation = 0;
  Rate printed_rate;                                ///< fully trained, as the driver prints it
  std::uint64_t crc = 0, replay = 0, recovery = 0;  ///< errors since the driver was loaded
  int retrained = 0;                                ///< times that it went down
};

/// What the fabric manager has told a GPU, in NVML's own terms (nvmlGpuFabricInfoV_t).
struct FabricState {
  enum State : std::uint8_t { not_supported = 0, not_started = 1, in_progress = 2, completed = 3 };
  State state = not_supported;
  bool resources = true;  ///< false: completed with NVML_ERROR_INSUFFICIENT_RESOURCES
  std::uint32_t clique = 0;
  Uuid cluster{};  ///< all zero inside one server
  bool spans_hosts = false;
  bool degraded = false;  ///< fewer links than fitted
};

struct Pcie {
  int generation = 0, max_generation = 0, width = 0, max_width = 0;
};

struct Gpu {
  GpuId id = 0;
  DeviceRef ref;  ///< in the healthy fabric
  int index = 0;  ///< among the GPUs that the driver counts
  const Device* device = nullptr;
  const GpuPart* part = nullptr;  ///< null: not in the catalogue
  std::string name;
  Board board;
  Uuid uuid{};
  PciAddress pci;
  bool lost = false;  ///< fell off the bus (Xid 79)
  bool mig = false;
  std::vector<Port> ports;
  Pcie pcie;
  FabricState fabric;
  std::uint64_t ecc_corrected = 0, ecc_uncorrected = 0;
  int last_xid = 0;  ///< 0: none

  int sm() const { return device->gpu().sm; }
  int links_up() const;
  /// "GPU-xxxxxxxx-...", as nvidia-smi -L prints it.
  std::string uuid_name() const { return "GPU-" + uuid_text(uuid); }
};

/// NVML's words for a path over PCIe and CPUs (nvmlGpuTopologyLevel_t).
enum class Ancestor : int {
  internal = 0,
  single = 10,
  multiple = 20,
  host_bridge = 30,
  node = 40,
  system = 50
};

/// The capabilities that topo -p2p asks for, and the answers (nvmlGpuP2P...).
enum class PeerCapability { read, write, nvlink, atomics, pcie };
enum class PeerStatus { ok = 0, chipset, gpu, topology, disabled, not_supported, unknown };

/// Immutable; a fault makes a new one.
class Node {
 public:
  /// The given GPUs of a machine after faults. Error: a fault that cannot be.
  static Result<Node> make(const Fabric& healthy, std::vector<GpuId> gpus, const Parts& parts,
                           const Boards& boards, std::span<const Fault> in_force = {});

  std::span<const Gpu> gpus() const { return gpus_; }
  const Fabric& healthy() const { return healthy_; }
  const Fabric& now() const { return now_; }
  bool fabric_manager() const { return fabric_manager_; }
  Confidential confidential() const;

  /// Without NVLink, as nvmlDeviceGetTopologyCommonAncestor counts.
  Ancestor common_ancestor(const Gpu& a, const Gpu& b) const;
  PeerStatus peer_status(const Gpu& a, const Gpu& b, PeerCapability capability) const;
  /// CPUs near the GPU as a bit set in 64-bit words, the lowest first; empty: unknown.
  std::vector<std::uint64_t> near_cpus(const Gpu& gpu) const;
  /// The NUMA node that the GPU hangs on; nothing when the system did not say.
  std::optional<int> numa_node(const Gpu& gpu) const;
  /// The NUMA node that the GPU's own memory is, where C2C makes it one: such nodes come after
  /// the CPUs', eight a GPU, of which MIG instances take all but the first.
  std::optional<int> own_numa_node(const Gpu& gpu) const;
  /// C2C links to the CPU: how many, and MB/s of each.
  struct C2c {
    int links = 0;
    Rate rate;
  };
  C2c c2c(const Gpu& gpu) const;

 private:
  std::optional<DeviceIndex> still_there(const Gpu& gpu) const;
  void take_faults(std::span<const Fault> in_force);
  void break_ports(const Fault& fault);
  void derive_fabric_state(std::span<const Fault> in_force);

  Fabric healthy_, now_;
  std::vector<Gpu> gpus_;
  bool fabric_manager_ = true;
};

/// Every GPU of the machine, or of one of its hosts.
std::vector<GpuId> all_gpus(const Fabric& fabric);
std::vector<GpuId> gpus_of_host(const Fabric& fabric, std::uint32_t host);

}  // namespace isleway::vgpu::nvml
