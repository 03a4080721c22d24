#include "unit/fabric/build_unit.hpp"

namespace isleway {
namespace {

Fabric cluster(int nodes) {
  NetworkPlan plan;
  plan.shape = NetworkPlan::Shape::rail;
  plan.leaf_ports = 8;  // groups of 4 hosts
  auto fabric = Fabric::make("cluster", {testing::hgx_h100().make()},
                             std::vector<std::uint32_t>(static_cast<std::size_t>(nodes)), plan);
  if (!fabric) throw std::logic_error(fabric.error().text());
  return *fabric;
}

Fabric apply(const Fabric& fabric, std::string_view fault) {
  auto changed = with_fault(fabric, fault);
  if (!changed) throw std::logic_error(changed.error().text());
  return *changed;
}

std::string error_of(const Fabric& fabric, std::string_view fault) {
  auto changed = with_fault(fabric, fault);
  return changed ? "" : changed.error().text();
}

TEST(FindDevice, TakesNamesKindsAndPlaces) {
  const Fabric fabric = cluster(6);
  EXPECT_EQ(*find_device(fabric, "gpu3"), (DeviceRef{0, 3}));
  EXPECT_EQ(*find_device(fabric, "node5/GPU7"), (DeviceRef{5, 7}));
  EXPECT_EQ(fabric.device_name(*find_device(fabric, "NIC4")), "node0/mlx5_4");
  EXPECT_EQ(fabric.device_name(*find_device(fabric, "node1/MLX5_4")), "node1/mlx5_4");
  EXPECT_EQ(find_device(fabric, "gpu8").error().text(),
            "there is no device \"gpu8\"\n"
            "  expected: CPU0 to CPU1, GPU0 to GPU7, NVSwitch0 to NVSwitch3, PCIe0 to PCIe7, "
            "mlx5_0 to mlx5_7\n"
            "  try: GPU0");
  EXPECT_EQ(find_device(fabric, "node6/gpu0").error().text(),
            "there is no \"node6\"\n  expected: node0 to node5");
  for (const char* bad : {"", "/", "node", "node/", "rack9/gpu0", "x/gpu0", "node-1/gpu0"})
    EXPECT_FALSE(find_device(fabric, bad).has_value()) << bad;
}

TEST(FindDevice, FindsSwitchesThatNoHostSees) {
  const Fabric racks = *Fabric::make("racks", {testing::grace_tray().make()}, {0, 0});
  const DeviceRef found = *find_device(racks, "rack1/nvswitch0");
  EXPECT_EQ(racks.device_name(found), "rack1/NVSwitch0");
  EXPECT_EQ(*find_device(racks, racks.device_name(found)), found);
}

TEST(Fault, OneNvlinkDown) {
  const Fabric before = cluster(2);
  const Fabric after = apply(before, "node1/gpu3:nvlink5");  // port 5 is the first to NVSwitch1
  EXPECT_EQ(nvlinks_between(after.unit(1), 3, 0), 17);
  EXPECT_EQ(nvlinks_between(after.unit(1), 1, 0), 18);
  EXPECT_EQ(nvlinks_between(after.unit(0), 3, 0), 18);
  EXPECT_EQ(nvlinks_between(before.unit(1), 3, 0), 18);
  EXPECT_EQ(after.templates().size(), 2u);
  const Fabric again = apply(after, "node1/gpu3:nvlink5");
  EXPECT_EQ(nvlinks_between(again.unit(1), 3, 0), 16);
  EXPECT_EQ(again.templates().size(), 2u);
  Fabric worn = before;
  for (int i = 0; i < 4; ++i) worn = apply(worn, "gpu3:nvlink5");
  EXPECT_EQ(error_of(worn, "gpu3:nvlink5"), "the links at nvlink5 to NVSwitch1 are down already");
  EXPECT_EQ(error_of(before, "gpu3:nvlink18"),
            "node0/GPU3 has no nvlink18\n  expected: nvlink0 to nvlink17");
  EXPECT_NE(error_of(before, "nic0:nvlink0").find("it has no NVLinks"), std::string::npos);
}

TEST(Fault, OneNvlinkAtFewerLanes) {
  const Fabric before = cluster(1);
  const Fabric after = apply(before, "gpu3:nvlink5:lanes=1");
  EXPECT_EQ(after.unit(0).links().size(), before.unit(0).links().size() + 1);
  EXPECT_EQ(nvlinks_between(after.unit(0), 3, 0), 18);
  double rate = 0;
  for (std::uint32_t link : after.unit(0).links_at(3))
    if (after.unit(0).link(link).kind == LinkKind::nvlink)
      rate += after.unit(0).link(link).rate().GBs();
  EXPECT_DOUBLE_EQ(rate, 17.5 * 25);
  EXPECT_NE(error_of(before, "gpu3:nvlink5:lanes=2").find("0 to 1"), std::string::npos);
  EXPECT_EQ(nvlinks_between(apply(before, "gpu3:nvlink5:lanes=0").unit(0), 3, 0), 17);
}

TEST(Fault, PcieLanes) {
  const Fabric after = apply(cluster(1), "gpu3:pcie:lanes=8");
  const Link& link = after.unit(0).link(*after.unit(0).pcie_uplink(3));
  EXPECT_DOUBLE_EQ(link.rate().GBs(), 31.5);
  EXPECT_TRUE(link.degraded());
  const Fabric down = apply(cluster(1), "gpu3:pcie");
  EXPECT_EQ(path_kind(down.unit(0), 3, 4, true), PathKind::dis);
  EXPECT_NE(error_of(cluster(1), "cpu0:pcie").find("no PCIe link"), std::string::npos);
}

TEST(Fault, DevicesGone) {
  const Fabric before = cluster(2);
  const Fabric no_gpu = apply(before, "node1/gpu3");
  EXPECT_EQ(no_gpu.gpu_count(), 15u);
  EXPECT_EQ(no_gpu.device_name(no_gpu.gpu(11)), "node1/GPU4");
  EXPECT_FALSE(find_device(no_gpu, "node1/gpu3").has_value());

  const Fabric no_switch = apply(before, "nvswitch1");
  EXPECT_EQ(nvlinks_between(no_switch.unit(0), 0, 1), 14);

  const Fabric no_nic = apply(before, "mlx5_0");
  EXPECT_NE(*nearest_nic(no_nic.unit(0), 0), no_nic.unit(0).nics()[0]);
  EXPECT_FALSE(no_nic.link(no_nic.first_cable()).up());
  EXPECT_EQ(route(no_nic, no_nic.gpu(0), no_nic.gpu(8)).kind, PathKind::net);

  const Fabric slow = apply(before, "node1/nic4:rate=200");
  EXPECT_EQ(slow.link(slow.first_cable() + 12).rate().gbits(), 200);
  EXPECT_EQ(error_of(before, "nic4:rate=800"),
            "rate=800 in \"nic4:rate=800\"\n  expected: Gb/s above 0 and below the 400 that the "
            "cable has");
}

TEST(Fault, HostGone) {
  const Fabric before = cluster(3);
  const Fabric after = apply(before, "node1");
  EXPECT_EQ(after.gpu_count(), 16u);
  EXPECT_EQ(after.host_count(), 3u);
  EXPECT_EQ(after.device_name(after.gpu(8)), "node2/GPU0");
  EXPECT_EQ(route(after, after.gpu(0), after.gpu(8)).kind, PathKind::net);
  EXPECT_FALSE(after.link(after.first_cable() + 8).up());
  EXPECT_EQ(error_of(before, "node3"), "there is no \"node3\"\n  expected: node0 to node2");
}

TEST(Fault, NetworkSwitches) {
  NetworkPlan plan;
  plan.shape = NetworkPlan::Shape::fat_tree_2;
  plan.leaf_ports = 16;  // a host a leaf
  const Fabric before = *Fabric::make("tree", {testing::hgx_h100().make()}, {0, 0, 0, 0}, plan);
  const auto spine = [](const Fabric& fabric) { return fabric.network().switches().back(); };
  ASSERT_EQ(spine(before).name, "spine0");
  ASSERT_EQ(spine(before).members, 2);  // 4 leaves x 8 uplinks, 16 ports each

  const Fabric thin = apply(before, "SPINE0:members=1");
  EXPECT_EQ(spine(thin).members, 1);
  EXPECT_EQ(thin.network().trunks()[0].count, 4);
  EXPECT_TRUE(thin.network().trunks()[0].degraded());
  EXPECT_EQ(route(thin, thin.gpu(0), thin.gpu(8)).kind, PathKind::net);
  EXPECT_FALSE(route(apply(thin, "spine0"), thin.gpu(0), thin.gpu(8)).exists());

  const Fabric dark = apply(before, "leaf1");
  EXPECT_FALSE(route(dark, dark.gpu(0), dark.gpu(8)).exists());
  EXPECT_TRUE(route(dark, dark.gpu(0), dark.gpu(16)).exists());
}

TEST(Fault, SaysWhatItCannotRead) {
  const Fabric fabric = cluster(2);
  for (const char* bad :
       {"", ":", "gpu3:", "gpu3:fan", "gpu3:nvlink", "gpu3:nvlink5:lanes=x", "gpu3:nvlink5:speed=1",
        "gpu3:rate=5", "leaf0.0:lanes=1", "node0:pcie", "gpu3:a:b:c", "gpu3:pcie:lanes=1.5",
        "gpu3:pcie:lanes=-1", "spine0:members=99", "gpu3:nvlink99999999999999999999"})
    EXPECT_FALSE(with_fault(fabric, bad).has_value()) << bad;
  EXPECT_NE(error_of(fabric, "leaf0.9").find("try: leaf0"), std::string::npos);
}

TEST(Subset, KeepsNamesLinksAndSwitches) {
  const Fabric before = cluster(2);
  const Fabric two = *with_first_gpus(before, 2);
  EXPECT_EQ(two.gpu_count(), 4u);
  EXPECT_EQ(two.device_name(two.gpu(3)), "node1/GPU1");
  EXPECT_EQ(nvlinks_between(two.unit(0), two.unit(0).gpus()[0], two.unit(0).gpus()[1]), 18);
  EXPECT_EQ(two.unit(0).nics().size(), 8u);
  const Fabric some = *with_gpus(before, {7, 2});
  EXPECT_EQ(some.device_name(some.gpu(0)), "node0/GPU2");
  EXPECT_EQ(some.device_name(some.gpu(1)), "node0/GPU7");
  EXPECT_EQ(before.gpu_count(), 16u);

  EXPECT_FALSE(with_first_gpus(before, 0).has_value());
  EXPECT_EQ(with_first_gpus(before, 9).error().text(),
            "9 GPUs of each host of hgx-h100\n  expected: 1 to 8");
  EXPECT_EQ(with_gpus(before, {1, 8}).error().text(),
            "hgx-h100 has no GPU 8\n  expected: 8 GPUs, 0 to 7");
  EXPECT_FALSE(with_gpus(before, {1, 1}).has_value());
  EXPECT_FALSE(with_gpus(before, {}).has_value());
}

TEST(Subset, MigPartsTheIsland) {
  const Fabric some = *with_mig(cluster(1), {2});
  EXPECT_EQ(some.island_count(), 2u);
  EXPECT_EQ(path_kind(some.unit(0), 2, 3), PathKind::node);
  EXPECT_FALSE(peer_access(some.unit(0), 2, 3));
  EXPECT_TRUE(peer_access(some.unit(0), 0, 3));
  EXPECT_EQ(with_mig(cluster(1))->island_count(), 8u);
}

TEST(Subset, Partitions) {
  const Fabric before = cluster(1);
  EXPECT_TRUE(with_partition(before, {0, 1, 2, 3, 4})->unit(0).has_multicast(0));
  const Fabric four = *with_partition(before, {0, 1, 2, 3});
  EXPECT_FALSE(four.unit(0).has_multicast(0));
  EXPECT_EQ(nvlinks_between(four.unit(0), 0, 1), 18);
  const Fabric one = *with_partition(before, {5});
  EXPECT_EQ(one.gpu_count(), 1u);
  EXPECT_FALSE(route_to_switches(one.unit(0), one.gpu(0).device, true).exists());
  EXPECT_FALSE(with_partition(*Fabric::single(testing::dgx1_v100().make()), {0}).has_value());
}

TEST(Confidential, TakesAwayWhatTheGenerationLacks) {
  auto b = testing::hgx_h100();
  for (Device& device : b.parts.devices)
    if (device.kind == DeviceKind::gpu) std::get<GpuInfo>(device.info).sm = 90;
  const Fabric hopper = *Fabric::single(b.make());
  EXPECT_EQ(with_confidential(hopper, Confidential::hopper_cc)->island_count(), 8u);
  const Fabric protected_pcie = *with_confidential(hopper, Confidential::hopper_ppcie);
  EXPECT_EQ(nvlinks_between(protected_pcie.unit(0), 0, 1), 18);
  EXPECT_TRUE(protected_pcie.unit(0).has_multicast(0));
  EXPECT_FALSE(with_confidential(hopper, Confidential::blackwell).has_value());
  EXPECT_FALSE(with_confidential(protected_pcie, Confidential::off).has_value());
  EXPECT_TRUE(with_confidential(hopper, Confidential::off).has_value());

  EXPECT_EQ(*parse_confidential("Hopper-PPCIE"), Confidential::hopper_ppcie);
  EXPECT_EQ(parse_confidential("hoper-cc").error().hint, "hopper-cc");
}

}  // namespace
}  // namespace isleway
