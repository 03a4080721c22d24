#include "unit/fabric/build_unit.hpp"

namespace isleway {
namespace {

using testing::UnitBuilder;

TEST(Unit, OrdersDevicesByHostThenIndex) {
  UnitBuilder b("two-hosts", 2);
  b.add(DeviceKind::gpu, 1, 1);
  b.add(DeviceKind::gpu, 0, 1);
  b.add(DeviceKind::gpu, 0, 0);
  const auto unit = b.make();
  EXPECT_EQ(std::vector<DeviceIndex>(unit->gpus().begin(), unit->gpus().end()),
            (std::vector<DeviceIndex>{2, 1, 0}));
  EXPECT_EQ(unit->position(0), 2u);
  EXPECT_EQ(unit->find("GPU0", 1), DeviceIndex{1});
  EXPECT_EQ(unit->find("GPU7"), std::nullopt);
}

TEST(Unit, IslandsJoinWhatNvlinkJoins) {
  EXPECT_EQ(testing::hgx_h100().make()->island_count(), 1);
  EXPECT_EQ(testing::dgx2().make()->island_count(), 1);
  EXPECT_EQ(testing::dgx1_v100().make()->island_count(), 1);

  UnitBuilder pairs("bridged-pairs");
  for (int i = 0; i < 5; ++i) pairs.add(DeviceKind::gpu, i);
  pairs.join(LinkKind::nvlink, 0, 1, 4);
  pairs.join(LinkKind::nvlink, 2, 3, 4);
  const auto unit = pairs.make();
  EXPECT_EQ(unit->island_count(), 3);
  EXPECT_EQ(unit->island_of(0), unit->island_of(1));
  EXPECT_NE(unit->island_of(1), unit->island_of(2));
  EXPECT_EQ(unit->island_of(4), 2);
}

TEST(Unit, MulticastNeedsItInEverySwitchAndMode) {
  auto b = testing::hgx_h100();
  EXPECT_TRUE(b.make()->has_multicast(0));
  EXPECT_FALSE(b.make()->has_multicast(-1));
  b.parts.modes.multicast_off = true;
  EXPECT_FALSE(b.make()->has_multicast(0));
  EXPECT_FALSE(testing::dgx2().make()->has_multicast(0));
}

std::string error_of(const UnitBuilder& b) {
  auto unit = Unit::make(b.parts);
  return unit ? "" : unit.error().what;
}

TEST(Unit, RefusesPartsThatContradictThemselves) {
  auto b = testing::hgx_h100();
  b.parts.devices[1].name = "GPU0";
  EXPECT_EQ(error_of(b), "hgx-h100: two devices of host 0 are named GPU0");

  b = testing::hgx_h100();
  b.parts.devices[1].index = 0;
  EXPECT_EQ(error_of(b), "hgx-h100: GPU0 and GPU1 of host 0 are of one kind and both have index 0");

  b = testing::hgx_h100();
  b.parts.links[0].b = 5000;
  EXPECT_EQ(error_of(b), "hgx-h100: link 0 joins devices 8 and 5000");

  b = testing::hgx_h100();
  b.parts.devices[0].info = NicInfo{};
  EXPECT_EQ(error_of(b), "hgx-h100: GPU0 carries the properties of another kind of device");

  b = testing::hgx_h100();
  b.join(LinkKind::pcie, 8, 0);
  EXPECT_EQ(error_of(b), "hgx-h100: GPU0 hangs on both PCIe0 and CPU0");

  b = testing::hgx_h100();
  b.parts.links.back().count = 7;
  EXPECT_EQ(error_of(b),
            "hgx-h100: NVLink link GPU7-NVSwitch3 has 7 of 5 links up with 2 of 2 lanes");

  b = UnitBuilder("circle");
  for (int i = 0; i < 3; ++i) b.add(DeviceKind::pcie_switch, i);
  for (int i = 0; i < 3; ++i)
    b.join(LinkKind::pcie, static_cast<DeviceIndex>(i), static_cast<DeviceIndex>((i + 1) % 3));
  EXPECT_NE(error_of(b).find("go round in a circle"), std::string::npos);

  b = UnitBuilder("nic-nvlink");
  b.add(DeviceKind::nic, 0);
  b.add(DeviceKind::gpu, 0);
  b.join(LinkKind::nvlink, 0, 1);
  EXPECT_NE(error_of(b).find("cannot join"), std::string::npos);
}

}  // namespace
}  // namespace isleway
