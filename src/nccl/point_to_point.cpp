#include "nccl/point_to_point.hpp"

#include <algorithm>

namespace isleway::nccl {

std::int64_t peer_chunk(const Graphs& graphs, const Settings& settings) {
  const bool nvlink = std::all_of(graphs.kinds.begin(), graphs.kinds.end(),
                                  [](const NodeKind& kind) { return kind.all_nvlink; });
  std::int64_t chunk = settings.p2p_pci_chunk.value_or(128 << 10);
  if (graphs.nodes.size() > 1) chunk = settings.p2p_net_chunk.value_or(128 << 10);
  else if (nvlink) chunk = settings.p2p_nvl_chunk.value_or(512 << 10);
  return std::min(chunk, settings.buffer_simple.value_or(4 << 20) / 8);
}

PeerPlan plan_peers(const Graphs& graphs, const Settings& settings, std::int64_t bytes) {
  const bool network = graphs.nodes.size() > 1;
  const int ranks = graphs.ranks();
  std::size_t node_ranks = 1;
  for (const NcclNode& node : graphs.nodes) node_ranks = std::max(node_ranks, node.ranks.size());
  PeerPlan plan;
  plan.channels = graphs.p2p_channels;
  // One node's ranks are one group; NCCL_P2P_SCHEDULE_GROUP_SIZE is 8.
  plan.group_ranks = network ? static_cast<int>(std::min<std::size_t>(node_ranks, 8)) : ranks;

  std::int64_t chunk = peer_chunk(graphs, settings);
  const std::int64_t threshold = settings.p2p_ll_threshold.value_or(16 << 10);
  const bool ll = !network && bytes <= graphs.channels_per_peer * threshold &&
                  settings.protocols(Collective::all_reduce, index_of(Protocol::ll));
  plan.protocol = ll ? Protocol::ll : Protocol::simple;

  // Parts for one channel: not too small to be worth it, not too large to share.
  const std::int64_t step = ll ? 64 << 10 : chunk;
  const std::int64_t least = network ? step / 2 : step / 8, most = network ? step : step * 32;
  int channels = graphs.channels_per_peer;
  while (channels > 1 && channels * ranks > plan.channels) channels /= 2;
  const auto part = [&](int n) { return std::max<std::int64_t>((bytes + n - 1) / n, 1); };
  while (channels > 1 && part(channels) < least) channels /= 2;
  while (channels * 2 <= graphs.channels_per_peer && part(channels) > most) channels *= 2;
  plan.per_peer = channels;

  if (network) {
    if (bytes < step) chunk /= 4;
    else if (bytes < 8 * step) chunk /= 2;
  }
  plan.chunking.chunk_bytes = ll ? 32 << 10 : chunk;
  plan.chunking.slice_bytes = plan.chunking.chunk_bytes;
  return plan;
}

}  // namespace isleway::nccl
