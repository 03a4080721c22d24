#include <gtest/gtest.h>

#include "unit/formats/topo_fixtures.hpp"

namespace isleway::formats {
namespace {

TEST(TopoM, WritesWhatItReadByteForByte) {
  EXPECT_EQ(topo_m_of(unit_of(kSwitchedServer)), kSwitchedServer);
}

TEST(TopoM, EqualNvlinksToAllPeersMeanSwitches) {
  const auto unit = unit_of(kSwitchedServer);
  EXPECT_EQ(unit->nvswitches().size(), 4u);  // of an HGX H100
  EXPECT_EQ(unit->island_count(), 1);
  EXPECT_EQ(nvlinks_between(*unit, unit->gpus()[0], unit->gpus()[3]), 18);
  EXPECT_EQ(unit->device(unit->gpus()[0]).part, "h100-sxm");
  EXPECT_TRUE(unit->find("mlx5_2"));
}

TEST(TopoM, TheUserMayNameTheGpu) {
  const auto unit = unit_of(kSwitchedServer, "h200");
  EXPECT_EQ(unit->device(unit->gpus()[0]).part, "h200");
  const auto wrong = read_with(topo_m_reader, kSwitchedServer, "h2000");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().hint.find("h200"), std::string::npos) << wrong.error().text();
}

TEST(TopoM, LinksThatAddUpToThePartAreAMesh) {
  const auto unit = unit_of(
      "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\n"
      "GPU0\t X \tNV4\tNV4\tNV4\t0-23\n"
      "GPU1\tNV4\t X \tNV4\tNV4\t0-23\n"
      "GPU2\tNV4\tNV4\t X \tNV4\t24-47\n"
      "GPU3\tNV4\tNV4\tNV4\t X \t24-47\n");
  EXPECT_TRUE(unit->nvswitches().empty());
  EXPECT_EQ(unit->device(unit->gpus()[0]).part, "a100-sxm4-80");
  EXPECT_EQ(nvlinks_between(*unit, unit->gpus()[1], unit->gpus()[2]), 4);
  ASSERT_EQ(unit->cpus().size(), 2u);
}

TEST(TopoM, BridgesMakeIslandsOfTwo) {
  const auto unit = unit_of(
      "        GPU0    GPU1    GPU2    GPU3    CPU Affinity    NUMA Affinity\n"
      "GPU0     X      NV12    SYS     SYS     0-15    0\n"
      "GPU1    NV12     X      SYS     SYS     0-15    0\n"
      "GPU2    SYS     SYS      X      NV12    16-31   1\n"
      "GPU3    SYS     SYS     NV12     X      16-31   1\n");
  EXPECT_TRUE(unit->nvswitches().empty());
  EXPECT_EQ(unit->island_count(), 2);
  EXPECT_EQ(unit->device(unit->gpus()[0]).part, "a100-pcie-80");
}

TEST(TopoM, ACubeMeshKeepsItsUnequalPairs) {
  const auto unit = unit_of(
      "GPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\n"
      "GPU0\t X \tNV2\tNV2\tNV1\t0-15\n"
      "GPU1\tNV2\t X \tNV1\tSYS\t0-15\n"
      "GPU2\tNV2\tNV1\t X \tNV2\t0-15\n"
      "GPU3\tNV1\tSYS\tNV2\t X \t0-15\n");
  const auto gpus = unit->gpus();
  EXPECT_TRUE(unit->nvswitches().empty());
  EXPECT_EQ(nvlinks_between(*unit, gpus[0], gpus[1]), 2);
  EXPECT_EQ(nvlinks_between(*unit, gpus[0], gpus[3]), 1);
  EXPECT_EQ(nvlinks_between(*unit, gpus[1], gpus[3]), 0);
}

TEST(TopoM, AGpuOffTheFabricStaysUnlinked) {
  const auto document = read_with(topo_m_reader,
                                  "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
                                  "GPU0\t X \tNV18\tNODE\tNV18\t0-15\t0\n"
                                  "GPU1\tNV18\t X \tNODE\tNV18\t0-15\t0\n"
                                  "GPU2\tNODE\tNODE\t X \tNODE\t0-15\t0\n"
                                  "GPU3\tNV18\tNV18\tNODE\t X \t0-15\t0\n");
  ASSERT_TRUE(document) << document.error().text();
  EXPECT_TRUE(has_notice(*document, "GPU2 has no NVLink"));
  const auto unit = std::get<std::shared_ptr<const Unit>>(document->content);
  EXPECT_EQ(unit->island_count(), 2);
  EXPECT_EQ(nvlinks_between(*unit, unit->gpus()[0], unit->gpus()[3]), 18);
}

TEST(TopoM, LostLinksBehindSwitchesAreDown) {
  const auto unit = unit_of(
      "\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tNV18\tNV16\t0-15\t0\n"
      "GPU1\tNV18\t X \tNV16\t0-15\t0\n"
      "GPU2\tNV16\tNV16\t X \t0-15\t0\n");
  EXPECT_EQ(nvlinks_between(*unit, unit->gpus()[0], unit->gpus()[1]), 18);
  EXPECT_EQ(nvlinks_between(*unit, unit->gpus()[0], unit->gpus()[2]), 16);
  int up = 0, fitted = 0;
  for (const std::uint32_t link : unit->links_at(unit->gpus()[2]))
    if (unit->link(link).kind == LinkKind::nvlink) {
      up += unit->link(link).count;
      fitted += unit->link(link).count_max;
    }
  EXPECT_EQ(up, 16);
  EXPECT_EQ(fitted, 18);
}

TEST(TopoM, AllDistancesHaveTheirPlaceInTheTree) {
  const std::string_view text =
      "\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
      "GPU0\t X \tPIX\tPXB\tPHB\tNODE\tSYS\t0-15\t0\t\tN/A\n"
      "GPU1\tPIX\t X \tPXB\tPHB\tNODE\tSYS\t0-15\t0\t\tN/A\n"
      "GPU2\tPXB\tPXB\t X \tPHB\tNODE\tSYS\t0-15\t0\t\tN/A\n"
      "GPU3\tPHB\tPHB\tPHB\t X \tNODE\tSYS\t0-15\t0\t\tN/A\n"
      "GPU4\tNODE\tNODE\tNODE\tNODE\t X \tSYS\t0-15\t0\t\tN/A\n"
      "GPU5\tSYS\tSYS\tSYS\tSYS\tSYS\t X \t16-31\t1\t\tN/A\n";
  const std::string written = topo_m_of(unit_of(text));
  EXPECT_EQ(written.substr(0, text.size()), text);
}

TEST(TopoM, OneWrongCellDoesNotOverturnItsRow) {
  const auto document = read_with(topo_m_reader,
                                  "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
                                  "GPU0\t X \tPIX\tSYS\tPIX\t0-15\t0\n"
                                  "GPU1\tPIX\t X \tSYS\tSYS\t0-15\t0\n"
                                  "GPU2\tSYS\tSYS\t X \tPIX\t16-31\t1\n"
                                  "GPU3\tSYS\tSYS\tPIX\t X \t16-31\t1\n");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "GPU0 to GPU3 says PIX"));
  const auto unit = std::get<std::shared_ptr<const Unit>>(document->content);
  EXPECT_EQ(path_kind(*unit, unit->gpus()[0], unit->gpus()[3]), PathKind::sys);
  EXPECT_EQ(path_kind(*unit, unit->gpus()[0], unit->gpus()[1]), PathKind::pix);
}

TEST(TopoM, PrintedNumbersStayWhereGpusAreHidden) {
  const auto unit = unit_of(
      "\tGPU0\tGPU3\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tNV12\t0-15\t0\n"
      "GPU3\tNV12\t X \t16-31\t1\n");
  EXPECT_TRUE(unit->find("GPU3"));
  EXPECT_EQ(unit->device(*unit->find("GPU3")).index, 3);
  EXPECT_FALSE(unit->nvswitches().empty());  // two of a larger machine
}

TEST(TopoM, NicColumnsByDeviceNameNeedNotBeInOrder) {
  const auto unit = unit_of(
      " \tGPU0\tGPU1\tmlx5_1\tmlx5_0\tCPU Affinity\n"
      "GPU0\t X \tSYS\tSYS\tPIX\t0-7\n"
      "GPU1\tSYS\t X \tPIX\tSYS\t8-15\n"
      "mlx5_1\tSYS\tPIX\t X \tSYS\t\n"
      "mlx5_0\tPIX\tSYS\tSYS\t X \t\n");
  EXPECT_EQ(path_kind(*unit, *unit->find("GPU0"), *unit->find("mlx5_0")), PathKind::pix);
  EXPECT_EQ(path_kind(*unit, *unit->find("GPU1"), *unit->find("mlx5_1")), PathKind::pix);
}

TEST(TopoM, GraceHasItsMemoryInListsOfNodes) {
  const std::string_view text =
      "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
      "GPU0\t X \tNV18\tNV18\tNV18\tSYS\tSYS\t0-71\t0,3-9,11-17\t\t2\n"
      "GPU1\tNV18\t X \tNV18\tNV18\tSYS\tSYS\t0-71\t0,3-9,11-17\t\t10\n"
      "GPU2\tNV18\tNV18\t X \tNV18\tSYS\tSYS\t72-143\t1,19-25,27-33\t\t18\n"
      "GPU3\tNV18\tNV18\tNV18\t X \tSYS\tSYS\t72-143\t1,19-25,27-33\t\t26\n";
  const auto unit = unit_of(text);
  EXPECT_EQ(unit->device(unit->gpus()[0]).part, "gb200");
  EXPECT_EQ(unit->device(unit->cpus()[0]).part, "grace");
  ASSERT_EQ(unit->cpus().size(), 2u);  // the NICs hang on them, not on a third
  EXPECT_EQ(topo_m_of(unit).substr(0, text.size()), text);
}

TEST(TopoM, OnlyPciOutputSaysThatNvlinkIsHidden) {
  const auto document = read_with(topo_m_reader,
                                  "$ nvidia-smi topo -mp\n"
                                  "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
                                  "GPU0\t X \tNODE\t0-15\t0\n"
                                  "GPU1\tNODE\t X \t0-15\t0\n");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "use 'topo -m'"));
}

TEST(TopoM, AHeaderWithoutMatrixSaysWhy) {
  const auto document =
      read_with(topo_m_reader,
                "        GPU0    GPU1    CPU Affinity    NUMA Affinity   GPU NUMA ID\n"
                "Failed to run topology matrix\n");
  ASSERT_FALSE(document);
  EXPECT_NE(document.error().what.find("2 devices"), std::string::npos);
  EXPECT_NE(document.error().hint.find("/sys/bus/pci"), std::string::npos);
}

TEST(TopoM, OtherVendorsMatricesAreTurnedDown) {
  const std::string_view text =
      "       GPU0         GPU1\n"
      "GPU0   0            XGMI\n"
      "GPU1   XGMI         0\n";
  const auto document = read_with(topo_m_reader, text);
  ASSERT_FALSE(document);
  EXPECT_NE(document.error().hint.find("another vendor"), std::string::npos)
      << document.error().text();
}

// Its size is the square of the number of devices, so a damaged file must not ask for all.
TEST(TopoMWriter, TurnsDownAHostWithMoreDevicesThanAnyHas) {
  UnitParts parts;
  for (int i = 0; i < 1025; ++i) {
    Device& gpu = parts.devices.emplace_back();
    gpu.kind = DeviceKind::gpu;
    gpu.index = static_cast<std::int16_t>(i);
    gpu.name = "GPU" + std::to_string(i);
    gpu.info = GpuInfo{};
  }
  const auto fabric = Fabric::single(Unit::make(std::move(parts)).value());
  const auto text = find_writer("topo-m")->write(*fabric, {});
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().what.find("1025"), std::string::npos);
}

}  // namespace
}  // namespace isleway::formats
