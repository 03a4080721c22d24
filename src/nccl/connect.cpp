#include "nccl/connect.hpp"

#include <algorithm>

namespace isleway::nccl {
namespace {

/// Ranks of the communicator in the order of one channel of a node's graph.
std::vector<int> ranks_in_order(const NcclNode& node, const std::vector<int>& order) {
  std::vector<int> ranks;
  ranks.reserve(order.size());
  for (const int local : order) ranks.push_back(node.ranks[local]);
  return ranks;
}

bool is_mirrored(const Graphs& graphs, int channel) {
  return channel / graphs.tree.channels % 2 == 1;
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
    trees.push_back(make_tree_shape(chains, is_mirrored(graphs, c), pattern));
  }
  return trees;
}

std::vector<TreeShape> network_chains(const Graphs& graphs, int channels) {
  const int network = graphs.ranks();
  std::vector<TreeShape> trees;
  for (int c = 0; c < channels; ++c) {
    TreeShape& tree = trees.emplace_back();
    tree.parent.assign(network + 1, -1);
    for (const NcclNode& node : graphs.nodes) {
      const SearchGraph& chain = graphs.kinds[node.kind].collnet_chain;
      int above = network;
      for (const int rank : ranks_in_order(node, chain.intra[c % graphs.collnet_chain.channels])) {
        tree.parent[rank] = above;
        above = rank;
      }
    }
  }
  return trees;
}

std::vector<int> direct_heads(const Graphs& graphs, int node) {
  const NcclNode& at = graphs.nodes[node];
  std::vector<int> heads;
  for (const auto& channel : graphs.kinds[at.kind].collnet_direct.intra) {
    const int rank = at.ranks[channel.front()];
    if (std::find(heads.begin(), heads.end(), rank) == heads.end()) heads.push_back(rank);
  }
  return heads;
}

std::vector<TreeShape> network_stars(const Graphs& graphs, int channels) {
  const int network = graphs.ranks();
  std::vector<std::vector<int>> heads;
  std::size_t common = kMostDirectHeads;
  for (std::size_t n = 0; n < graphs.nodes.size(); ++n) {
    heads.push_back(direct_heads(graphs, static_cast<int>(n)));
    common = std::min(common, heads.back().size());
  }
  std::vector<TreeShape> trees;
  for (int c = 0; c < channels; ++c)
    for (std::size_t h = 0; h < common; ++h) {
      TreeShape& tree = trees.emplace_back();
      tree.parent.assign(network + 1, -1);
      for (std::size_t n = 0; n < graphs.nodes.size(); ++n) {
        for (const int rank : graphs.nodes[n].ranks) tree.parent[rank] = heads[n][h];
        tree.parent[heads[n][h]] = network;
      }
    }
  return trees;
}

std::array<int, 3> children_in_order(const Graphs& graphs, const TreeShape& tree, int channel,
                                     int rank) {
  const int nodes = static_cast<int>(graphs.nodes.size());
  const int own = graphs.node_of_rank[rank];
  const auto order = [&](int child) {
    const int node = graphs.node_of_rank[child];
    if (node == own) return -1;
    if (!is_mirrored(graphs, channel)) return node;
    return nodes % 2 == 0 ? nodes - 1 - node : (node + nodes - 1) % nodes;
  };
  std::vector<int> children;
  for (int other = 0; other < graphs.ranks(); ++other)
    if (tree.parent[other] == rank) children.push_back(other);
  std::sort(children.begin(), children.end(), [&](int a, int b) { return order(a) < order(b); });
  std::array<int, 3> three = {-1, -1, -1};
  std::copy_n(children.begin(), std::min(children.size(), three.size()), three.begin());
  return three;
}

}  // namespace isleway::nccl
