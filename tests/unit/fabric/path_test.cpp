#include "unit/fabric/build_unit.hpp"

namespace isleway {
namespace {

using testing::UnitBuilder;

TEST(Path, NvlinkCountsAsTopoPrintsThem) {
  const auto h100 = testing::hgx_h100().make();
  EXPECT_EQ(nvlinks_between(*h100, 0, 7), 18);
  EXPECT_EQ(path_kind(*h100, 0, 7), PathKind::nvl);

  const auto volta = testing::dgx1_v100().make();
  EXPECT_EQ(nvlinks_between(*volta, 0, 3), 2);
  EXPECT_EQ(nvlinks_between(*volta, 0, 1), 1);
  EXPECT_EQ(nvlinks_between(*volta, 0, 5), 0);

  const auto sixteen = testing::dgx2().make();
  EXPECT_EQ(nvlinks_between(*sixteen, 0, 1), 6);
  EXPECT_EQ(nvlinks_between(*sixteen, 0, 15), 6);
}

TEST(Path, CubeMeshGoesThroughOneGpuOrTheHost) {
  const auto unit = testing::dgx1_v100().make();
  EXPECT_EQ(path_kind(*unit, 0, 5), PathKind::nvb);
  EXPECT_EQ(path_kind(*unit, 0, 5, true), PathKind::sys);
  EXPECT_EQ(path_kind(*unit, 0, 1, true), PathKind::pix);
  EXPECT_EQ(path_kind(*unit, 0, 2, true), PathKind::phb);
  EXPECT_EQ(path_kind(*unit, 3, 3), PathKind::loc);
}

TEST(Path, HostBridges) {
  UnitBuilder b("bridges");
  const auto cpu = b.add(DeviceKind::cpu, 0);
  DeviceIndex gpu[4];
  for (int i = 0; i < 4; ++i) gpu[i] = b.add(DeviceKind::gpu, i);
  b.join(LinkKind::pcie, cpu, gpu[0]).host_bridge = 1;
  b.join(LinkKind::pcie, cpu, gpu[1]).host_bridge = 1;
  b.join(LinkKind::pcie, cpu, gpu[2]);
  b.join(LinkKind::pcie, cpu, gpu[3]);
  const auto unit = b.make();
  EXPECT_EQ(path_kind(*unit, gpu[0], gpu[1]), PathKind::phb);
  EXPECT_EQ(path_kind(*unit, gpu[0], gpu[2]), PathKind::node);
  EXPECT_EQ(path_kind(*unit, gpu[2], gpu[3]), PathKind::node);
  EXPECT_EQ(path_kind(*unit, gpu[0], cpu), PathKind::phb);
}

TEST(Path, SwitchesBelowTheHostBridge) {
  UnitBuilder b("switches");
  const auto cpu = b.add(DeviceKind::cpu, 0);
  const auto top = b.add(DeviceKind::pcie_switch, 0);
  const auto left = b.add(DeviceKind::pcie_switch, 1);
  const auto right = b.add(DeviceKind::pcie_switch, 2);
  DeviceIndex gpu[3];
  for (int i = 0; i < 3; ++i) gpu[i] = b.add(DeviceKind::gpu, i);
  b.join(LinkKind::pcie, cpu, top);
  b.join(LinkKind::pcie, top, left);
  b.join(LinkKind::pcie, top, right);
  b.join(LinkKind::pcie, left, gpu[0]);
  b.join(LinkKind::pcie, left, gpu[1]);
  b.join(LinkKind::pcie, right, gpu[2]);
  EXPECT_EQ(path_kind(*b.make(), gpu[0], gpu[1]), PathKind::pix);
  EXPECT_EQ(path_kind(*b.make(), gpu[0], gpu[2]), PathKind::pxb);
  std::get<PcieSwitchInfo>(b.parts.devices[left].info).stands_for_several = true;
  EXPECT_EQ(path_kind(*b.make(), gpu[0], gpu[1]), PathKind::pxb);

  // A dead link cuts off what hangs on it.
  b.parts.links[1].lanes = 0;
  EXPECT_EQ(path_kind(*b.make(), gpu[0], gpu[2]), PathKind::dis);
  EXPECT_EQ(path_kind(*b.make(), gpu[0], gpu[1]), PathKind::pxb);
}

TEST(Path, GraceReachesNicsOverC2c) {
  const auto unit = testing::grace_tray().make();
  const DeviceIndex near_nic = unit->nics()[0], far_nic = unit->nics()[1];
  EXPECT_EQ(path_kind(*unit, 0, near_nic), PathKind::p2c);
  EXPECT_EQ(path_kind(*unit, near_nic, 0), PathKind::p2c);
  EXPECT_EQ(path_kind(*unit, 0, far_nic), PathKind::sys);
  EXPECT_EQ(path_kind(*unit, 0, unit->cpus()[0]), PathKind::c2c);
  EXPECT_EQ(path_kind(*unit, 0, 1), PathKind::nvl);
  // nvidia-smi sees the GPU's memory as a NUMA node.
  EXPECT_EQ(path_kind(*unit, 0, near_nic, true), PathKind::sys);
  EXPECT_EQ(nearest_nic(*unit, 3), far_nic);
}

TEST(Path, NearestNicsAreHandedOutInTurn) {
  const auto own = testing::hgx_h100().make();
  for (DeviceIndex gpu = 0; gpu < 8; ++gpu) EXPECT_EQ(nearest_nic(*own, gpu), own->nics()[gpu]);

  UnitBuilder b("four-on-four");
  const auto cpu = b.add(DeviceKind::cpu, 0);
  const auto pcie = b.add(DeviceKind::pcie_switch, 0);
  b.join(LinkKind::pcie, cpu, pcie);
  for (int i = 0; i < 4; ++i) b.join(LinkKind::pcie, pcie, b.add(DeviceKind::gpu, i));
  EXPECT_EQ(nearest_nic(*b.make(), b.make()->gpus()[0]), std::nullopt);
  for (int i = 0; i < 4; ++i) b.join(LinkKind::pcie, pcie, b.add(DeviceKind::nic, i));
  const auto shared = b.make();
  const int expected[] = {0, 2, 1, 3};  // NCCL mirrors the bits of the GPU's number
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(nearest_nic(*shared, shared->gpus()[i]), shared->nics()[expected[i]]);
}

TEST(Path, PeerAccess) {
  auto b = testing::hgx_h100();
  EXPECT_TRUE(peer_access(*b.make(), 0, 1));
  std::get<GpuInfo>(b.parts.devices[1].info).mig = true;
  EXPECT_FALSE(peer_access(*b.make(), 0, 1));
  EXPECT_EQ(nvlinks_between(*b.make(), 0, 1), 0);
  EXPECT_EQ(b.make()->island_count(), 2);

  b = testing::dgx1_v100();
  EXPECT_TRUE(peer_access(*b.make(), 0, 5));
  EXPECT_FALSE(peer_access(*b.make(), 0, 5, PathKind::phb));
  for (Device& device : b.parts.devices)
    if (auto* gpu = std::get_if<GpuInfo>(&device.info)) gpu->pcie_p2p = false;
  EXPECT_FALSE(peer_access(*b.make(), 0, 5));
  EXPECT_TRUE(peer_access(*b.make(), 0, 3));
  b.parts.modes.confidential = Confidential::hopper_cc;
  EXPECT_FALSE(peer_access(*b.make(), 0, 3));
  EXPECT_FALSE(peer_access(*b.make(), 0, b.make()->cpus()[0]));
}

}  // namespace
}  // namespace isleway
