// A unit: the piece of a cluster that is repeated. One server, or one rack whose trays
// share an NVLink domain. Units are immutable and shared; a cluster of 10,000 equal
// servers holds one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isleway/core/error.hpp"
#include "isleway/fabric/device.hpp"
#include "isleway/fabric/path.hpp"

namespace isleway {

/// How GPU memory is protected; each has a price on the links.
enum class Confidential : std::uint8_t { off, hopper_cc, hopper_ppcie, blackwell };

/// What the operator has switched on in a unit beyond its wiring.
struct UnitModes {
  Confidential confidential = Confidential::off;
  bool iommu = false;          ///< a translating IOMMU on the path between peers
  bool multicast_off = false;  ///< NVLS disabled (confidential mode, a shared partition)
};

/// Everything that a unit is made from. Readers fill one and call Unit::make.
struct UnitParts {
  std::string name;   ///< catalogue name or the file's, for messages
  std::string title;  ///< "NVIDIA DGX H100"
  int hosts = 1;      ///< OS images (an NVL72 rack has 18)
  std::vector<Device> devices;
  std::vector<Link> links;
  UnitModes modes;
  std::string source;      ///< where the description comes from
  bool announced = false;  ///< not on sale yet: figures are the vendor's announcements
};

class Unit {
 public:
  /// Checks the parts (indices in range, a PCIe tree per host, unique names) and derives
  /// adjacency, GPU order and islands. Error: what is inconsistent.
  static Result<std::shared_ptr<const Unit>> make(UnitParts parts);

  const UnitParts& parts() const { return parts_; }
  const std::string& name() const { return parts_.name; }
  std::span<const Device> devices() const { return parts_.devices; }
  std::span<const Link> links() const { return parts_.links; }
  const Device& device(DeviceIndex i) const { return parts_.devices[i]; }
  const Link& link(std::uint32_t i) const { return parts_.links[i]; }

  /// By host, then by index.
  std::span<const DeviceIndex> gpus() const { return gpus_; }
  std::span<const DeviceIndex> nics() const { return nics_; }
  std::span<const DeviceIndex> nvswitches() const { return nvswitches_; }
  std::span<const DeviceIndex> cpus() const { return cpus_; }
  /// Link numbers at a device, in the order of links().
  std::span<const std::uint32_t> links_at(DeviceIndex device) const;
  /// The device across `link` from `device`.
  DeviceIndex peer(std::uint32_t link, DeviceIndex device) const;
  /// By name on a host, or among the devices that no host sees.
  std::optional<DeviceIndex> find(std::string_view name, int host = 0) const;
  /// Where a device stands in gpus(), nics(), nvswitches() or cpus(); PCIe switches: 0.
  std::uint32_t position(DeviceIndex device) const { return position_[device]; }
  /// The PCIe link towards the CPU; nothing at CPUs and at roots.
  std::optional<std::uint32_t> pcie_uplink(DeviceIndex device) const;

  /// NVLink domain that a GPU belongs to: equal numbers reach one another over NVLink,
  /// directly, through switches or through other GPUs. GPUs without a working NVLink are
  /// alone. A switch has its GPUs' island; what belongs to none has -1.
  int island_of(DeviceIndex gpu) const { return island_[gpu]; }
  int island_count() const { return island_count_; }

  /// True where the island's GPUs can use in-switch multicast and reduction (NVLS).
  bool has_multicast(int island) const;

 private:
  explicit Unit(UnitParts parts);
  void derive_order();
  void derive_adjacency();
  void derive_islands();
  UnitParts parts_;
  std::vector<DeviceIndex> gpus_, nics_, nvswitches_, cpus_;
  std::vector<std::uint32_t> adjacency_, adjacency_start_, position_, pcie_uplink_;
  std::vector<int> island_;
  int island_count_ = 0;
};

/// NVLinks between two GPUs as topo -m counts them: direct links, or, through switches, the
/// links that each has to the planes which both reach. 0 when there are none.
int nvlinks_between(const Unit& unit, DeviceIndex gpu_a, DeviceIndex gpu_b);

/// The path that nvidia-smi and NCCL would name between two devices of one unit. With
/// `ignore_nvlink`, what is left without it and C2C, as `topo -mp` prints: NVB becomes the
/// PCIe path, and a GPU whose memory is a NUMA node of its own (C2C) is SYS to all.
PathKind path_kind(const Unit& unit, DeviceIndex from, DeviceIndex to, bool ignore_nvlink = false);

/// Hops carry the unit's own link numbers. NVLink where there is one, sprayed over all
/// planes by the number of links at the narrowest step of each, as the hardware spreads
/// addresses; else C2C and PCIe through the tree. `Route::kind` is dis when nothing is left.
Route route_in_unit(const Unit& unit, DeviceIndex from, DeviceIndex to, bool ignore_nvlink = false);

/// From a GPU to the switches of its island (or back), sprayed by link counts: the way of
/// in-switch reduction and multicast.
Route route_to_switches(const Unit& unit, DeviceIndex gpu, bool towards_switches);

/// May `from` read and write the memory of `to` without help from a CPU? NVLink inside an
/// island, or PCIe up to `furthest_pcie` where the product allows it; never in MIG mode.
bool peer_access(const Unit& unit, DeviceIndex from, DeviceIndex to,
                 PathKind furthest_pcie = PathKind::sys);

}  // namespace isleway
