// GPUs that a file leaves to the driver are wired as the catalogue's boards are.
#include <fmt/format.h>

#include "unit/formats/reading.hpp"

namespace isleway::formats {
extern const Reader nccl_xml_reader;

namespace {

/// A template of `count` GPUs, last address first, on one NUMA node of an Intel Xeon.
std::string bare_gpus(int count, const std::string& attributes = {}) {
  std::string text = R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="GenuineIntel" )"
                     R"(familyid="6" modelid="143">)";
  for (int i = count; i > 0; --i)
    text +=
        fmt::format(R"(<pci busid="{:04x}:07:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" )"
                    R"(link_width="16" {}/>)",
                    i, attributes);
  return text + "</cpu></system>";
}

int links_between(const Unit& unit, std::size_t a, std::size_t b) {
  return nvlinks_between(unit, unit.gpus()[a], unit.gpus()[b]);
}

TEST(GpuBoard, EightGpusGoBehindTheSwitchesOfTheirBoard) {
  const auto document = read_with(nccl_xml_reader, bare_gpus(8), "h100-sxm");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "8 x NVIDIA H100 80GB HBM3 (--gpu h100-sxm), wired as in"));
  EXPECT_TRUE(has_notice(*document, "18 NVLinks each, into 4 NVSwitches"));
  const auto& unit = *std::get<std::shared_ptr<const Unit>>(document->content);
  EXPECT_EQ(unit.nvswitches().size(), 4u);
  EXPECT_EQ(unit.island_count(), 1);
  EXPECT_EQ(links_between(unit, 0, 7), 18);
  EXPECT_TRUE(unit.has_multicast(0));
}

TEST(GpuBoard, FourGpusAreAMesh) {
  const auto a100 = machine(nccl_xml_reader, bare_gpus(4), "a100-sxm4-40");
  const auto h100 = machine(nccl_xml_reader, bare_gpus(4), "h100-sxm");
  EXPECT_TRUE(a100->nvswitches().empty() && h100->nvswitches().empty());
  for (std::size_t other = 1; other < 4; ++other) {
    EXPECT_EQ(links_between(*a100, 0, other), 4);
    EXPECT_EQ(links_between(*h100, 0, other), 6);
  }
}

TEST(GpuBoard, EightVoltasAreTheCubeMeshInTheOrderOfTheirAddresses) {
  const auto unit = machine(nccl_xml_reader, bare_gpus(8), "v100-sxm2-32");
  const auto known = catalogue().unit("azure-ndv2");
  ASSERT_TRUE(known);
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t b = a + 1; b < 8; ++b)
      EXPECT_EQ(links_between(*unit, a, b), links_between(**known, a, b)) << a << " " << b;
}

TEST(GpuBoard, MemoryDoesNotChangeTheWiring) {
  const auto document = read_with(nccl_xml_reader, bare_gpus(4), "a100-sxm4-80");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "hgx-a100-4"));
  const auto& unit = *std::get<std::shared_ptr<const Unit>>(document->content);
  EXPECT_EQ(unit.device(unit.gpus()[0]).part, "a100-sxm4-80");
  EXPECT_EQ(links_between(unit, 0, 3), 4);
}

TEST(GpuBoard, ADeviceIdTellsThePartToo) {
  const auto document = read_with(nccl_xml_reader, bare_gpus(8, R"(device="0x20b0")"));
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "by PCI device id 0x20b0"));
  EXPECT_EQ(links_between(*std::get<std::shared_ptr<const Unit>>(document->content), 0, 7), 12);
}

TEST(GpuBoard, UnknownPartsGetAdvice) {
  for (const char* nothing : {"", R"(device="0x0000")", R"(device="0xffff")"}) {
    const auto document = read_with(nccl_xml_reader, bare_gpus(8, nothing));
    ASSERT_TRUE(document);
    EXPECT_TRUE(has_notice(*document, "likeliest: h100-sxm"));
    const auto& unit = *std::get<std::shared_ptr<const Unit>>(document->content);
    EXPECT_EQ(links_between(unit, 0, 1), 0);
  }
  const auto odd = read_with(nccl_xml_reader, bare_gpus(7));
  ASSERT_TRUE(odd);
  EXPECT_TRUE(has_notice(*odd, "far slower than with NVLink; give --gpu"));
}

TEST(GpuBoard, CardsAreLeftAsTheyAre) {
  const auto bridged = read_with(nccl_xml_reader, bare_gpus(4), "a100-pcie-80");
  ASSERT_TRUE(bridged);
  EXPECT_TRUE(has_notice(*bridged, "no board of 4 x NVIDIA A100 80GB PCIe"));
  EXPECT_EQ(links_between(*std::get<std::shared_ptr<const Unit>>(bridged->content), 0, 1), 0);
  const auto plain = read_with(nccl_xml_reader, bare_gpus(4), "t4");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(has_notice(*plain, "PCI functions only"));
}

TEST(GpuBoard, AFileThatDescribesAGpuIsTakenAtItsWord) {
  std::string text = bare_gpus(8);
  text.replace(text.rfind("/></cpu>"), 2, R"(><gpu dev="0" sm="90"/></pci>)");
  const auto document = read_with(nccl_xml_reader, text, "h100-sxm");
  ASSERT_TRUE(document);
  EXPECT_FALSE(has_notice(*document, "PCI functions only"));
  EXPECT_TRUE(std::get<std::shared_ptr<const Unit>>(document->content)->nvswitches().empty());
}

TEST(GpuBoard, SeveralHostsAreNoBoard) {
  std::string text = bare_gpus(8);
  text.insert(text.rfind("</system>"), R"(<cpu host_hash="0x2" numaid="0"/>)");
  text.insert(text.find("numaid"), R"(host_hash="0x1" )");
  const auto document = read_with(nccl_xml_reader, text, "h100-sxm");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "no board of 8"));
}

}  // namespace
}  // namespace isleway::formats
