#include <numeric>

#include "fabric/max_flow.hpp"
#include "unit/fabric/build_unit.hpp"

namespace isleway {
namespace {

std::vector<GpuId> range(GpuId first, GpuId last) {
  std::vector<GpuId> ids(last - first);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

Fabric cluster(std::uint32_t nodes, NetworkPlan plan) {
  auto fabric = Fabric::make("cluster", {testing::hgx_h100().make()},
                             std::vector<std::uint32_t>(nodes), plan);
  if (!fabric) throw std::logic_error(fabric.error().text());
  return *fabric;
}

TEST(MaxFlow, ATextbookGraph) {
  MaxFlow flow;
  for (int i = 0; i < 6; ++i) flow.add_vertex();
  const int edges[][3] = {{0, 1, 16}, {0, 2, 13}, {1, 3, 12}, {2, 1, 4}, {2, 4, 14},
                          {3, 2, 9},  {3, 5, 20}, {4, 3, 7},  {4, 5, 4}};
  for (const auto& [a, b, capacity] : edges)
    flow.add_edge(static_cast<MaxFlow::Vertex>(a), static_cast<MaxFlow::Vertex>(b), capacity);
  EXPECT_EQ(flow.run(0, 5), 23);
}

TEST(Cut, InsideAnIsland) {
  const Fabric fabric = *Fabric::single(testing::hgx_h100().make());
  // 18 links of 25 GB/s for each GPU, and its PCIe link.
  EXPECT_DOUBLE_EQ(cut(fabric, range(0, 1), range(1, 2)).GBs(), 450 + 63);
  // Beside NVLink, the CPUs are joined by 100 GB/s. Nothing joins the NICs of a lone unit.
  EXPECT_DOUBLE_EQ(bisection(fabric).GBs(), 4 * 450 + 100);
}

TEST(Cut, CubeMeshHasSixLinksBetweenItsHalves) {
  const Fabric fabric = *Fabric::single(testing::dgx1_v100().make());
  // 0-6 and 1-7 are double, 2-4 and 3-5 single; 25 GB/s between the CPUs.
  EXPECT_DOUBLE_EQ(bisection(fabric).GBs(), 6 * 25 + 25);
}

TEST(Cut, TrunksLimitTwoBoards) {
  EXPECT_DOUBLE_EQ(cut(*Fabric::single(testing::dgx2().make()), range(0, 8), range(8, 16)).GBs(),
                   8 * (6 * 25 + 63));
  auto b = testing::dgx2();
  for (Link& link : b.parts.links)
    if (link.count_max == 8) link.count = 1;
  EXPECT_DOUBLE_EQ(cut(*Fabric::single(b.make()), range(0, 8), range(8, 16)).GBs(),
                   6 * 25 + 8 * 63);
}

TEST(Cut, NetworksByTheirOversubscription) {
  NetworkPlan plan;
  plan.shape = NetworkPlan::Shape::fat_tree_2;
  plan.leaf_ports = 32;
  EXPECT_DOUBLE_EQ(bisection(cluster(8, plan)).GBs(), 4 * 8 * 50.0);
  plan.oversubscription = 3;  // 24 ports down: 3 hosts a leaf, 8 uplinks
  // Leaf 1 has two hosts of the first half and one of the second: one host's 8 cables stay
  // inside, all else passes the uplinks of leaves 0 and 1, or goes to the third leaf.
  const Fabric thin = cluster(6, plan);
  EXPECT_DOUBLE_EQ(cut(thin, range(0, 24), range(24, 48)).GBs(), 8 * 50.0);
  EXPECT_DOUBLE_EQ(cut(thin, range(0, 8), range(8, 16)).GBs(), 8 * 50.0);

  plan.efficiency = 0.5;
  EXPECT_DOUBLE_EQ(bisection(cluster(6, plan), false).GBs(), 4 * 50.0);
}

TEST(Cut, EmptyAndOverlappingSides) {
  const Fabric fabric = *Fabric::single(testing::hgx_h100().make());
  EXPECT_TRUE(cut(fabric, {}, range(0, 8)).is_zero());
  EXPECT_EQ(cut(fabric, range(0, 2), range(1, 3)), Rate::unlimited());
}

TEST(Cut, MergingEqualPartsChangesNothing) {
  // The same cluster, all equal and with every host's template a copy of its own.
  NetworkPlan plan;
  plan.shape = NetworkPlan::Shape::dragonfly_plus;
  plan.leaf_ports = 16;
  plan.hosts_per_group = 4;
  plan.groups_joined = 3;
  const Fabric merged = cluster(16, plan);
  std::vector<std::shared_ptr<const Unit>> templates;
  for (int i = 0; i < 16; ++i) templates.push_back(testing::hgx_h100().make());
  std::vector<std::uint32_t> each(16);
  std::iota(each.begin(), each.end(), 0u);
  const Fabric apart = *Fabric::make("apart", templates, each, plan);
  for (GpuId split : {8u, 20u, 64u, 100u}) {
    const Rate expected = cut(apart, range(0, split), range(split, 128));
    EXPECT_EQ(cut(merged, range(0, split), range(split, 128)), expected) << split;
    EXPECT_EQ(cut(merged, range(split, 128), range(0, split)), expected) << split;
  }
}

}  // namespace
}  // namespace isleway
