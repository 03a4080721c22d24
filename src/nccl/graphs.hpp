// The graphs of a whole fabric: NCCL's nodes, the search on each kind of them, and what all
// ranks agree on.
#pragma once

#include "nccl/search.hpp"

namespace isleway::nccl {

/// A node as NCCL counts them: one host, or all hosts that share an NVLink domain.
struct NcclNode {
  std::uint32_t unit = 0;
  int kind = 0;            ///< which of Graphs::kinds it is like
  std::vector<int> ranks;  ///< of the communicator, by rank inside the node
};

/// What nodes of one kind have in common.
struct NodeKind {
  SearchGraph ring, tree, nvls, collnet_chain, collnet_direct;
  TunerInput hardware;      ///< the fields that describe a machine; no graphs in it
  int peer_links = 2;       ///< twice the fewest parallel NVLinks of a pair; 2 without NVLink
  int ports_to_fill = 0;    ///< ports that a GPU needs to use all of its own link to a CPU
  bool all_nvlink = false;  ///< no pair needs PCIe
  std::vector<int> hosts;   ///< of the unit
  std::vector<DeviceIndex> device_of_node;  ///< of a system's node number
  std::vector<int> ports;  ///< by GPU rank in the node: the port (DeviceIndex) it uses; -1
};

struct Graphs {
  std::vector<NcclNode> nodes;
  std::vector<NodeKind> kinds;
  std::vector<int> node_of_rank, local_rank;
  /// Agreed: the fewest channels, the least bandwidth.
  Graph ring, tree, nvls, collnet_chain, collnet_direct;
  bool nvls_supported = false;
  std::string collnet_refused;  ///< why CollNet cannot be used; empty when it can
  int channels = 1, nvls_channels = 0;
  int p2p_channels = 1, channels_per_peer = 1;

  int ranks() const { return static_cast<int>(node_of_rank.size()); }
};

/// The hosts of one node of a unit as NCCL sees them; `alone`, no network takes part.
System node_system(const Unit& unit, std::span<const int> hosts, bool alone,
                   const Settings& settings);

/// Error: the fabric has no GPU, or NCCL_GRAPH_FILE cannot be used.
Result<Graphs> find_graphs(const Fabric& fabric, const Settings& settings);

}  // namespace isleway::nccl
