// Latency: a base for the kernel, then what each dependent hop adds.
#include <algorithm>

#include "nccl/tuner_rules.hpp"

namespace isleway::nccl {
namespace {

struct Hops {
  double intra, inter;  ///< us
};

double hop(const ModelPoint& p, HopClass where, Algorithm algorithm) {
  // POWER's PCIe is slower for Simple; NCCL puts the ring's value into the tree's place.
  if (p.input.cpu_arch == CpuArch::power && where == HopClass::pci &&
      algorithm == Algorithm::tree && p.protocol == Protocol::simple)
    algorithm = Algorithm::ring;
  return p.tables
      .hop_latency[static_cast<std::size_t>(where)][index_of(algorithm)][index_of(p.protocol)];
}

HopClass inside(const ModelPoint& p) {
  return p.graph().type_intra == PathKind::nvl ? HopClass::nvlink : HopClass::pci;
}

Hops hops(const ModelPoint& p) {
  const double plugin = p.graph().latency_inter;
  // With one rank a node every hop of a ring is a hop of the network, as a tree's are.
  const bool alone = p.ranks_per_node() == 1;
  const double net = hop(p, HopClass::net, alone ? Algorithm::tree : p.algorithm);
  // Simple also flushes what the NIC wrote, one more round to it.
  const double inter = net + plugin * (p.protocol == Protocol::simple ? 2 : 1);
  return {alone ? net : hop(p, inside(p), p.algorithm), inter};
}

/// What the proxy thread adds to every step of a ring that leaves the node, us.
double network_overhead(const ModelPoint& p) {
  if (p.input.nodes == 1) return 0;
  double us = p.input.cpu_vendor == CpuVendor::amd && p.input.cpu_arch == CpuArch::x86 ? 2 : 1;
  if (p.settings.net_overhead_ns) us = *p.settings.net_overhead_ns * 1e-3;
  return p.protocol == Protocol::simple ? 3 * us : us;
}

double ring_latency(const ModelPoint& p, const Hops& at) {
  const int nodes = p.input.nodes;
  if (p.collective == Collective::broadcast || p.collective == Collective::reduce) {
    const HopClass where = nodes > 1 ? HopClass::net : inside(p);
    // One hop where all channels run alike (the chain is a pipeline), else all of them.
    if (p.graph().same_channels) return hop(p, where, Algorithm::ring);
    const bool simple = p.protocol == Protocol::simple;
    return p.ring_steps() * hop(p, where, simple ? Algorithm::tree : Algorithm::ring);
  }
  double crossings = 0;
  if (nodes > 1) {
    crossings = nodes - 1;
    if (p.collective == Collective::all_reduce)
      crossings = p.settings.version >= release(2, 23) ? 2 * (nodes - 1) : 2 * nodes;
  }
  return (p.ring_steps() - crossings) * std::max(at.intra, network_overhead(p)) +
         crossings * at.inter;
}

}  // namespace

double model_latency(const ModelPoint& p) {
  const double base = p.tables.base_latency[index_of(p.algorithm)][index_of(p.protocol)];
  const Hops at = hops(p);
  const double levels = floor_log2(p.input.nodes);
  switch (p.algorithm) {
    case Algorithm::ring: return base + ring_latency(p, at);
    case Algorithm::tree:
      return base + 2 * ((p.ranks_per_node() - 1) * at.intra + levels * at.inter);
    case Algorithm::collnet_chain: return base + 2 * (p.ranks_per_node() - 1) * at.intra + at.inter;
    case Algorithm::collnet_direct: {
      const double others = p.ranks_per_node() - 1;
      const double each = p.settings.version < release(2, 19) ? .5 : .4;  // to share a link
      return base + 2 * (std::min(1.0, others) * at.intra + each * others) + at.inter;
    }
    case Algorithm::nvls: return base + at.intra + (p.input.nodes > 1 ? at.inter : 0);
    case Algorithm::nvls_tree: return base + at.intra + 2 * levels * at.inter;
    case Algorithm::pat: return base + levels * at.inter / 3.5 + 2.8 * p.input.ranks;
    default: return base;
  }
}

}  // namespace isleway::nccl
