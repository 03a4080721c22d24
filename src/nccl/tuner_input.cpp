#include "nccl/tuner_input.hpp"

#include <algorithm>

#include "nccl/connect.hpp"

namespace isleway::nccl {

TunerInput tuner_input(const Graphs& graphs) {
  TunerInput input = graphs.kinds.front().hardware;
  for (const NodeKind& kind : graphs.kinds) {
    input.min_sm = std::min(input.min_sm, kind.hardware.min_sm);
    input.max_sm = std::max(input.max_sm, kind.hardware.max_sm);
    input.switched = input.switched && kind.hardware.switched;
    if (kind.hardware.cpu_vendor != input.cpu_vendor) input.cpu_vendor = CpuVendor::amd;  // mixed
  }
  input.ranks = graphs.ranks();
  input.nodes = static_cast<int>(graphs.nodes.size());
  input.ring = graphs.ring;
  input.tree = graphs.tree;
  input.nvls = graphs.nvls;
  input.nvls_supported = graphs.nvls_supported;
  input.collnet_chain = graphs.collnet_chain;
  input.collnet_direct = graphs.collnet_direct;
  input.collnet_refused = graphs.collnet_refused;
  input.direct_heads = static_cast<int>(std::max<std::size_t>(1, direct_heads(graphs, 0).size()));
  for (const NcclNode& node : graphs.nodes)
    input.most_node_ranks = std::max(input.most_node_ranks, static_cast<int>(node.ranks.size()));
  input.channels = graphs.channels;
  input.nvls_channels = graphs.nvls_channels;
  return input;
}

}  // namespace isleway::nccl
