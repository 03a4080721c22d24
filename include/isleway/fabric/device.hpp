// What a machine is made of: devices, and the links between them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "isleway/core/units.hpp"

namespace isleway {

enum class DeviceKind : std::uint8_t { gpu, nvswitch, cpu, pcie_switch, nic };

/// PCI identity as sysfs and NCCL's XML give it; fields are empty where the source is silent.
struct PciInfo {
  std::string bus_id;  ///< "0000:1b:00.0"
  std::string class_code;
  std::string vendor, device, subsystem_vendor, subsystem_device;
  friend bool operator==(const PciInfo&, const PciInfo&) = default;
};

struct GpuInfo {
  int sm = 0;             ///< compute capability x 10 (90 = Hopper); 0 unknown
  int nvlink_links = 0;   ///< NVLinks that the part has, wired or not
  bool pcie_p2p = true;   ///< the product allows peer access over PCIe (GeForce: no)
  bool gpudirect = true;  ///< NICs may reach its memory (GPUDirect RDMA)
  bool amd = false;
  bool mig = false;  ///< MIG mode on: no peer access of any kind
  std::string gcn;   ///< AMD architecture, as RCCL writes it
};

struct NvswitchInfo {
  int generation = 0;  ///< 1 = DGX-2, 2 = A100, 3 = H100, 4 = Blackwell
  int ports = 0;
  bool multicast = false;  ///< NVLink SHARP: multicast and in-switch reduction
};

/// One NUMA node, which is what NCCL and topo -m mean by "CPU".
struct CpuInfo {
  int numa = 0;                 ///< -1 when the system did not say
  int socket = -1;              ///< NUMA nodes of one socket share it; -1 unknown
  std::string affinity;         ///< hex mask words as in NCCL's XML: "ffffffff,00000000"
  std::string arch = "x86_64";  ///< x86_64, arm64, ppc64
  std::string vendor;           ///< "GenuineIntel", "AuthenticAMD", ...
  int family = 0, model = 0;
  std::string host_hash;
};

struct NicInfo {
  Rate rate;  ///< line rate of its port(s)
  int port = 1;
  std::string guid;
  double latency_us = 0;  ///< as the network plugin reports it, not a measurement
  int max_connections = 0;
  bool gpudirect = true;
  bool in_network_reduction = false;  ///< SHARP-capable ("coll" in NCCL's XML)
};

struct PcieSwitchInfo {
  /// Ports that a reader could not resolve further ("PXB": two or more switches).
  bool stands_for_several = false;
};

struct Device {
  DeviceKind kind = DeviceKind::gpu;
  std::int16_t host = 0;   ///< the OS image inside the unit that sees it; -1: none (switch tray)
  std::int16_t index = 0;  ///< among the devices of its kind on its host: GPU3 -> 3
  std::string name;        ///< "GPU3", "mlx5_0", "NVSwitch1"; unique within its host
  std::string part;        ///< key in the parts catalogue; empty when unknown
  PciInfo pci;
  std::variant<std::monostate, GpuInfo, NvswitchInfo, CpuInfo, NicInfo, PcieSwitchInfo> info;

  const GpuInfo& gpu() const { return std::get<GpuInfo>(info); }
  const NvswitchInfo& nvswitch() const { return std::get<NvswitchInfo>(info); }
  const CpuInfo& cpu() const { return std::get<CpuInfo>(info); }
  const NicInfo& nic() const { return std::get<NicInfo>(info); }
};

/// Index of a device in its unit.
using DeviceIndex = std::uint16_t;

/// Kinds of wire. "smp" joins NUMA nodes (UPI, QPI, Infinity Fabric between sockets).
enum class LinkKind : std::uint8_t { nvlink, xgmi, c2c, pcie, smp, network };
const char* name_of(LinkKind kind);

/// The share of a link's nominal rate that payload gets. Two engines inside a GPU can
/// drive a link: its SMs, with stores of at most 128 bytes per packet (what NCCL's kernels
/// do), and its copy engines, with 256 (what cudaMemcpy does).
struct Efficiency {
  double sm = 1.0;
  double copy_engine = 1.0;
  /// Copy engines in both directions at once: the share of the sum of both rates that is
  /// left (1 = full duplex, 0.5 = the two directions share one). `sm` needs no such factor,
  /// since collectives are measured with both directions busy.
  double duplex = 1.0;
};

/// A bundle of parallel, equal links between the same two devices. Two bundles may join
/// the same devices where their links differ, say one with a link that lost a lane.
struct Link {
  DeviceIndex a = 0, b = 0;  ///< PCIe: `a` is nearer to the CPU
  LinkKind kind = LinkKind::nvlink;
  std::uint8_t generation = 0;             ///< of NVLink or PCIe; 0 unknown
  std::uint16_t count = 1, count_max = 1;  ///< links up, links fitted
  std::uint16_t lanes = 1, lanes_max = 1;  ///< of each link: trained, capable
  Rate link_rate;  ///< one fully trained link, one direction, before any protocol
  Time latency;    ///< one way, for the first byte
  Efficiency efficiency;
  /// PCIe links at a CPU only: links of one CPU with the same number (0 and up) leave by the
  /// same host bridge, and what hangs on them is PHB to one another. -1: a bridge of its
  /// own, as on today's servers, where each root port has one; those are NODE. NCCL's XML
  /// tells nothing of bridges and calls both PHB; topo -m tells them apart.
  std::int16_t host_bridge = -1;

  bool up() const { return count > 0 && lanes > 0; }
  bool degraded() const { return count < count_max || lanes < lanes_max; }
  /// What the bundle carries in one direction as it is trained now.
  Rate rate() const {
    return lanes_max == 0 ? Rate() : link_rate * (count * (double(lanes) / lanes_max));
  }
};

}  // namespace isleway
