// What happens to matrices on the way to us: one test a kind of damage seen in the field.
#include <gtest/gtest.h>

#include "unit/formats/topo_fixtures.hpp"

namespace isleway::formats {
namespace {

PathKind between(const Unit& unit, std::string_view a, std::string_view b) {
  return path_kind(unit, unit.find(a).value(), unit.find(b).value(), true);
}

TEST(TopoDamage, CatalogueMachinesComeBackByteForByte) {
  for (const CatalogueEntry& entry : catalogue().machines()) {
    const auto unit = catalogue().unit(entry.name);
    ASSERT_TRUE(unit) << unit.error().text();
    if ((*unit)->device((*unit)->gpus()[0]).gpu().amd) continue;
    const std::string text = topo_m_of(*unit);
    EXPECT_EQ(topo_m_of(unit_of(text)), text) << entry.name;
  }
}

TEST(TopoDamage, GluedHeaderCellsAreTakenApart) {
  const auto unit = unit_of(
      "\tGPU0GPU1\tNIC10NIC11CPU Affinity\n"
      "GPU0\t X \tPHB\tPIX\tSYS\t0-7\n"
      "GPU1\tPHB\t X \tPHB\tSYS\t0-7\n"
      "NIC10\tPIX\tPHB\t X \tSYS\t\n"
      "NIC11\tSYS\tSYS\tSYS\t X \t\n");
  EXPECT_EQ(between(*unit, "GPU0", "NIC10"), PathKind::pix);
  EXPECT_EQ(between(*unit, "GPU1", "NIC11"), PathKind::sys);
}

TEST(TopoDamage, WrappedHeadersAndRowsGoOn) {
  const auto unit = unit_of(
      "     GPU0  GPU1  GPU2\n"
      "GPU3  CPU Affinity  NUMA Affinity\n"
      "GPU0  X  PIX  NODE\n"
      "NODE  0-7  0\n"
      "GPU1  PIX  X\n"
      "NODE  NODE  0-7  0\n"
      "GPU2  NODE  NODE  X  PXB  0-7  0\n"
      "GPU3  NODE  NODE  PXB  X  0-7  0\n");
  EXPECT_EQ(between(*unit, "GPU0", "GPU1"), PathKind::pix);
  EXPECT_EQ(between(*unit, "GPU1", "GPU3"), PathKind::node);
  EXPECT_EQ(unit->device(unit->cpus()[0]).cpu().affinity, "000000ff");
}

TEST(TopoDamage, WithoutHeaderTheRowsNameTheDevices) {
  const auto document = read_with(topo_m_reader,
                                  "GPU0\t X \tNODE\t0-7\t0\n"
                                  "GPU1\tNODE\t X \t0-7\t0\n");
  ASSERT_TRUE(document) << document.error().text();
  EXPECT_TRUE(has_notice(*document, "header is missing"));
  EXPECT_EQ(between(*std::get<std::shared_ptr<const Unit>>(document->content), "GPU0", "GPU1"),
            PathKind::node);
}

TEST(TopoDamage, ALostCellMovesNothingBehindTheDiagonal) {
  const auto document = read_with(topo_m_reader,
                                  "   GPU0 GPU1 GPU2 GPU3 CPU Affinity\n"
                                  "GPU0 X PIX SYS SYS 0-7\n"
                                  "GPU1 PIX X SYS SYS 0-7\n"
                                  "GPU2 SYS X PHB 8-15\n"  // one SYS is gone
                                  "GPU3 SYS SYS PHB X 8-15\n");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "GPU2: a cell before the X"));
  const auto unit = std::get<std::shared_ptr<const Unit>>(document->content);
  EXPECT_EQ(between(*unit, "GPU2", "GPU3"), PathKind::phb);
  EXPECT_EQ(between(*unit, "GPU0", "GPU2"), PathKind::sys);
}

TEST(TopoDamage, CutRowsAreNamed) {
  const auto document = read_with(topo_m_reader,
                                  "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\n"
                                  "GPU0\t X \tNV12\tPXB\tSYS\t0-7\n"
                                  "GPU1\tNV12\t X \tPX");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "2 of 4 devices have no row: NIC0, NIC1"));
  EXPECT_TRUE(has_notice(*document, "GPU1: 2 of 4 cells"));
}

TEST(TopoDamage, AnOverwrittenNicLegendIsNoName) {
  const auto document = read_with(topo_m_reader,
                                  "\tGPU0\tNIC0\tNIC1\tNIC2\tCPU Affinity\tNUMA Affinity\n"
                                  "GPU0\t X \tPIX\tPIX\tPIX\t0-7\t0\n\n"
                                  "NIC Legend:\n\n"
                                  "  NIC0: \tNIC2\tCPU Affinity\n"
                                  "  NIC1: NIC2\n"
                                  "  NIC2: mlx5_bond_1\n");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "legend is damaged: the names of NIC0, NIC1"));
  const auto unit = std::get<std::shared_ptr<const Unit>>(document->content);
  EXPECT_TRUE(unit->find("NIC0"));
  EXPECT_TRUE(unit->find("mlx5_bond_1"));
}

TEST(TopoDamage, ManyNicsOnOneSwitchMayBeFunctions) {
  std::string header = "\tGPU0", row = "GPU0\t X ";
  for (int i = 0; i < 34; ++i) {
    header += "\tNIC" + std::to_string(i);
    row += "\tPIX";
  }
  const auto document = read_with(topo_m_reader, header + "\tCPU Affinity\n" + row + "\t0-7\n");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "34 NICs hang on one PCIe switch"));
  EXPECT_EQ(std::get<std::shared_ptr<const Unit>>(document->content)->nics().size(), 34u);
}

TEST(TopoDamage, CpuListsThatTheToolCutGiveNoCpus) {
  const auto document = read_with(topo_m_reader,
                                  "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
                                  "GPU0\t X \tSYS\t0,2,4,6,8,10\t0\t\tN/A\n"
                                  "GPU1\tSYS\t X \t1,3,5,7,9,11\t1\t\tN/A\n");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "only the start of a list"));
  const auto unit = std::get<std::shared_ptr<const Unit>>(document->content);
  EXPECT_TRUE(unit->device(unit->cpus()[0]).cpu().affinity.empty());
  EXPECT_EQ(unit->cpus().size(), 2u);
}

TEST(TopoDamage, SysInsideOneNumaNodeIsNearerThanAcross) {
  const auto document = read_with(topo_m_reader,
                                  "\tGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\n"
                                  "GPU0\t X \tSYS\tSYS\tSYS\t0-7\t0\n"
                                  "GPU1\tSYS\t X \tSYS\tSYS\t0-7\t0\n"
                                  "GPU2\tSYS\tSYS\t X \tSYS\t8-15\t1\n"
                                  "NIC0\tSYS\tSYS\tSYS\t X \t\t\n");
  ASSERT_TRUE(document);
  const auto unit = std::get<std::shared_ptr<const Unit>>(document->content);
  EXPECT_EQ(between(*unit, "GPU0", "GPU1"), PathKind::node);
  EXPECT_EQ(between(*unit, "GPU0", "GPU2"), PathKind::sys);
  EXPECT_EQ(between(*unit, "GPU2", "NIC0"), PathKind::sys);
}

TEST(TopoDamage, ABridgeShortOfLinksIsDown) {
  const auto document = read_with(topo_m_reader,
                                  "GPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
                                  "GPU0\t X \tNV3\t0-7\tN/A\n"
                                  "GPU1\tNV3\t X \t0-7\tN/A\n");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "1 of its links down"));
}

TEST(TopoDamage, ASecondMatrixIsLeftOut) {
  const auto document =
      read_with(topo_m_reader, std::string(kSwitchedServer) + std::string(kSwitchedServer));
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "a second matrix"));
  EXPECT_EQ(topo_m_of(std::get<std::shared_ptr<const Unit>>(document->content)), kSwitchedServer);
}

}  // namespace
}  // namespace isleway::formats
