// Channels that start at a port of the network and come back to one.
#include <algorithm>
#include <cmath>

#include "nccl/search_walk.hpp"

namespace isleway::nccl {
namespace {

/// Visits granted to a first look in PCIe order, which are not counted.
constexpr long kReferenceBudget = 1 << 10;

}  // namespace

void SearchWalk::from_network(Way way) {
  // Ports are charged in whole GB/s.
  const float bandwidth = std::floor(attempt_.bw_inter);
  const int channel = attempt_.channels;
  const std::vector<int>& nets = all_ports_;
  const int count = static_cast<int>(nets.size());
  for (int i = 0; i < count; ++i) {
    const int net = nets[(channel + i) % count];
    SystemNode& port = system_.node(net);
    if (port.bandwidth < bandwidth || (attempt_.collnet && !port.reduces)) continue;
    // The second of a pair of rings goes back where the first one came from.
    if (attempt_.pattern == ring_pattern && attempt_.cross_nic == 2 && channel % 2 == 1 &&
        net != attempt_.inter[channel - 1].second)
      continue;
    attempt_.inter[channel].first = net;
    attempt_.latency_inter = port.latency;
    for (const int other : nets)
      if (same_port(system_.node(other), port)) system_.node(other).bandwidth -= bandwidth;
    bool found_head = false;
    if (has_heads(attempt_.pattern)) found_head = head_from_port(net, nets, way);
    else from_port(net, way);
    for (const int other : nets)
      if (same_port(system_.node(other), port)) system_.node(other).bandwidth += bandwidth;
    if (found_head) break;
  }
}

/// False: the port has no GPU of its own that is not a head yet.
bool SearchWalk::head_from_port(int net, const std::vector<int>& nets, Way way) {
  if (attempt_.channels >= static_cast<int>(nets.size())) return false;
  const int gpu = system_.node(net).local_gpu;
  if (gpu < 0) return false;
  for (int channel = 0; channel < attempt_.channels; ++channel)
    if (attempt_.intra[channel][0] == system_.gpu(gpu).rank) return false;
  enter_gpu(net, gpu, 0, way);
  return true;
}

void SearchWalk::from_port(int net, Way way) {
  if (attempt_.channels > 0 && attempt_.same_channels) {
    way.order = Order::replay;
    enter_gpu(net, replayed_gpu(-1), 0, way);
    return;
  }
  if (attempt_.channels == 0 && system_.count(NodeType::nvs) == 0) {
    const long left = budget_;
    budget_ = kReferenceBudget;
    way.order = Order::pci;
    enter_gpu(net, 0, 0, way);
    budget_ = complete() ? kComplete : left;
    way.order = Order::any;
  }
  // The GPU that drives the port before others that are as near.
  const int own = system_.node(net).local_gpu;
  if (own >= 0) enter_gpu(net, own, 0, way);
  for (const int gpu : system_.nearest(net, NodeType::gpu))
    if (gpu != own) enter_gpu(net, gpu, 0, way);
}

void SearchWalk::back_to_port(int gpu, int step, Way way) {
  const int channel = attempt_.channels;
  const SystemNode& start = system_.node(attempt_.inter[channel].first);
  for (const int net : ports_of(gpu)) {
    const SystemNode& port = system_.node(net);
    if (attempt_.pattern == plain_tree && net != attempt_.inter[channel].first) continue;
    if (attempt_.pattern == ring_pattern && attempt_.cross_nic == 2) {
      if (channel % 2 == 1 && net != attempt_.inter[channel - 1].first) continue;
    } else if (attempt_.cross_nic == 0 && !same_port(port, start)) {
      continue;
    }
    // A balanced tree's two children come in on the first two GPUs, half each.
    const float whole = attempt_.bw_inter;
    int back_to_net = -1;
    if (attempt_.pattern == balanced_tree) {
      if (step == 0) back_to_net = 1;
      else if (net != attempt_.inter[channel].second) continue;
      attempt_.bw_inter *= .5F;
    }
    const float charged = attempt_.bw_inter;
    attempt_.inter[channel].second = net;
    const bool taken = follow(gpu_node(gpu), net, 1);
    attempt_.bw_inter = whole;
    if (!taken) continue;
    visit(gpu, step, {back_to_net, way.back_to_first, way.order});
    attempt_.bw_inter = charged;
    follow(gpu_node(gpu), net, -1);
    attempt_.bw_inter = whole;
  }
}

}  // namespace isleway::nccl
