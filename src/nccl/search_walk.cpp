#include "nccl/search_walk.hpp"

#include <algorithm>
#include <cmath>

namespace isleway::nccl {
namespace {

/// Bandwidths are sums and differences of decimal numbers; without this they would drift
/// apart and decisions with them.
void subtract(float& from, float amount) { from = std::round((from - amount) * 1000) / 1000; }

bool is_tree(int pattern) {
  return pattern == balanced_tree || pattern == split_tree || pattern == plain_tree;
}

}  // namespace

SearchWalk::SearchWalk(System& system, SearchGraph& attempt, SearchGraph& best, long budget)
    : system_(system),
      attempt_(attempt),
      best_(best),
      budget_(budget),
      gpus_(system.count(NodeType::gpu)),
      used_(gpus_, 0),
      position_of_rank_(gpus_, 0) {
  for (int i = 0; i < gpus_; ++i) position_of_rank_[system_.gpu(i).rank] = i;
  if (system_.count(NodeType::net) == 0) return;
  all_ports_ = find_ports(0, gpus_);
  ports_of_.resize(gpus_);
}

SearchWalk::Way SearchWalk::way() const {
  Way way;
  const bool network = system_.count(NodeType::net) > 0;
  if (network)
    way.back_to_net = attempt_.pattern == ring_pattern ? gpus_ - 1
                      : attempt_.pattern == split_tree ? 1
                                                       : 0;
  else if (attempt_.pattern == ring_pattern) way.back_to_first = gpus_ - 1;
  return way;
}

void SearchWalk::next_channel() {
  Way way = this->way();
  attempt_.make_room(gpus_);
  if (system_.count(NodeType::net) > 0) {
    from_network(way);
    return;
  }
  if (attempt_.pattern == nvls_pattern) {
    enter_gpu(-1, attempt_.channels, 0, way);
    return;
  }
  if (attempt_.channels == 0) {
    way.order = Order::pci;
    enter_gpu(-1, 0, 0, way);
  } else {
    way.order = Order::replay;
    enter_gpu(-1, replayed_gpu(-1), 0, way);
  }
  way.order = Order::any;
  if (!attempt_.same_channels || attempt_.channels == 0)
    for (int gpu = 0; gpu < gpus_; ++gpu) enter_gpu(-1, gpu, 0, way);
}

void SearchWalk::enter_gpu(int from, int gpu, int step, Way way) {
  const int node = gpu_node(gpu);
  if (from >= 0 && !follow(from, node, 1)) return;
  const std::uint64_t flag = std::uint64_t{1} << attempt_.channels;
  used_[gpu] ^= flag;
  visit(gpu, step, way);
  used_[gpu] ^= flag;
  if (from >= 0) follow(from, node, -1);
}

void SearchWalk::visit(int gpu, int step, Way way) {
  if (budget_ <= 0) return;
  --budget_;
  if (step == gpus_) {
    finish_channel();
    return;
  }
  attempt_.intra[attempt_.channels][step] = system_.gpu(gpu).rank;
  if (step == way.back_to_net) {
    back_to_port(gpu, step, way);
  } else if (attempt_.pattern == nvls_pattern) {
    nvls_head(gpu);
  } else if (attempt_.pattern == collnet_direct_pattern) {
    direct_head(gpu);
  } else if (step < gpus_ - 1) {
    onward(gpu, step, way);
  } else if (step == way.back_to_first) {
    close_ring(gpu, step, way);
  } else {
    visit(gpu, gpus_, {-1, -1, way.order});
  }
}

void SearchWalk::finish_channel() {
  ++attempt_.channels;
  if (is_better()) {
    best_ = attempt_;
    if (attempt_.channels == attempt_.max_channels) budget_ = kComplete;
  }
  if (attempt_.channels < attempt_.max_channels) next_channel();
  --attempt_.channels;
}

void SearchWalk::onward(int gpu, int step, Way way) {
  Candidates next;
  if (way.order == Order::pci) {
    next.push_back(step + 1);
  } else if (way.order == Order::replay) {
    next.push_back(replayed_gpu(step));
  } else {
    const int sort = way.back_to_net == -1 ? 0 : way.back_to_net == step + 1 ? 1 : -1;
    next_gpus(gpu, sort, next);
  }
  for (const int to : next) enter_gpu(gpu_node(gpu), to, step + 1, way);
}

void SearchWalk::close_ring(int gpu, int step, Way way) {
  const int first = position_of(attempt_.intra[attempt_.channels][0]);
  if (!follow(gpu_node(gpu), gpu_node(first), 1)) return;
  visit(first, step + 1, {way.back_to_net, -1, way.order});
  follow(gpu_node(gpu), gpu_node(first), -1);
}

/// A head's share crosses its own link twice, once for it and once as one of all.
void SearchWalk::nvls_head(int head) {
  const int nvs = system_.of(NodeType::nvs)[0];
  int down = 0, up = 0;
  while (down < gpus_ && follow(nvs, gpu_node(down), down == head ? 2 : 1)) ++down;
  if (down == gpus_) {
    while (up < gpus_ && follow(gpu_node(up), nvs, up == head ? 2 : 1)) ++up;
    if (up == gpus_) visit(head, gpus_, {});
  }
  while (up > 0) --up, follow(gpu_node(up), nvs, up == head ? -2 : -1);
  while (down > 0) --down, follow(nvs, gpu_node(down), down == head ? -2 : -1);
}

/// A head gets a part of everybody's data, and gives everybody a part back.
void SearchWalk::direct_head(int head) {
  if (gpus_ == 1) return visit(head, gpus_, {});
  const float share = 1.F / static_cast<float>(gpus_ - 1);
  int out = 0, in = 0;
  while (out < gpus_ && follow(gpu_node(head), gpu_node(out), share)) ++out;
  if (out == gpus_) {
    while (in < gpus_ && follow(gpu_node(in), gpu_node(head), share)) ++in;
    if (in == gpus_) visit(head, gpus_, {});
  }
  while (in > 0) --in, follow(gpu_node(in), gpu_node(head), -share);
  while (out > 0) --out, follow(gpu_node(head), gpu_node(out), -share);
}

bool SearchWalk::follow(int from, int to, float times) {
  const SystemPath& path = system_.path(from, to);
  const auto inside = [&](int node) {
    const NodeType type = system_.node(node).type;
    return type == NodeType::gpu || type == NodeType::nvs;
  };
  const bool intra = inside(from) && inside(to);
  const PathKind allowed = intra ? attempt_.type_intra : attempt_.type_inter;
  if (path.type >= PathKind::dis) return false;
  if (times == 1 && path.type > allowed) return false;
  if (times == 1 && is_tree(attempt_.pattern) && system_.path(to, from).type > allowed)
    return false;
  const float bandwidth = (intra ? attempt_.bw_intra : attempt_.bw_inter) * times;
  const std::size_t steps = take(path, from, path.wires.size(), bandwidth);
  if (steps < path.wires.size()) {
    take(path, from, steps, -bandwidth);
    return false;
  }
  attempt_.hops += static_cast<int>(times) * static_cast<int>(path.wires.size());
  return true;
}

std::size_t SearchWalk::take(const SystemPath& path, int start, std::size_t steps,
                             float bandwidth) {
  float over_pci = bandwidth;
  const SystemNode& origin = system_.node(start);
  if (path.type == PathKind::phb && origin.type == NodeType::gpu)
    for (const int wire : path.wires) {
      const SystemNode& at = system_.node(system_.wire(wire).to);
      // Intel's root complex forwards between peers in 64-byte pieces.
      if (at.type == NodeType::cpu && at.arch == CpuArch::x86 && at.vendor == CpuVendor::intel)
        over_pci = bandwidth * 6 / 5;
    }
  for (std::size_t i = 0; i < steps; ++i) {
    Wire& wire = system_.wire(path.wires[i]);
    const SystemNode& to = system_.node(wire.to);
    const float forward = wire.type == WireType::pci ? over_pci : bandwidth;
    float backward = 0;
    if (to.type == NodeType::gpu && to.sm < 80 && origin.type != NodeType::gpu)
      backward += forward / 8;
    if (to.type == NodeType::cpu && to.arch == CpuArch::power && wire.type == WireType::nvlink)
      backward += forward;
    const int back = backward != 0 ? wire.back : -1;
    if (wire.bandwidth < forward || (back >= 0 && system_.wire(back).bandwidth < backward))
      return i;
    subtract(wire.bandwidth, forward);
    if (back >= 0) subtract(system_.wire(back).bandwidth, backward);
  }
  return steps;
}

bool SearchWalk::is_better() const {
  const SearchGraph &a = attempt_, &b = best_;
  if (a.channels < a.min_channels) return false;
  const float channels = static_cast<float>(a.channels), before = static_cast<float>(b.channels);
  if (a.pattern == nvls_pattern) {
    if (a.channels > b.channels && a.channels <= gpus_) return true;
    return channels * a.bw_inter > before * b.bw_inter;
  }
  if (channels * a.bw_intra != before * b.bw_intra)
    return channels * a.bw_intra > before * b.bw_intra;
  return a.pattern == b.pattern && a.cross_nic == b.cross_nic && a.hops < b.hops;
}

}  // namespace isleway::nccl
