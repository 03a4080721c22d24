#include "isleway/fabric/join.hpp"

#include <gtest/gtest.h>

#include "isleway/fabric/catalogue.hpp"

namespace isleway {
namespace {

Fabric machine(std::string_view expression) {
  static const Catalogue catalogue = *Catalogue::open(ISLEWAY_SOURCE_DIR "/machines");
  return *catalogue.fabric(expression);
}

TEST(Join, TraysBecomeTheRackThatTheCatalogueHas) {
  const Fabric joined = *with_joined_hosts(machine("gb200-tray*36"), 18);
  const Fabric racks = machine("gb200-nvl72*2");
  EXPECT_EQ(joined.unit_count(), 2U);
  EXPECT_EQ(joined.templates().size(), 1U);
  EXPECT_EQ(joined.gpu_count(), racks.gpu_count());
  EXPECT_EQ(joined.host_count(), racks.host_count());
  EXPECT_EQ(joined.island_count(), racks.island_count());
  EXPECT_EQ(joined.unit(0).nvswitches().size(), racks.unit(0).nvswitches().size());
  EXPECT_EQ(joined.unit(0).links().size(), racks.unit(0).links().size());
}

TEST(Join, RefusesWhatHasNothingToShare) {
  EXPECT_FALSE(with_joined_hosts(machine("l40s-8*2"), 2));
  EXPECT_FALSE(with_joined_hosts(machine("gb200-nvl72*2"), 2));
  EXPECT_FALSE(with_joined_hosts(machine("gb200-tray*3"), 2));
  EXPECT_TRUE(with_joined_hosts(machine("l40s-8*2"), 1));
}

TEST(FirstRanks, CutAcrossMachines) {
  const Fabric whole = machine("dgx-h100*4");
  for (const int n : {1, 7, 8, 9, 31, 32}) {
    const Fabric part = *with_first_ranks(whole, n);
    EXPECT_EQ(part.gpu_count(), static_cast<std::uint32_t>(n));
    EXPECT_EQ(part.unit_count(), whole.unit_count());
    EXPECT_EQ(part.device_name(part.gpu(static_cast<GpuId>(n - 1))),
              whole.device_name(whole.gpu(static_cast<GpuId>(n - 1))));
  }
  EXPECT_FALSE(with_first_ranks(whole, 0));
  EXPECT_FALSE(with_first_ranks(whole, 33));
}

}  // namespace
}  // namespace isleway
