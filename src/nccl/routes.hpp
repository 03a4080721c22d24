// Which way bytes go from rank to rank: NVLink, peer access over PCIe, the host's memory, or
// NICs and the network between nodes.
#pragma once

#include "nccl/graphs.hpp"

namespace isleway::nccl {

/// What a connection crosses; each has its price.
enum class Transport : std::uint8_t { self, nvlink, pcie, host, network };
inline constexpr std::size_t kTransports = 5;

struct Way {
  Route route;
  Transport transport = Transport::self;
};

class RouteFinder {
 public:
  RouteFinder(const Fabric& fabric, const Graphs& graphs, const Settings& settings)
      : fabric_(fabric), graphs_(graphs), settings_(settings) {}

  /// Inside a node.
  Way inside(int from, int to) const;
  /// Between nodes, out at one port and in at another (numbers in their units).
  Way across(int from, DeviceIndex out, DeviceIndex in, int to) const;
  /// Between a GPU and the network's switch behind one of its node's ports.
  Way to_network(int rank, DeviceIndex port, bool towards) const;
  /// Between a GPU and the switches of its NVLink domain.
  Way to_switches(int rank, bool towards) const;

  bool same_node(int a, int b) const { return graphs_.node_of_rank[a] == graphs_.node_of_rank[b]; }
  /// The port of a rank's own, or -1.
  int own_port(int rank) const;
  /// The port at `rank`'s node on the rail that `to` receives on; own_port where there is none.
  int rail_port(int rank, int to) const;

 private:
  void to_port(Route& route, int from, DeviceIndex out) const;
  void from_port(Route& route, DeviceIndex in, int to) const;
  void append(Route& route, DeviceRef from, DeviceRef to) const;
  std::optional<DeviceIndex> nearest_cpu(const Unit& unit, DeviceIndex gpu) const;
  bool direct(const Unit& unit, DeviceIndex gpu, DeviceIndex port) const;

  const Fabric& fabric_;
  const Graphs& graphs_;
  const Settings& settings_;
};

}  // namespace isleway::nccl
