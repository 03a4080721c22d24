// NCCL's trees (src/graph/trees.cc, src/graph/connect.cc).
#include <algorithm>

#include "collective/tree_links.hpp"

namespace isleway {
namespace {

/// A tree and, for its members, whether each is the second child of its parent.
struct BinaryTree {
  std::vector<int> parent;
  std::vector<bool> second;
};

BinaryTree plain_tree(int nodes) {
  BinaryTree tree{std::vector<int>(nodes, -1), std::vector<bool>(nodes)};
  for (int v = 1; v < nodes; ++v) {
    const int bit = v & -v;
    const int up = (v ^ bit) | (bit << 1);
    tree.parent[v] = up < nodes ? up : v ^ bit;
    tree.second[v] = v > tree.parent[v];
  }
  return tree;
}

/// An even number of members is counted from the other end, an odd one shifted by one:
/// either makes leaves of the inner members.
BinaryTree mirrored_tree(int nodes) {
  const BinaryTree plain = plain_tree(nodes);
  BinaryTree tree{std::vector<int>(nodes, -1), std::vector<bool>(nodes)};
  const auto image = [&](int v) { return nodes % 2 == 0 ? nodes - 1 - v : (v + 1) % nodes; };
  for (int v = 0; v < nodes; ++v) {
    if (plain.parent[v] >= 0) tree.parent[image(v)] = image(plain.parent[v]);
    tree.second[image(v)] = plain.second[v];
  }
  return tree;
}

/// Place, in the parent's chain, of the GPU that a child node's head talks to.
std::size_t place_in_chain(TreePattern pattern, bool second) {
  switch (pattern) {
    case TreePattern::balanced: return second ? 0 : 1;
    case TreePattern::split: return 1;
    case TreePattern::plain: return 0;
  }
  return 0;
}

}  // namespace

TreeShape binary_tree(int nodes) { return {plain_tree(nodes).parent}; }
TreeShape mirrored_binary_tree(int nodes) { return {mirrored_tree(nodes).parent}; }

TreeShape make_tree_shape(const std::vector<std::vector<int>>& ranks_of_nodes, bool mirrored,
                          TreePattern pattern) {
  const int nodes = static_cast<int>(ranks_of_nodes.size());
  const BinaryTree tree = mirrored ? mirrored_tree(nodes) : plain_tree(nodes);
  std::size_t ranks = 0;
  for (const auto& chain : ranks_of_nodes) ranks += chain.size();
  TreeShape shape{std::vector<int>(ranks, -1)};
  for (int n = 0; n < nodes; ++n) {
    const auto& chain = ranks_of_nodes[n];
    for (std::size_t i = 1; i < chain.size(); ++i) shape.parent[chain[i]] = chain[i - 1];
    if (tree.parent[n] < 0) continue;
    const auto& above = ranks_of_nodes[tree.parent[n]];
    const std::size_t place = place_in_chain(pattern, tree.second[n]);
    shape.parent[chain[0]] = above[std::min(place, above.size() - 1)];
  }
  return shape;
}

std::vector<TreeShape> make_tree_shapes(const std::vector<std::vector<int>>& ranks_of_nodes,
                                        int channels, TreePattern pattern) {
  std::vector<TreeShape> shapes;
  for (int c = 0; c < channels; ++c)
    shapes.push_back(make_tree_shape(ranks_of_nodes, is_mirrored(c, channels), pattern));
  return shapes;
}

}  // namespace isleway
