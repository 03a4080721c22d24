#include "nccl/routes.hpp"

#include <algorithm>

namespace isleway::nccl {
namespace {

DeviceRef gpu_of(const Fabric& fabric, int rank) { return fabric.gpu(static_cast<GpuId>(rank)); }

}  // namespace

void RouteFinder::append(Route& route, DeviceRef from, DeviceRef to) const {
  const Route more = isleway::route(fabric_, from, to);
  route.hops.insert(route.hops.end(), more.hops.begin(), more.hops.end());
  route.latency += more.latency;
  // A route is as far as its farthest part; one that is missing makes it none at all.
  route.kind = std::max(route.kind, more.kind);
}

std::optional<DeviceIndex> RouteFinder::nearest_cpu(const Unit& unit, DeviceIndex gpu) const {
  std::optional<DeviceIndex> best;
  PathKind distance = PathKind::dis;
  for (const DeviceIndex cpu : unit.cpus()) {
    if (unit.device(cpu).host != unit.device(gpu).host) continue;
    const PathKind kind = path_kind(unit, gpu, cpu);
    if (best && kind >= distance) continue;
    best = cpu;
    distance = kind;
  }
  return best;
}

Way RouteFinder::inside(int from, int to) const {
  Way way;
  way.route.kind = PathKind::loc;
  if (from == to) return way;
  const DeviceRef a = gpu_of(fabric_, from), b = gpu_of(fabric_, to);
  const Unit& unit = fabric_.unit(a.unit);
  const bool island = unit.island_of(a.device) == unit.island_of(b.device) &&
                      path_kind(unit, a.device, b.device) <= PathKind::nvb;
  if (island && settings_.p2p) {
    append(way.route, a, b);
    way.transport = Transport::nvlink;
    return way;
  }
  const PathKind furthest = settings_.p2p_level.value_or(PathKind::pxb);
  if (settings_.p2p && peer_access(unit, a.device, b.device, furthest)) {
    append(way.route, a, b);
    way.transport = Transport::pcie;
    return way;
  }
  way.transport = Transport::host;
  const auto cpu = nearest_cpu(unit, a.device);
  if (!cpu) {
    append(way.route, a, b);
    return way;
  }
  append(way.route, a, {a.unit, *cpu});
  append(way.route, {a.unit, *cpu}, b);
  return way;
}

bool RouteFinder::direct(const Unit& unit, DeviceIndex gpu, DeviceIndex port) const {
  const PathKind kind = path_kind(unit, gpu, port, true);
  const bool over_c2c = settings_.net_gdr_c2c && path_kind(unit, gpu, port) == PathKind::p2c;
  return unit.device(gpu).gpu().gpudirect && unit.device(port).nic().gpudirect &&
         (over_c2c || kind <= settings_.gdr_level.value_or(PathKind::pxb));
}

/// Straight to the port; or over NVLink to the GPU beside it (PXN); or by the host's memory.
void RouteFinder::to_port(Route& route, int from, DeviceIndex out) const {
  const DeviceRef gpu = gpu_of(fabric_, from);
  const Unit& unit = fabric_.unit(gpu.unit);
  const DeviceRef port{gpu.unit, out};
  if (direct(unit, gpu.device, out)) return append(route, gpu, port);
  const NcclNode& node = graphs_.nodes[graphs_.node_of_rank[from]];
  const auto& ports = graphs_.kinds[node.kind].ports;
  for (std::size_t i = 0; settings_.pxn && i < ports.size(); ++i) {
    if (ports[i] != static_cast<int>(out)) continue;
    const DeviceRef relay = gpu_of(fabric_, node.ranks[i]);
    if (relay == gpu || unit.island_of(relay.device) != unit.island_of(gpu.device) ||
        !direct(unit, relay.device, out))
      continue;
    append(route, gpu, relay);
    return append(route, relay, port);
  }
  if (const auto cpu = nearest_cpu(unit, gpu.device)) {
    append(route, gpu, {gpu.unit, *cpu});
    return append(route, {gpu.unit, *cpu}, port);
  }
  append(route, gpu, port);
}

Way RouteFinder::across(int from, DeviceIndex out, DeviceIndex in, int to) const {
  Way way;
  way.transport = Transport::network;
  way.route.kind = PathKind::loc;
  const DeviceRef a = gpu_of(fabric_, from), b = gpu_of(fabric_, to);
  to_port(way.route, from, out);
  append(way.route, {a.unit, out}, {b.unit, in});
  from_port(way.route, in, to);
  return way;
}

/// Straight to the GPU's memory, or by the host's.
void RouteFinder::from_port(Route& route, DeviceIndex in, int to) const {
  const DeviceRef gpu = gpu_of(fabric_, to), port{gpu.unit, in};
  const Unit& unit = fabric_.unit(gpu.unit);
  const auto cpu = direct(unit, gpu.device, in) ? std::nullopt : nearest_cpu(unit, gpu.device);
  if (!cpu) return append(route, port, gpu);
  append(route, port, {gpu.unit, *cpu});
  append(route, {gpu.unit, *cpu}, gpu);
}

Way RouteFinder::to_network(int rank, DeviceIndex port, bool towards) const {
  Way way;
  way.transport = Transport::network;
  way.route.kind = PathKind::net;
  const DeviceRef gpu = gpu_of(fabric_, rank), nic{gpu.unit, port};
  const Hop cable{fabric_.cable_id(nic), towards, 1};
  if (towards) {
    to_port(way.route, rank, port);
    way.route.hops.push_back(cable);
  } else {
    way.route.hops.push_back(cable);
    from_port(way.route, port, rank);
  }
  way.route.latency += fabric_.link(cable.link).latency;
  return way;
}

Way RouteFinder::to_switches(int rank, bool towards) const {
  const DeviceRef gpu = gpu_of(fabric_, rank);
  Way way{route_to_switches(fabric_.unit(gpu.unit), gpu.device, towards), Transport::nvlink};
  for (Hop& hop : way.route.hops) hop.link = fabric_.link_id(gpu.unit, hop.link);
  return way;
}

int RouteFinder::own_port(int rank) const {
  const NcclNode& node = graphs_.nodes[graphs_.node_of_rank[rank]];
  return graphs_.kinds[node.kind].ports[graphs_.local_rank[rank]];
}

int RouteFinder::rail_port(int rank, int to) const {
  const int own = own_port(rank), wanted = own_port(to);
  if (own < 0 || wanted < 0 || !settings_.pxn || settings_.pxn_level < 2) return own;
  const Unit& theirs = fabric_.unit(gpu_of(fabric_, to).unit);
  const DeviceRef mine = gpu_of(fabric_, rank);
  const Unit& unit = fabric_.unit(mine.unit);
  // The port of the same number on the rank's own host, where a GPU beside it can help.
  for (const DeviceIndex nic : unit.nics())
    if (unit.device(nic).host == unit.device(mine.device).host &&
        unit.device(nic).index == theirs.device(static_cast<DeviceIndex>(wanted)).index)
      return nic;
  return own;
}

}  // namespace isleway::nccl
