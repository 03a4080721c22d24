// Bandwidth: what the channels carry together, then the share of it that is the call's.
#include <algorithm>

#include "nccl/tuner_rules.hpp"

namespace isleway::nccl {
namespace {

double cap_of(const ModelPoint& p, const PerArchitecture& caps) {
  const auto row = static_cast<std::size_t>(p.tables.architecture(p.input.min_sm));
  return caps[row][p.scale()];
}

/// LL moves a line at a time, so all channels together meet one limit. Between nodes it is
/// the CPU's that counts.
double ll_cap(const ModelPoint& p) {
  if (p.input.nodes == 1) return cap_of(p, p.tables.ll_total);
  const std::size_t row = p.input.cpu_vendor == CpuVendor::amd ? 1 : 0;
  return p.tables.ll_total[row][p.scale()];
}

double ring_bus(const ModelPoint& p, double bus) {
  const double channels = p.graph().channels;
  if (p.protocol == Protocol::ll) {
    if (p.settings.version >= release(2, 21)) return std::min(ll_cap(p), bus / 2);
    const bool reduces =
        p.collective == Collective::all_reduce || p.collective == Collective::reduce;
    return std::min(ll_cap(p), bus / (p.input.nodes > 1 || reduces ? 4 : 3));
  }
  if (p.protocol == Protocol::ll128) {
    const bool thin = p.settings.version < release(2, 23) && p.ranks_per_node() < 2;
    return std::min((thin ? .7 : .92) * bus, channels * cap_of(p, p.tables.ring_ll128));
  }
  return bus;
}

double tree_bus(const ModelPoint& p, double bus) {
  const double channels = p.graph().channels;
  bus = std::min(.92 * bus, channels * cap_of(p, p.tables.tree_simple));
  if (p.protocol == Protocol::ll) bus = std::min(bus / 3.8, ll_cap(p));
  if (p.protocol == Protocol::ll128)
    bus = std::min(bus * (p.input.nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                   channels * cap_of(p, p.tables.tree_ll128));
  return p.graph().pattern == plain_tree ? bus * .85 : bus;
}

/// In-switch reduction. Until 2.27 the graph's speeds alone; since then what a head really
/// gets: it serves its own share and takes part in all others.
double nvls_bus(const ModelPoint& p) {
  const Graph& graph = p.graph();
  const bool tree = p.algorithm == Algorithm::nvls_tree;
  const bool reduces = p.collective == Collective::all_reduce;
  const double channels = graph.channels;
  if (channels < 2) return 0;
  const double share = (p.ranks_per_node() - 1) / p.ranks_per_node();
  if (p.settings.version >= release(2, 28)) {
    const auto row = static_cast<std::size_t>(p.tables.architecture(p.input.min_sm));
    double intra = graph.bw_intra * p.tables.nvls_efficiency[row] * (channels - 1) / channels;
    intra *= reduces ? 2 : share;
    const double inter = graph.bw_inter * (tree && p.input.nodes <= 2 ? 2 : 1);
    double each = std::min(intra, inter);
    if (tree) each = std::min(each, cap_of(p, p.tables.nvls_tree));
    return channels * each;
  }
  if (tree)
    return channels * std::min(graph.bw_intra, graph.bw_inter / (p.input.nodes <= 2 ? 1 : 2));
  if (reduces || p.settings.version < release(2, 27))
    return channels * std::min(graph.bw_intra, graph.bw_inter);
  return channels * std::min(graph.bw_intra * share, .9 * graph.bw_inter);
}

/// Heads with several ranks each are slowed by them, half as much as there are more.
double direct_bus(const ModelPoint& p, double bus) {
  double ranks_a_head = p.ranks_per_node() / p.graph().channels;
  ranks_a_head -= (ranks_a_head - 1) / 2;
  return bus / ranks_a_head * (p.input.min_sm >= 90 ? .85 : 1);
}

/// Of the bus, what counts as the call's own bytes.
double algorithm_share(const ModelPoint& p) {
  const bool gathers =
      p.collective == Collective::all_gather || p.collective == Collective::reduce_scatter;
  const bool nvls = p.algorithm == Algorithm::nvls || p.algorithm == Algorithm::nvls_tree;
  if (gathers && p.algorithm != Algorithm::ring) return 1;
  const double by_steps = double(p.input.ranks) / p.ring_steps();
  if (p.algorithm == Algorithm::ring) return by_steps;
  if (!nvls) return .5;
  if (p.settings.version >= release(2, 28)) return by_steps;
  if (p.settings.version < release(2, 19) && p.algorithm == Algorithm::nvls_tree)
    return .70 * p.input.nodes / (2.0 * (p.input.nodes - 1));
  return 5.0 / 6.0;
}

double bus_bandwidth(const ModelPoint& p) {
  const Graph& graph = p.graph();
  const bool collnet =
      p.algorithm == Algorithm::collnet_direct || p.algorithm == Algorithm::collnet_chain;
  const double bus =
      graph.channels * (p.input.nodes <= 2 || collnet ? graph.bw_intra : graph.bw_inter);
  switch (p.algorithm) {
    case Algorithm::ring: return ring_bus(p, bus);
    case Algorithm::tree: return tree_bus(p, bus);
    case Algorithm::nvls:
    case Algorithm::nvls_tree: return nvls_bus(p);
    case Algorithm::collnet_chain: return bus;
    case Algorithm::collnet_direct: return direct_bus(p, bus);
    case Algorithm::pat: return bus * (p.settings.version < release(2, 24) ? .85 : .75);
    default: return 0;
  }
}

}  // namespace

double model_bandwidth(const ModelPoint& point) {
  return bus_bandwidth(point) * algorithm_share(point);
}

}  // namespace isleway::nccl
