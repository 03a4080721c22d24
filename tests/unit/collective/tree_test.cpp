#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "isleway/collective/network_tree.hpp"
#include "unit/collective/prove.hpp"

namespace isleway {
namespace {

const std::vector<Collective> kTreeCollectives = {Collective::all_reduce, Collective::broadcast,
                                                  Collective::reduce};

std::vector<int> children_of(const TreeShape& tree, int member) {
  std::vector<int> children;
  for (int i = 0; i < static_cast<int>(tree.parent.size()); ++i)
    if (tree.parent[i] == member) children.push_back(i);
  return children;
}

/// Any tree: each member's parent comes before it in a shuffled order.
TreeShape random_tree(int ranks, std::mt19937_64& random) {
  std::vector<int> order(ranks);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  TreeShape tree{std::vector<int>(ranks, -1)};
  for (int i = 1; i < ranks; ++i) tree.parent[order[i]] = order[random() % i];
  return tree;
}

std::vector<std::vector<int>> nodes_of(int nodes, int ranks_per_node) {
  std::vector<std::vector<int>> ranks(nodes);
  for (int r = 0; r < nodes * ranks_per_node; ++r) ranks[r / ranks_per_node].push_back(r);
  return ranks;
}

TEST(TreeShape, IsNcclsBinaryTree) {
  // Drawn in NCCL's src/graph/trees.cc for 14 ranks.
  EXPECT_EQ(binary_tree(14).parent,
            (std::vector<int>{-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12}));
}

TEST(TreeShape, WhoIsInnerInOneTreeIsALeafInTheOther) {
  for (int n = 2; n <= 64; ++n) {
    const TreeShape a = binary_tree(n), b = mirrored_binary_tree(n);
    for (int v = 0; v < n; ++v) {
      EXPECT_LE(children_of(a, v).size(), 2U);
      EXPECT_LE(children_of(b, v).size(), 2U);
      const bool inner_in_both = !children_of(a, v).empty() && !children_of(b, v).empty();
      // With an odd number, the root of the first tree stays inner.
      EXPECT_EQ(inner_in_both, n % 2 == 1 && v == 0) << v << " of " << n;
    }
  }
}

TEST(TreeShape, PatternsPlaceTheChildrenInTheChain) {
  const auto nodes = nodes_of(4, 3);  // the tree over nodes: 2 under 0, 1 and 3 under 2
  EXPECT_EQ(make_tree_shape(nodes, false, TreePattern::plain).parent,
            (std::vector<int>{-1, 0, 1, 6, 3, 4, 0, 6, 7, 6, 9, 10}));
  EXPECT_EQ(make_tree_shape(nodes, false, TreePattern::balanced).parent,
            (std::vector<int>{-1, 0, 1, 7, 3, 4, 0, 6, 7, 6, 9, 10}));
  EXPECT_EQ(make_tree_shape(nodes, false, TreePattern::split).parent,
            (std::vector<int>{-1, 0, 1, 7, 3, 4, 1, 6, 7, 7, 9, 10}));
}

TEST(NetworkTree, IsRightAndHasTheSwitchAtItsRoot) {
  // Three nodes of four: chains whose heads meet in the network; stars around two heads.
  TreeShape chains{{12, 0, 1, 2, 12, 4, 5, 6, 12, 8, 9, 10, -1}};
  TreeShape stars{{1, 12, 1, 1, 5, 12, 5, 5, 9, 12, 9, 9, -1}};
  for (const std::int64_t bytes : {0, 4, 28, 2996, 100000}) {
    const CollectiveCall call{Collective::all_reduce, {bytes, 4}, 12, 0};
    const auto tree = make_network_tree(call, {chains, stars, chains}, {256, 256});
    ASSERT_TRUE(tree) << tree.error().text();
    EXPECT_EQ((*tree)->agents(), 13);
    EXPECT_EQ(problem_with(call, **tree, 1, static_cast<std::uint64_t>(bytes)), "");
  }
  EXPECT_FALSE(make_network_tree({Collective::broadcast, {4, 4}, 12, 0}, {chains}, {}));
  std::swap(chains.parent[0], chains.parent[12]);  // a rank at the root
  EXPECT_FALSE(make_network_tree({Collective::all_reduce, {4, 4}, 12, 0}, {chains}, {}));
}

TEST(Tree, EveryCollectiveIsRightOnNcclsDoubleTrees) {
  for (const Collective collective : kTreeCollectives)
    for (const auto& [nodes, per_node] :
         {std::pair{1, 1}, {1, 8}, {2, 1}, {3, 1}, {2, 8}, {3, 5}, {4, 4}, {7, 2}, {17, 1}})
      for (const std::int64_t bytes : {0, 4, 28, 2996}) {
        const CollectiveCall call{collective, {bytes, 4}, nodes * per_node, nodes * per_node / 2};
        const auto tree =
            make_tree(call, make_tree_shapes(nodes_of(nodes, per_node), 3, TreePattern::balanced),
                      {256, 256});
        ASSERT_TRUE(tree) << tree.error().text();
        EXPECT_EQ(problem_with(call, **tree, 1, static_cast<std::uint64_t>(bytes + nodes)), "");
      }
}

RC_GTEST_PROP(Tree, IsRightOnAnyTreeWithAnyRoot, ()) {
  const int ranks = *rc::gen::inRange(1, 33);
  const CollectiveCall call{*rc::gen::elementOf(kTreeCollectives),
                            {*rc::gen::inRange(0, 3000), *rc::gen::element(1, 2, 4, 8)},
                            ranks,
                            *rc::gen::inRange(0, ranks)};
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<TreeShape> trees;
  for (int c = *rc::gen::inRange(1, 5); c > 0; --c) trees.push_back(random_tree(ranks, random));
  const std::int64_t chunk = 16 * *rc::gen::inRange(1, 40);
  const auto tree = make_tree(call, trees, {chunk, *rc::gen::element(chunk, chunk / 2)});
  RC_ASSERT(tree.has_value());
  RC_ASSERT(problem_with(call, **tree, 1, random()) == std::string());
}

TEST(Tree, ACallOfOneChunkGoesUpAndDownTheLongestBranch) {
  const CollectiveCall call{Collective::all_reduce, {1024, 4}, 32, 0};
  const auto tree = make_tree(call, make_tree_shapes(nodes_of(4, 8), 1, TreePattern::plain), {});
  const auto path = (*tree)->critical_path();
  // The chain of 8 has 7 hops; node 1 is under 2, which is under 0.
  ASSERT_EQ(path.size(), 2U * (7 + 2));
  std::int64_t bytes = 0;
  for (const CriticalStep& step : path) bytes += step.bytes;
  EXPECT_EQ(bytes, 1024 * (2 * 9 - 1));  // the last hop's are in the link's load
}

TEST(Tree, ADoubleTreeSendsEachNodeAboutTwiceItsData) {
  const std::int64_t bytes = 8 << 20;
  const CollectiveCall call{Collective::all_reduce, {bytes, 4}, 16, 0};
  std::map<int, std::int64_t> sent;
  (*make_tree(call, make_tree_shapes(nodes_of(16, 1), 2, TreePattern::balanced), {}))
      ->loads([&](const Load& load) { sent[load.from.agent] += load.bytes; });
  for (const auto& [rank, out] : sent) EXPECT_LE(out, 2 * bytes) << rank;
}

TEST(Tree, RefusesWhatIsNoTree) {
  const CollectiveCall call{Collective::all_reduce, {1024, 4}, 4, 0};
  const auto what = [&](std::vector<int> parent) {
    const auto result = make_tree(call, {{std::move(parent)}}, {});
    return result ? std::string("accepted") : result.error().what;
  };
  EXPECT_EQ(what({-1, 0, 0}), "tree 0 has 3 members");
  EXPECT_EQ(what({-1, -1, 0, 0}), "tree 0 has two roots, 0 and 1");
  EXPECT_EQ(what({1, 2, 3, 0}), "tree 0 has no root");
  EXPECT_EQ(what({-1, 0, 3, 2}), "tree 0 joins only 2 of 4 members to its root 0");
  EXPECT_EQ(what({-1, 4, 0, 0}), "tree 0 gives 1 the parent 4");
  EXPECT_EQ(what({-1, 1, 0, 0}), "tree 0 gives 1 the parent 1");
}

}  // namespace
}  // namespace isleway
