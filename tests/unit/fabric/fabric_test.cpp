#include "unit/fabric/build_unit.hpp"

namespace isleway {
namespace {

Fabric two_and_one() {
  auto fabric =
      Fabric::make("mixed", {testing::hgx_h100().make(), testing::dgx1_v100().make()}, {0, 1, 0});
  EXPECT_TRUE(fabric.has_value());
  return *fabric;
}

TEST(Fabric, NumbersGpusByUnit) {
  const Fabric fabric = two_and_one();
  EXPECT_EQ(fabric.gpu_count(), 24u);
  EXPECT_EQ(fabric.host_count(), 3u);
  EXPECT_EQ(fabric.island_count(), 3u);
  for (GpuId id = 0; id < fabric.gpu_count(); ++id) {
    EXPECT_EQ(fabric.gpu_id(fabric.gpu(id)), id);
    EXPECT_EQ(fabric.host_of(fabric.gpu(id)), id / 8);
    EXPECT_EQ(fabric.island_of(id), id / 8);
  }
}

TEST(Fabric, NamesOfDevicesAndLinks) {
  const Fabric one = *Fabric::single(testing::hgx_h100().make());
  EXPECT_EQ(one.name(), "hgx-h100");
  EXPECT_EQ(one.device_name(one.gpu(3)), "GPU3");
  EXPECT_EQ(one.link_name(one.link_count() - 1), "mlx5_7-network");

  const Fabric fabric = two_and_one();
  EXPECT_EQ(fabric.device_name(fabric.gpu(17)), "node2/GPU1");
  EXPECT_EQ(fabric.link_name(fabric.link_id(1, 0)), "node1/CPU0-CPU1");
  EXPECT_EQ(fabric.link_count(), fabric.first_trunk());
  EXPECT_EQ(fabric.link_name(fabric.first_cable() + 8), "node1/mlx5_0-network");
  EXPECT_EQ(fabric.link(fabric.first_cable()).kind, LinkKind::network);
  EXPECT_EQ(&fabric.link(fabric.link_id(2, 5)), &fabric.unit(0).link(5));
}

TEST(Fabric, RoutesBetweenUnitsByTheNearestNics) {
  const Fabric fabric = two_and_one();
  const Route there = route(fabric, fabric.gpu(0), fabric.gpu(17));
  EXPECT_EQ(there.kind, PathKind::net);
  std::vector<std::string> names;
  for (const Hop& hop : there.hops) names.push_back(fabric.link_name(hop.link));
  EXPECT_EQ(names, (std::vector<std::string>{"node0/PCIe0-GPU0", "node0/PCIe0-mlx5_0",
                                             "node0/mlx5_0-network", "node2/mlx5_1-network",
                                             "node2/PCIe1-mlx5_1", "node2/PCIe1-GPU1"}));
  EXPECT_EQ(route(fabric, fabric.gpu(16), fabric.gpu(17)).kind, PathKind::nvl);
  EXPECT_EQ(route(fabric, fabric.gpu(0), fabric.gpu(0)).kind, PathKind::loc);
}

TEST(Fabric, HostsOfOneUnitWithoutNvlinkUseTheirNics) {
  testing::UnitBuilder b("two-hosts", 2);
  for (int host = 0; host < 2; ++host) {
    const auto cpu = b.add(DeviceKind::cpu, 0, host);
    b.join(LinkKind::pcie, cpu, b.add(DeviceKind::gpu, 0, host));
    b.join(LinkKind::pcie, cpu, b.add(DeviceKind::nic, 0, host));
  }
  const Fabric fabric = *Fabric::single(b.make());
  EXPECT_EQ(fabric.device_name(fabric.gpu(1)), "node1/GPU0");
  EXPECT_EQ(route(fabric, fabric.gpu(0), fabric.gpu(1)).kind, PathKind::net);
  EXPECT_EQ(route(fabric, fabric.gpu(0), fabric.gpu(1)).hops.size(), 6u);
}

TEST(Fabric, RefusesNonsense) {
  EXPECT_FALSE(Fabric::make("empty", {}, {}).has_value());
  EXPECT_FALSE(Fabric::make("beyond", {testing::dgx2().make()}, {1}).has_value());
}

}  // namespace
}  // namespace isleway
