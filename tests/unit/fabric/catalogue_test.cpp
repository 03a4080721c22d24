#include "isleway/fabric/catalogue.hpp"

#include <gtest/gtest.h>

#include "isleway/core/file.hpp"

namespace isleway {
namespace {

const Catalogue& catalogue() {
  static const Catalogue all = [] {
    auto opened = Catalogue::open(ISLEWAY_SOURCE_DIR "/machines");
    if (!opened) ADD_FAILURE() << opened.error().text();
    return opened ? std::move(*opened) : Catalogue();
  }();
  return all;
}

/// NVLinks at a GPU, up to `to` or to anything.
int links_at(const Unit& unit, DeviceIndex gpu) {
  int count = 0;
  for (const std::uint32_t i : unit.links_at(gpu))
    if (unit.link(i).kind == LinkKind::nvlink) count += unit.link(i).count;
  return count;
}

TEST(Catalogue, EveryMachineLoads) {
  ASSERT_GE(catalogue().machines().size(), 5u);
  for (const CatalogueEntry& entry : catalogue().machines()) {
    const auto unit = catalogue().unit(entry.name);
    EXPECT_TRUE(unit) << (unit ? "" : unit.error().text());
  }
}

TEST(Catalogue, TheIndexAgreesWithTheFiles) {
  for (const CatalogueEntry& entry : catalogue().machines()) {
    const auto unit = catalogue().unit(entry.name);
    ASSERT_TRUE(unit) << entry.name;
    EXPECT_EQ((*unit)->name(), entry.name);
    EXPECT_EQ((*unit)->parts().title, entry.title);
    EXPECT_EQ((*unit)->parts().announced, entry.status == "announced") << entry.name;
    EXPECT_EQ(entry.file.stem().string(), entry.name);
  }
}

TEST(Catalogue, DgxH100AsItsTopologyMatrixShowsIt) {
  const auto unit = *catalogue().unit("dgx-h100");
  ASSERT_EQ(unit->gpus().size(), 8u);
  EXPECT_EQ(links_at(*unit, unit->gpus()[0]), 18);
  EXPECT_EQ(nvlinks_between(*unit, unit->gpus()[0], unit->gpus()[7]), 18);
  EXPECT_EQ(path_kind(*unit, unit->gpus()[0], unit->nics()[0]), PathKind::pix);
}

}  // namespace
}  // namespace isleway
