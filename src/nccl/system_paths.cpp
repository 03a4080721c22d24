// The best path between any two endpoints, then what the settings make of it.
#include <algorithm>

#include "nccl/system.hpp"
#include "nccl/system_rates.hpp"

namespace isleway::nccl {
namespace {

PathKind kind_of(WireType type) {
  switch (type) {
    case WireType::nvlink: return PathKind::nvl;
    case WireType::c2c: return PathKind::c2c;
    case WireType::pci: return PathKind::pix;
    case WireType::sys: return PathKind::sys;
    default: return PathKind::loc;  // a port counts as its NIC
  }
}

/// The worse of the two, except that PCIe behind C2C has a name of its own.
PathKind merged(PathKind a, PathKind b, Version version) {
  const bool c2c_and_host =
      (a == PathKind::phb && b == PathKind::c2c) || (a == PathKind::c2c && b == PathKind::phb);
  return c2c_and_host && version >= release(2, 27) ? PathKind::p2c : std::max(a, b);
}

}  // namespace

void System::find_paths(const Settings& settings) {
  for (SystemPath& path : paths_) path = {};
  for (const NodeType type : {NodeType::cpu, NodeType::gpu, NodeType::net, NodeType::nvs})
    for (const int base : of(type)) breadth_first(base, settings);
  own_nets_.clear();
  for (int gpu = 0; gpu < count(NodeType::gpu); ++gpu) own_nets_.push_back(find_own_nets(gpu));
  apply_peer_access(settings);
  apply_network_rules(settings);
  measure_bandwidth();
}

/// Paths towards `base` from everywhere, hop by hop. A path is replaced by a longer one
/// never, by an equally short one never, so that the order of wires decides among equals.
void System::breadth_first(int base, const Settings& settings) {
  std::vector<SystemPath> found(nodes_.size());
  found[base] = {PathKind::loc, kLocalRate, {}};
  std::vector<int> ring = {base}, next;
  while (!ring.empty()) {
    next.clear();
    for (const int at : ring)
      for (const int out : nodes_[at].wires) {
        const Wire& wire = wires_[out];
        const SystemPath& so_far = found[at];
        const int far = wire.to;
        const bool through_gpu = at != base && nodes_[at].type == NodeType::gpu;
        // A GPU forwards for its NVLink neighbour alone.
        if (through_gpu && (!settings.nvb || wire.type != WireType::nvlink ||
                            nodes_[far].type != NodeType::gpu || so_far.wires.size() > 1))
          continue;
        SystemPath& known = found[far];
        const float bandwidth = std::min(so_far.bandwidth, wire.bandwidth);
        const bool fewer_hops = known.bandwidth == 0 || known.wires.size() > so_far.wires.size();
        if (!fewer_hops || known.bandwidth >= bandwidth) continue;
        PathKind step = kind_of(wire.type);
        const NodeType a = nodes_[at].type, b = nodes_[far].type;
        if (a == NodeType::pci && b == NodeType::pci) step = PathKind::pxb;
        if (wire.type == WireType::pci && (a == NodeType::cpu || b == NodeType::cpu))
          step = PathKind::phb;
        known.wires.assign(1, wire.back);
        known.wires.insert(known.wires.end(), so_far.wires.begin(), so_far.wires.end());
        known.bandwidth = bandwidth;
        if (a == NodeType::gpu && so_far.type == PathKind::nvl && step == PathKind::nvl &&
            known.wires.size() > 1)
          step = PathKind::nvb;
        known.type = merged(so_far.type, step, settings.version);
        if (std::find(next.begin(), next.end(), far) == next.end()) next.push_back(far);
      }
    ring.swap(next);
  }
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    if (endpoint_[node] >= 0) paths_[index(static_cast<int>(node), base)] = std::move(found[node]);
}

void System::detour(int via, int from, int to) {
  const SystemPath &first = path(from, via), &second = path(via, to);
  SystemPath joined = first;
  joined.wires.insert(joined.wires.end(), second.wires.begin(), second.wires.end());
  joined.type =
      nodes_[via].type == NodeType::gpu ? PathKind::pxn : std::max(first.type, second.type);
  joined.bandwidth = std::min(first.bandwidth, second.bandwidth);
  paths_[index(from, to)] = std::move(joined);
}

std::vector<int> System::nearest(int node, NodeType type) const {
  std::vector<int> best;
  float bandwidth = 0;
  PathKind kind = PathKind::dis;
  const auto& candidates = of(type);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const SystemPath& to = path(node, candidates[i]);
    if (to.bandwidth > bandwidth || (to.bandwidth == bandwidth && to.type < kind)) {
      bandwidth = to.bandwidth;
      kind = to.type;
      best.clear();
    }
    if (to.bandwidth == bandwidth && to.type == kind) best.push_back(static_cast<int>(i));
  }
  return best;
}

std::vector<int> System::find_own_nets(int gpu_position) const {
  const int gpu = of(NodeType::gpu)[gpu_position];
  const std::vector<int> nets = nearest(gpu, NodeType::net);
  if (nets.empty()) return {};
  const int count = static_cast<int>(nets.size());
  const int sharing = static_cast<int>(nearest(of(NodeType::net)[nets[0]], NodeType::gpu).size());
  int first = nodes_[gpu].cuda_device;
  if ((count & (count - 1)) == 0) {  // bits mirrored: neighbours get ports far apart
    int mirrored = 0;
    for (int bit = 1, back = count / 2; bit < count; bit *= 2, back /= 2)
      if (first & bit) mirrored |= back;
    first = mirrored;
  }
  std::vector<int> own;
  const int share = std::max(1, (count + sharing - 1) / std::max(1, sharing));
  for (int i = 0; i < std::min(share, count); ++i)
    own.push_back(of(NodeType::net)[nets[(first + i) % count]]);
  return own;
}

/// The first of the nearest GPUs that uses the port, channel by channel.
int System::local_gpu(int net) const {
  const std::vector<int> gpus = nearest(net, NodeType::gpu);
  std::size_t channels = 0;
  for (const int gpu : gpus) channels = std::max(channels, own_nets_[gpu].size());
  for (std::size_t channel = 0; channel < channels; ++channel)
    for (const int gpu : gpus) {
      const auto& own = own_nets_[gpu];
      if (!own.empty() && own[channel % own.size()] == net) return gpu;
    }
  return -1;
}

void System::measure_bandwidth() {
  const bool network = count(NodeType::net) > 0;
  max_bandwidth = total_bandwidth = 0;
  if (!network && count(NodeType::gpu) == 1) {
    max_bandwidth = total_bandwidth = kLocalRate;
    return;
  }
  for (const int gpu : of(NodeType::gpu)) {
    for (const int other : of(network ? NodeType::net : NodeType::gpu))
      if (other != gpu) max_bandwidth = std::max(max_bandwidth, path(gpu, other).bandwidth);
    float nvlink = 0, pci = 0;
    for (const int wire : nodes_[gpu].wires) {
      if (wires_[wire].type == WireType::nvlink) nvlink += wires_[wire].bandwidth;
      if (wires_[wire].type == WireType::pci) pci = wires_[wire].bandwidth;
    }
    total_bandwidth = std::max({total_bandwidth, nvlink, pci});
  }
}

void System::drop_network() {
  by_type_[static_cast<std::size_t>(NodeType::net)].clear();
  measure_bandwidth();
}

}  // namespace isleway::nccl
