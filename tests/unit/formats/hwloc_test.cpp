#include "unit/formats/reading.hpp"

namespace isleway::formats {
extern const Reader hwloc_reader;

namespace {

constexpr std::string_view kRootPort =
    R"(<object type="Bridge" bridge_type="0-1" bridge_pci="0000:[00-3f]"><object type="Bridge" bridge_type="1-1" pci_busid="0000:00:01.0" pci_link_speed="15.753846">)";

std::string gpu(int number, const char* os_device_number) {
  const std::string n = std::to_string(number);
  return R"(<object type="PCIDev" gp_index="1)" + n + R"(" pci_busid="0000:0)" + n +
         R"(:00.0" pci_type="0302 [10de:1db5] [10de:1249] a1 00" pci_link_speed="15.753846">)" +
         R"(<object type="OSDev" gp_index="2)" + n + R"(" name="nvml)" + os_device_number +
         R"(" osdev_type="5"/></object>)";
}
constexpr std::string_view kNic =
    R"(<object type="PCIDev" pci_busid="0000:15:00.0" pci_type="0207 [15b3:101b] [15b3:0007] 00 00" pci_link_speed="31.507692"><object type="OSDev" name="ib0" osdev_type="2"/><object type="OSDev" name="mlx5_0" osdev_type="3"><info name="SysImageGUID" value="0c42:a103:0001:0002"/></object></object>)";

/// Two packages; one has two GPUs and a NIC behind a switch, the other nothing.
std::string version_2() {
  return R"(<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">
<object type="Machine" cpuset="0x0000ffff" nodeset="0x00000003"><info name="Architecture" value="x86_64"/>
<object type="Package" os_index="0" cpuset="0x000000ff" nodeset="0x00000001" gp_index="3"><info name="CPUVendor" value="AuthenticAMD"/><info name="CPUFamilyNumber" value="23"/><info name="CPUModelNumber" value="49"/>
<object type="NUMANode" os_index="0" cpuset="0x000000ff" nodeset="0x00000001"/>)" +
         std::string(kRootPort) +
         R"(<object type="Bridge" bridge_type="1-1" pci_busid="0000:01:00.0" pci_link_speed="15.753846"><object type="Bridge" bridge_type="1-1">)" +
         gpu(3, "1") + "</object><object type=\"Bridge\" bridge_type=\"1-1\">" + gpu(4, "0") +
         std::string(kNic) +
         R"(</object></object></object></object></object>
<object type="Package" os_index="1" nodeset="0x00000002" gp_index="4"><object type="NUMANode" os_index="1" cpuset="0x0000ff00" nodeset="0x00000002"/></object>
<object type="NUMANode" os_index="2" cpuset="0x0"/></object>
<distances2hetero nbobjs="3" kind="25" name="NVLinkBandwidth"><indexes>OSDev:23 OSDev:24 Package:4 </indexes>
<u64values>1000000 50000 0 50000 </u64values><u64values>1000000 0 0 0 1000000 </u64values></distances2hetero></topology>)";
}

TEST(Hwloc, ReadsVersion2) {
  const auto unit = machine(hwloc_reader, version_2());
  ASSERT_EQ(unit->gpus().size(), 2u);
  EXPECT_EQ(unit->cpus().size(), 2u);  // the node without CPUs is a GPU's memory
  EXPECT_EQ(unit->device(unit->cpus()[0]).cpu().family, 23);
  EXPECT_EQ(unit->device(unit->cpus()[0]).cpu().socket, 0);
  EXPECT_EQ(unit->device(unit->cpus()[1]).cpu().affinity, "0000ff00");
  EXPECT_EQ(unit->device(*unit->find("GPU0")).pci.bus_id, "0000:04:00.0");
  EXPECT_EQ(unit->device(*unit->find("GPU0")).part, "v100-sxm2-32");
  EXPECT_EQ(path_kind(*unit, *unit->find("GPU0"), *unit->find("GPU1"), true), PathKind::pix);
}

TEST(Hwloc, TakesNicsWithRdmaAlone) {
  const auto unit = machine(hwloc_reader, version_2());
  ASSERT_EQ(unit->nics().size(), 1u);
  const Device& nic = unit->device(unit->nics()[0]);
  EXPECT_EQ(nic.name, "mlx5_0");
  EXPECT_EQ(nic.nic().guid, "0x0c42a10300010002");
  EXPECT_DOUBLE_EQ(nic.nic().rate.gbits(), 200);  // what a generation 4 slot feeds
}

TEST(Hwloc, CountsNvlinksFromTheBandwidth) {
  const auto unit = machine(hwloc_reader, version_2());
  const Link* link = link_between(*unit, LinkKind::nvlink, "GPU0", "GPU1");
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(link->count, 2);
}

TEST(Hwloc, ReadsPcieSpeeds) {
  const auto unit = machine(hwloc_reader, version_2());
  const Link* slot = link_between(*unit, LinkKind::pcie, "GPU0", "PCIe0");
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(slot->generation, 3);
  EXPECT_EQ(slot->lanes, 16);
}

TEST(Hwloc, ReadsVersion1) {
  const auto unit = machine(
      hwloc_reader,
      R"(<topology><object type="Machine"><object type="NUMANode" os_index="0" cpuset="0x3" nodeset="0x1"><object type="Socket" os_index="0"><info name="CPUVendor" value="GenuineIntel"/></object>)" +
          std::string(kRootPort) + gpu(5, "0") + "</object></object></object></object></topology>");
  ASSERT_EQ(unit->gpus().size(), 1u);
  EXPECT_EQ(unit->device(unit->cpus()[0]).cpu().vendor, "GenuineIntel");
  EXPECT_NE(link_between(*unit, LinkKind::pcie, "GPU0", "CPU0"), nullptr);
}

TEST(Hwloc, ReadsTheBitsOfVersion3) {
  const auto unit = machine(
      hwloc_reader,
      R"(<topology version="3.0"><object type="Machine"><object type="PCIDev" pci_busid="0000:15:00.0" pci_type="0200 [15b3:101d] [0000:0000] 00 00"><object type="OSDev" name="mlx5_3" osdev_type="32"/></object></object></topology>)");
  ASSERT_EQ(unit->nics().size(), 1u);
  EXPECT_EQ(unit->device(unit->nics()[0]).name, "mlx5_3");
}

TEST(Hwloc, SaysThatThereIsNoGpu) {
  const auto document = read_with(hwloc_reader, R"(<topology><object type="Machine"/></topology>)");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "no GPU"));
}

TEST(Hwloc, DamagedMatricesAreLeftOut) {
  std::string text = version_2();
  text.replace(text.find("1000000 50000"), 7, "x");
  EXPECT_EQ(link_between(*machine(hwloc_reader, text), LinkKind::nvlink, "GPU0", "GPU1"), nullptr);
}

TEST(Hwloc, EveryPrefixIsReadOrRefused) {
  const std::string text = version_2();
  for (std::size_t length = 0; length < text.size(); length += 11) {
    const auto document = read_with(hwloc_reader, std::string_view(text).substr(0, length));
    EXPECT_TRUE(document || !document.error().what.empty());
  }
}

}  // namespace
}  // namespace isleway::formats
