#include <map>

#include "unit/fabric/build_unit.hpp"

namespace isleway {
namespace {

/// "GPU0-NVSwitch1 0.278" for each hop, "<" for a hop from the link's b to its a.
std::vector<std::string> text(const Unit& unit, const Route& route) {
  std::vector<std::string> out;
  for (const Hop& hop : route.hops) {
    const Link& link = unit.link(hop.link);
    char share[16];
    std::snprintf(share, sizeof share, " %.3f", static_cast<double>(hop.share));
    out.push_back(unit.device(link.a).name + (hop.forward ? ">" : "<") + unit.device(link.b).name +
                  share);
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST(Route, SpraysOverAllPlanesByLinks) {
  const auto unit = testing::hgx_h100().make();
  const Route route = route_in_unit(*unit, 0, 1);
  EXPECT_EQ(route.latency, Time::ns(200));
  EXPECT_EQ(text(*unit, route),
            (Lines{"GPU0>NVSwitch0 0.278", "GPU0>NVSwitch1 0.222", "GPU0>NVSwitch2 0.222",
                   "GPU0>NVSwitch3 0.278", "GPU1<NVSwitch0 0.278", "GPU1<NVSwitch1 0.222",
                   "GPU1<NVSwitch2 0.222", "GPU1<NVSwitch3 0.278"}));
}

TEST(Route, FailedLinksChangeShares) {
  auto b = testing::hgx_h100();
  for (Link& link : b.parts.links)
    if (link.kind == LinkKind::nvlink && link.a == 0) {
      const std::string& name = b.parts.devices[link.b].name;
      if (name == "NVSwitch0") link.count = 0;
      if (name == "NVSwitch3") link.count = 2;
    }
  const auto unit = b.make();
  EXPECT_EQ(nvlinks_between(*unit, 0, 1), 10);
  EXPECT_EQ(text(*unit, route_in_unit(*unit, 1, 0)),
            (Lines{"GPU1>NVSwitch1 0.400", "GPU1>NVSwitch2 0.400", "GPU1>NVSwitch3 0.200",
                   "GPU0<NVSwitch1 0.400", "GPU0<NVSwitch2 0.400", "GPU0<NVSwitch3 0.200"}));
  EXPECT_EQ(nvlinks_between(*unit, 1, 2), 18);
}

TEST(Route, CrossesTrunksBetweenBoards) {
  auto b = testing::dgx2();
  const auto unit = b.make();
  EXPECT_EQ(route_in_unit(*unit, 0, 7).hops.size(), 12u);
  const Route across = route_in_unit(*unit, 0, 8);
  EXPECT_EQ(across.hops.size(), 18u);
  EXPECT_EQ(across.latency, Time::ns(300));
  EXPECT_EQ(text(*unit, across)[6], "NVSwitch0>NVSwitch6 0.167");

  // Without its trunk a plane still serves each board, but no longer both.
  for (Link& link : b.parts.links)
    if (b.parts.devices[link.a].name == "NVSwitch0") link.count = 0;
  const auto cut = b.make();
  EXPECT_EQ(nvlinks_between(*cut, 0, 8), 5);
  EXPECT_EQ(nvlinks_between(*cut, 0, 7), 6);
  EXPECT_EQ(text(*cut, route_in_unit(*cut, 8, 0))[0], "GPU8>NVSwitch7 0.200");
}

TEST(Route, ThroughTheGpuWithTheWidestLinks) {
  const auto unit = testing::dgx1_v100().make();
  const Route route = route_in_unit(*unit, 0, 5);
  EXPECT_EQ(route.kind, PathKind::nvb);
  EXPECT_EQ(text(*unit, route), (Lines{"GPU0>GPU6 1.000", "GPU5<GPU6 1.000"}));
  EXPECT_EQ(text(*unit, route_in_unit(*unit, 0, 5, true)),
            (Lines{"PCIe0<GPU0 1.000", "CPU0<PCIe0 1.000", "CPU0>CPU1 1.000", "CPU1>PCIe2 1.000",
                   "PCIe2>GPU5 1.000"}));
}

TEST(Route, UnequalBundlesBetweenTheSameEnds) {
  testing::UnitBuilder b("split");
  for (int i = 0; i < 2; ++i) b.add(DeviceKind::gpu, i);
  b.join(LinkKind::nvlink, 0, 1, 3);
  b.join(LinkKind::nvlink, 1, 0, 1).lanes = 1;
  const auto unit = b.make();
  EXPECT_EQ(nvlinks_between(*unit, 0, 1), 4);
  EXPECT_EQ(text(*unit, route_in_unit(*unit, 0, 1)), (Lines{"GPU0>GPU1 0.750", "GPU1<GPU0 0.250"}));
}

TEST(Route, ToSwitchesAndBack) {
  const auto unit = testing::hgx_h100().make();
  const Route up = route_to_switches(*unit, 2, true);
  EXPECT_EQ(text(*unit, up), (Lines{"GPU2>NVSwitch0 0.278", "GPU2>NVSwitch1 0.222",
                                    "GPU2>NVSwitch2 0.222", "GPU2>NVSwitch3 0.278"}));
  for (const Hop& hop : route_to_switches(*unit, 2, false).hops) EXPECT_FALSE(hop.forward);
  EXPECT_FALSE(route_to_switches(*testing::dgx1_v100().make(), 0, true).exists());
}

}  // namespace
}  // namespace isleway
