#include "nccl/connect.hpp"

namespace isleway::nccl {
namespace {

/// Ranks of the communicator in the order of one channel of a node's graph.
std::vector<int> ranks_in_order(const NcclNode& node, const std::vector<int>& order) {
  std::vector<int> ranks;
  ranks.reserve(order.size());
  for (const int local : order) ranks.push_back(node.ranks[local]);
  return ranks;
}

}  // namespace

int ring_channel(const Graphs& graphs, int node, int channel) {
  const int own = channel % graphs.ring.channels;
  if (graphs.ring.cross_nic != 2 || node % 2 == 0) return own;
  const int partner = own ^ 1;
  return partner < graphs.ring.channels ? partner : own;
}

std::vector<std::vector<int>> global_rings(const Graphs& graphs, int channels) {
  std::vector<std::vector<int>> rings(channels);
  for (int c = 0; c < channels; ++c)
    for (std::size_t n = 0; n < graphs.nodes.size(); ++n) {
      const NcclNode& node = graphs.nodes[n];
      const auto& order =
          graphs.kinds[node.kind].ring.intra[ring_channel(graphs, static_cast<int>(n), c)];
      const std::vector<int> ranks = ranks_in_order(node, order);
      rings[c].insert(rings[c].end(), ranks.begin(), ranks.end());
    }
  return rings;
}

std::vector<TreeShape> global_trees(const Graphs& graphs, int channels) {
  TreePattern pattern = TreePattern::plain;
  if (graphs.tree.pattern == balanced_tree) pattern = TreePattern::balanced;
  if (graphs.tree.pattern == split_tree) pattern = TreePattern::split;
  std::vector<TreeShape> trees;
  for (int c = 0; c < channels; ++c) {
    std::vector<std::vector<int>> chains;
    for (const NcclNode& node : graphs.nodes)
      chains.push_back(
          ranks_in_order(node, graphs.kinds[node.kind].tree.intra[c % graphs.tree.channels]));
    const bool mirrored = c / graphs.tree.channels % 2 == 1;
    trees.push_back(make_tree_shape(chains, mirrored, pattern));
  }
  return trees;
}

}  // namespace isleway::nccl
