#include "unit/formats/reading.hpp"

namespace isleway::formats {
extern const Reader nccl_log_reader;

namespace {

/// A block as every rank prints it, without what stands in front of each line.
constexpr std::string_view kBlock = R"(=== System : maxBw 370.8 totalBw 370.8 ===
CPU/0-0 (1/1/3)
+ SYS[22.0] - CPU/0-1
+ PCI[48.0] - PCI/0-15000 (1000c03010000000)
              + PCI[48.0] - NIC/0-18000
                            + NET[50.0] - NET/0-0 (0/abc123/1/50.000000)
              + PCI[48.0] - GPU/0-1b000 (0)
                            + NVL[370.8] - NVS/0-0
CPU/0-1 (1/1/3)
+ SYS[22.0] - CPU/0-0
+ PCI[24.0] - GPU/0-9b000 (1)
              + NVL[370.8] - NVS/0-0
+ PCI[5000.0] - NIC/0-0
                + NET[1.2] - NET/0-1 (0/0/0/1.250000)
==========================================
GPU/0-1b000 :GPU/0-1b000 (0/5000.0/LOC) GPU/0-9b000 (2/370.8/NVL)
)";

std::string prefixed(std::string_view text, const std::string& prefix) {
  std::string out;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start) + 1;
    out += prefix + std::string(text.substr(start, end - start));
    start = end;
  }
  return out;
}

void expect_the_machine(const Unit& unit) {
  EXPECT_EQ(unit.gpus().size(), 2u);
  EXPECT_EQ(unit.cpus().size(), 2u);
  EXPECT_EQ(unit.nics().size(), 2u);
  ASSERT_EQ(unit.nvswitches().size(), 1u);
  EXPECT_EQ(unit.device(unit.gpus()[0]).part, "h100-sxm");
  EXPECT_EQ(nvlinks_between(unit, unit.gpus()[0], unit.gpus()[1]), 18);
  EXPECT_EQ(path_kind(unit, unit.gpus()[0], unit.nics()[0]), PathKind::pix);
}

TEST(NcclLog, ReadsTheTree) {
  const auto unit = machine(nccl_log_reader, kBlock);
  expect_the_machine(*unit);
  const Device& gpu = unit->device(unit->gpus()[1]);
  EXPECT_EQ(gpu.pci.bus_id, "0000:9b:00.0");
  EXPECT_EQ(link_between(*unit, LinkKind::pcie, "GPU1", "CPU1")->generation, 4);
  EXPECT_EQ(unit->device(*unit->find("PCIe0")).pci.device, "0xc030");
  const NicInfo& nic = unit->device(unit->nics()[0]).nic();
  EXPECT_DOUBLE_EQ(nic.rate.gbits(), 400);
  EXPECT_EQ(nic.guid, "0xabc123");
  EXPECT_EQ(unit->device(unit->cpus()[0]).cpu().vendor, "GenuineIntel");
  EXPECT_EQ(unit->device(unit->cpus()[0]).cpu().model, 0x8f);
}

TEST(NcclLog, ReadsWithAndWithoutPrefixes) {
  for (const char* prefix : {"node7:10:20 [0] NCCL INFO ", "[0] NCCL INFO ",
                             "node7: node7:1:2 [3] NCCL INFO ", "NCCL INFO "})
    expect_the_machine(*machine(nccl_log_reader, prefixed(kBlock, prefix)));
}

TEST(NcclLog, TakesOneRankOfSeveralMixedOnes) {
  const std::string one = prefixed(kBlock, "n1:1:1 [0] NCCL INFO ");
  const std::string two = prefixed(kBlock, "n1:2:2 [1] NCCL INFO ");
  std::string mixed;
  for (std::size_t a = 0, b = 0; a < one.size() || b < two.size();) {
    for (auto [text, at] : {std::pair(&one, &a), std::pair(&two, &b)}) {
      const std::size_t end = std::min(text->find('\n', *at), text->size() - 1) + 1;
      if (*at < text->size()) mixed += text->substr(*at, end - *at), *at = end;
    }
  }
  expect_the_machine(*machine(nccl_log_reader, mixed));
}

TEST(NcclLog, SaysWhichHostOfSeveralItIs) {
  const auto document = read_with(nccl_log_reader, prefixed(kBlock, "n1:1:1 [0] NCCL INFO ") +
                                                       prefixed(kBlock, "n2:1:1 [0] NCCL INFO "));
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "'n1'"));
}

TEST(NcclLog, TakesNamesOfNicsFromTheNetworkLine) {
  const auto unit =
      machine(nccl_log_reader,
              "n:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_4:1/IB [1]mlx5_7:1/RoCE [RO]; "
              "OOB eth0:192.0.2.1<0>\n" +
                  prefixed(kBlock, "n:1:1 [0] NCCL INFO "));
  EXPECT_TRUE(unit->find("mlx5_4"));
  EXPECT_TRUE(unit->find("mlx5_7"));
}

TEST(NcclLog, ReadsOldIds) {
  const auto unit = machine(nccl_log_reader, R"(=== System : maxWidth 126.0 totalWidth 126.0 ===
CPU/0 (1/1/1)
+ PCI[12.0] - GPU/6000 (0)
              + NVL[40.0] - GPU/7000
              + NVL[80.0] - GPU/8000
+ PCI[12.0] - GPU/7000 (1)
              + NVL[40.0] - GPU/6000
+ PCI[12.0] - GPU/8000 (2)
              + NVL[80.0] - GPU/6000
+ PCI[6.0] - NIC/21000
              + NET[3.1] - NET/0 (b8e2ce0003f6ceb8/1/3.125000)
==========================================
)");
  EXPECT_EQ(unit->device(unit->gpus()[0]).part, "v100-sxm2");
  EXPECT_EQ(link_between(*unit, LinkKind::nvlink, "GPU0", "GPU2")->count, 4);
  EXPECT_DOUBLE_EQ(unit->device(unit->nics()[0]).nic().rate.gbits(), 25);
  const Link* slot = link_between(*unit, LinkKind::pcie, "NIC0", "CPU0");
  EXPECT_EQ(slot->generation, 3);
  EXPECT_EQ(slot->lanes, 8);
}

TEST(NcclLog, ReadsThreePartIdsAndUnknownNumaNodes) {
  const auto unit = machine(nccl_log_reader, R"(CPU/FFFFFFFFFFFFFFFF (1/2/-1)
+ PCI[24.0] - GPU/0-0-47000 (0)
              + NVL[240.0] - NVS/0
+ PCI[24.0] - GPU/0-0-4e000 (1)
              + NVL[240.0] - NVS/0
==========================================
)");
  EXPECT_EQ(unit->device(unit->gpus()[0]).part, "a100-sxm4-80");
  EXPECT_EQ(unit->device(unit->gpus()[0]).pci.bus_id, "0000:47:00.0");
  EXPECT_EQ(unit->device(unit->cpus()[0]).cpu().numa, -1);
}

TEST(NcclLog, FindsTheLinksBehindEachBandwidth) {
  const auto links = [](const char* rate) {
    const auto unit = machine(nccl_log_reader,
                              "CPU/0 (1/2/-1)\n+ PCI[24.0] - GPU/1000 (0)\n"
                              "              + NVL[" +
                                  std::string(rate) + "] - NVS/0\n");
    return std::pair(unit->links().back().count, unit->device(unit->gpus()[0]).gpu().sm);
  };
  EXPECT_EQ(links("240.0"), std::pair(std::uint16_t{12}, 80));  // A100
  EXPECT_EQ(links("252.0"), std::pair(std::uint16_t{12}, 80));  // before NCCL 2.12
  EXPECT_EQ(links("360.0"), std::pair(std::uint16_t{18}, 90));  // H100 before 2.20
  EXPECT_EQ(links("370.8"), std::pair(std::uint16_t{18}, 90));
  EXPECT_EQ(links("721.8"), std::pair(std::uint16_t{18}, 100));  // Blackwell
  EXPECT_EQ(links("120.0"), std::pair(std::uint16_t{6}, 70));    // V100
  EXPECT_EQ(links("160.0"), std::pair(std::uint16_t{8}, 80));    // A800
  EXPECT_EQ(links("164.8"), std::pair(std::uint16_t{8}, 90));    // H800
}

TEST(NcclLog, EmulatedUplinksAreWhatNcclBelieves) {
  const auto unit = machine(nccl_log_reader,
                            "CPU/0-0 (1/2/-1)\n"
                            "+ PCI[0.2] - PCI/0-65000 (104c823200000000)\n"
                            "             + PCI[48.0] - GPU/0-68000 (8)\n");
  const Link* uplink = link_between(*unit, LinkKind::pcie, "PCIe0", "CPU0");
  EXPECT_EQ(uplink->generation, 1);
  EXPECT_EQ(uplink->lanes, 1);
}

TEST(NcclLog, AFewLinesOfALongerTreeAreUsed) {
  const std::string_view text = kBlock;
  const auto cut = read_with(nccl_log_reader, text.substr(0, text.find("CPU/0-1 (")));
  ASSERT_TRUE(cut);
  EXPECT_TRUE(has_notice(*cut, "no end"));
  const auto headless = read_with(nccl_log_reader, text.substr(text.find("+ PCI[24.0]")));
  ASSERT_TRUE(headless);
  EXPECT_TRUE(has_notice(*headless, "start of the topology is cut"));
  EXPECT_EQ(std::get<std::shared_ptr<const Unit>>(headless->content)->gpus().size(), 1u);
}

TEST(NcclLog, LinesOfOtherBlanksAreEmpty) {
  const std::string_view text =
      "n:1:1 [0] NCCL INFO CPU/0-0 (1/2/-1)\n"
      "n:1:1 [0] NCCL INFO \v\n"
      "n:1:1 [0] NCCL INFO + PCI[24.0] - GPU/0-1000 (0)\n"
      "n:1:1 [0] NCCL INFO \f";
  const std::vector<char> exact(text.begin(), text.end());  // nothing to read behind the end
  EXPECT_EQ(machine(nccl_log_reader, {exact.data(), exact.size()})->gpus().size(), 1u);
}

TEST(NcclLog, NvlinksStayWithTheirGpuWithoutIndentation) {
  std::string flat;
  for (std::size_t i = 0; i < kBlock.size(); ++i)
    if (kBlock[i] != ' ' || i == 0 || (kBlock[i - 1] != ' ' && kBlock[i - 1] != '\n'))
      flat += kBlock[i];
  const auto document = read_with(nccl_log_reader, flat);
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "indentation"));
  EXPECT_EQ(std::get<std::shared_ptr<const Unit>>(document->content)->island_count(), 1);
}

TEST(NcclLog, RefusesALogWithoutTheTree) {
  const auto document =
      read_with(nccl_log_reader, "n:1:1 [0] NCCL INFO === System : maxBw 1 ===\n");
  ASSERT_FALSE(document);
  EXPECT_NE(document.error().hint.find("GRAPH"), std::string::npos);
}

}  // namespace
}  // namespace isleway::formats
