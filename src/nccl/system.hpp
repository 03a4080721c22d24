// A node as NCCL sees it: GPUs, PCIe, one NVSwitch for all, NUMA nodes, NICs and their
// ports, with bandwidths in NCCL's own units, and the paths between them.
#pragma once

#include <span>
#include <vector>

#include "isleway/fabric.hpp"
#include "nccl/settings.hpp"
#include "nccl/tuner.hpp"

namespace isleway::nccl {

enum class NodeType : std::uint8_t { gpu, pci, nvs, cpu, nic, net };
inline constexpr std::size_t kNodeTypes = 6;
enum class WireType : std::uint8_t { loc, nvlink, c2c, pci, sys, net };

struct SystemNode {
  NodeType type = NodeType::gpu;
  int host = 0;
  int system = 0;          ///< place of the host among the node's
  DeviceIndex device = 0;  ///< in the unit; an NVSwitch node stands for all
  std::vector<int> wires;  ///< out of this node, in the order in which searches try them
  // GPU
  int sm = 0;
  int cuda_device = 0;  ///< number on its host
  int rank = 0;         ///< among the GPUs of the system
  bool gpudirect = true;
  // CPU
  CpuArch arch = CpuArch::x86;
  CpuVendor vendor = CpuVendor::intel;
  // network port
  float bandwidth = 0;     ///< what channels have left of it
  double latency = 0;      ///< us, as its plugin claims
  std::uint64_t asic = 0;  ///< ports of one ASIC share its bandwidth
  int port = 0;
  int port_number = 0;   ///< on its host, as logs and files count
  bool reduces = false;  ///< it can use reduction in the network (SHARP)
  int local_gpu = -1;    ///< position of the GPU that drives it
};

struct Wire {
  int from = 0, to = 0;  ///< node numbers
  WireType type = WireType::pci;
  float bandwidth = 0;  ///< what channels have left of it
  int back = -1;        ///< the wire the other way
};

struct SystemPath {
  PathKind type = PathKind::dis;
  float bandwidth = 0;
  std::vector<int> wires;
};

class System {
 public:
  /// The hosts of one NCCL node (several when NVLink joins them) of a unit.
  static System build(const Unit& unit, std::span<const int> hosts, const Settings& settings);

  /// Between devices of one node only, no port of the network takes part.
  void drop_network();

  const std::vector<int>& of(NodeType type) const {
    return by_type_[static_cast<std::size_t>(type)];
  }
  int node_count() const { return static_cast<int>(nodes_.size()); }
  int count(NodeType type) const { return static_cast<int>(of(type).size()); }
  SystemNode& node(int number) { return nodes_[number]; }
  const SystemNode& node(int number) const { return nodes_[number]; }
  const SystemNode& gpu(int position) const { return nodes_[of(NodeType::gpu)[position]]; }
  Wire& wire(int number) { return wires_[number]; }
  const Wire& wire(int number) const { return wires_[number]; }
  /// Between GPUs, NVS, CPUs and network ports, by node number.
  const SystemPath& path(int from, int to) const { return paths_[index(from, to)]; }

  /// Fills paths for what the settings allow (peer access, GPUDirect, PXN).
  void find_paths(const Settings& settings);

  /// Positions of the nodes of `type` nearest to a node: best bandwidth, then path type.
  std::vector<int> nearest(int node, NodeType type) const;
  /// The network ports (node numbers) that a GPU uses, channel by channel, over and over.
  const std::vector<int>& own_nets(int gpu_position) const { return own_nets_[gpu_position]; }
  bool peers(int gpu_a, int gpu_b, const Settings& settings) const;  ///< positions

  int min_sm() const;
  int max_sm() const;
  CpuArch arch() const;
  CpuVendor vendor() const;
  float max_bandwidth = 0;    ///< of a single path that channels can use
  float total_bandwidth = 0;  ///< of all of a GPU's links

 private:
  friend class SystemBuilder;
  std::size_t index(int from, int to) const {
    return std::size_t(endpoint_[from]) * endpoints_ + std::size_t(endpoint_[to]);
  }
  void breadth_first(int base, const Settings& settings);
  void detour(int via, int from, int to);
  int local_gpu(int net) const;
  std::vector<int> find_own_nets(int gpu_position) const;
  void apply_peer_access(const Settings& settings);
  void apply_network_rules(const Settings& settings);
  void measure_bandwidth();

  std::vector<SystemNode> nodes_;
  std::vector<Wire> wires_;
  std::array<std::vector<int>, kNodeTypes> by_type_;
  std::vector<int> endpoint_;  ///< by node; -1: no paths are kept for it
  int endpoints_ = 0;
  std::vector<SystemPath> paths_;
  std::vector<std::vector<int>> own_nets_;  ///< by GPU position
};

}  // namespace isleway::nccl
