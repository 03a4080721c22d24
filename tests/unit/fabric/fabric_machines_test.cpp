// Every machine and network that comes with the program.
#include <gtest/gtest.h>

#include "unit/fabric/check_route.hpp"

namespace isleway {
namespace {

const Catalogue& catalogue() {
  static const Catalogue opened =
      Catalogue::open(std::filesystem::path(ISLEWAY_SOURCE_DIR) / "machines").value();
  return opened;
}

Fabric fabric_of(const std::string& expression, const std::string& network = "") {
  auto fabric = catalogue().fabric(expression, network);
  if (!fabric) throw std::logic_error(expression + ": " + fabric.error().text());
  return *std::move(fabric);
}

TEST(Machines, EveryGpuReachesEveryOther) {
  for (const CatalogueEntry& entry : catalogue().machines()) {
    SCOPED_TRACE(entry.name);
    const Fabric fabric = fabric_of(entry.name);
    const auto ends = testing::ends_of_links(fabric);
    const DeviceRef from = fabric.gpu(0);
    for (GpuId b = 0; b < fabric.gpu_count(); ++b) {
      const DeviceRef to = fabric.gpu(b);
      const Route there = route(fabric, from, to);
      ASSERT_TRUE(there.exists());
      EXPECT_EQ(testing::flaw(fabric, ends, there, from, to), "");
      EXPECT_EQ(route(fabric, to, from).kind, there.kind);
      EXPECT_NE(path_kind(fabric.unit(0), from.device, to.device, true), PathKind::nvl);
    }
  }
}

TEST(Machines, EveryNetworkJoinsAFewAndManyHosts) {
  for (const std::string& network : catalogue().network_names()) {
    SCOPED_TRACE(network);
    for (const char* machine :
         {"dgx-h100", "dgx-h100*2", "dgx-h100*32", "gb200-nvl72*4", "dgx-a100*3+dgx-h100*2"}) {
      SCOPED_TRACE(machine);
      const Fabric fabric = fabric_of(machine, network);
      const auto ends = testing::ends_of_links(fabric);
      const DeviceRef from = fabric.gpu(0), to = fabric.gpu(fabric.gpu_count() - 1);
      const Route there = route(fabric, from, to);
      ASSERT_TRUE(there.exists());
      EXPECT_EQ(testing::flaw(fabric, ends, there, from, to), "");
    }
  }
}

TEST(Machines, BisectionIsWhatVendorsSay) {
  const auto nvlink_only = [](const std::string& name, int gpus_per_half) {
    // Per GPU, without what PCIe adds.
    const Fabric fabric = fabric_of(name);
    return bisection(fabric).GBs() / gpus_per_half;
  };
  // GB/s each way: 300 for the A100, 450 for the H100, 900 for the B200; PCIe adds less than a
  // third to each.
  for (const auto& [name, half, rate] :
       {std::tuple("dgx-a100", 4, 300.0), std::tuple("dgx-h100", 4, 450.0),
        std::tuple("dgx-b200", 4, 900.0), std::tuple("gb200-nvl72", 36, 900.0)}) {
    EXPECT_GE(nvlink_only(name, half), rate) << name;
    EXPECT_LT(nvlink_only(name, half), rate * 4 / 3) << name;
  }
  // Rail-optimised NDR without oversubscription: 8 x 50 GB/s for each host of a half.
  EXPECT_DOUBLE_EQ(bisection(fabric_of("dgx-h100*16", "ndr400-rail")).GBs(), 8 * 8 * 50.0);
}

TEST(Machines, CubeMeshHasNvbWhereNoLinkIs) {
  const Fabric fabric = fabric_of("dgx-1-v100");
  const Unit& unit = fabric.unit(0);
  for (DeviceIndex a : unit.gpus()) {
    int links = 0, near = 0;
    for (DeviceIndex b : unit.gpus()) {
      const int between = a == b ? 0 : nvlinks_between(unit, a, b);
      const PathKind expected = a == b        ? PathKind::loc
                                : between > 0 ? PathKind::nvl
                                              : PathKind::nvb;
      EXPECT_EQ(path_kind(unit, a, b), expected);
      links += between;
      near += between > 0;
    }
    EXPECT_EQ(links, 6);
    EXPECT_EQ(near, 4);
  }
}

}  // namespace
}  // namespace isleway
