#include "unit/formats/reading.hpp"

namespace isleway::formats {
extern const Reader nccl_xml_reader;

namespace {

/// Two sockets; on the first a switch with a GPU and a dual-port NIC, on the second a GPU.
constexpr std::string_view kSwitched = R"(<system version="1">
  <cpu numaid="0" affinity="00000000,00ffffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:20:00.0" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000" subsystem_device="0x1003" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:22:00.0" class="0x030200" vendor="0x10de" device="0x2330" subsystem_vendor="0x10de" subsystem_device="0x16c1" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:06:00.0" count="10" tclass="0x068000"/>
          <nvlink target="0000:07:00.0" count="8" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:23:00.0" class="0x020700" vendor="0x15b3" device="0x1021" link_speed="16.0 GT/s" link_width="8">
        <nic>
          <net name="mlx5_0" dev="0" speed="200000" port="1" latency="0.500000" guid="0xabc" maxconn="4096" gdr="1" coll="1"/>
          <net name="mlx5_1" dev="1" speed="100000" port="2" gdr="0"/>
        </nic>
      </pci>
    </pci>
    <nic><net name="eth0" dev="2" speed="25000" port="0" gdr="0"/></nic>
  </cpu>
  <cpu numaid="1" affinity="ff000000,00000000" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:90:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="8">
      <gpu dev="1" sm="90" rank="1" gdr="1">
        <nvlink target="0000:06:00.0" count="10" tclass="0x068000"/>
        <nvlink target="0000:07:00.0" count="8" tclass="0x068000"/>
      </gpu>
    </pci>
  </cpu>
</system>
)";

std::string with(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// A machine of these elements on one NUMA node.
std::string system_of(const std::string& devices) {
  return R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">)" +
         devices + "</cpu></system>";
}
std::string gpu(int bus, const std::string& nvlinks, const std::string& attributes = "sm=\"70\"") {
  return R"(<pci busid="0000:0)" + std::to_string(bus) +
         R"(:00.0" class="0x030200" link_speed="8.0 GT/s PCIe" link_width="16"><gpu dev=")" +
         std::to_string(bus) + "\" " + attributes + ">" + nvlinks + "</gpu></pci>";
}
std::string to_gpu(int bus, int count) {
  return R"(<nvlink target="0000:0)" + std::to_string(bus) + R"(:00.0" count=")" +
         std::to_string(count) + R"(" tclass="0x030200"/>)";
}

TEST(NcclXml, ReadsDevicesAndTheirPlaces) {
  const auto unit = machine(nccl_xml_reader, kSwitched);
  EXPECT_EQ(unit->parts().hosts, 1);
  EXPECT_EQ(unit->gpus().size(), 2u);
  EXPECT_EQ(unit->nics().size(), 3u);
  ASSERT_EQ(unit->nvswitches().size(), 2u);
  EXPECT_EQ(unit->island_count(), 1);
  const Device& gpu = unit->device(*unit->find("GPU0"));
  EXPECT_EQ(gpu.part, "h100-sxm");
  EXPECT_EQ(gpu.pci.bus_id, "0000:22:00.0");
  EXPECT_EQ(path_kind(*unit, *unit->find("GPU0"), *unit->find("mlx5_0")), PathKind::pix);
  EXPECT_EQ(path_kind(*unit, *unit->find("GPU1"), *unit->find("mlx5_0")), PathKind::sys);
  EXPECT_EQ(nvlinks_between(*unit, unit->gpus()[0], unit->gpus()[1]), 18);
}

TEST(NcclXml, ReadsAttributesOfNics) {
  const auto unit = machine(nccl_xml_reader, kSwitched);
  const NicInfo& nic = unit->device(*unit->find("mlx5_0")).nic();
  EXPECT_DOUBLE_EQ(nic.rate.gbits(), 200);
  EXPECT_DOUBLE_EQ(nic.latency_us, 0.5);
  EXPECT_EQ(nic.guid, "0xabc");
  EXPECT_EQ(nic.max_connections, 4096);
  EXPECT_TRUE(nic.gpudirect && nic.in_network_reduction);
  const NicInfo& other = unit->device(*unit->find("mlx5_1")).nic();
  EXPECT_EQ(other.port, 2);
  EXPECT_FALSE(other.gpudirect || other.in_network_reduction);
}

TEST(NcclXml, TakesLinkRatesFromTheParts) {
  const auto unit = machine(nccl_xml_reader, kSwitched);
  const Link* switched = link_between(*unit, LinkKind::nvlink, "GPU0", "NVSwitch1");
  ASSERT_NE(switched, nullptr);
  EXPECT_EQ(switched->count, 8);
  EXPECT_DOUBLE_EQ(switched->link_rate.GBs(), 25);
  const Link* nic = link_between(*unit, LinkKind::pcie, "mlx5_0", "PCIe0");
  ASSERT_NE(nic, nullptr);
  EXPECT_EQ(nic->generation, 4);
  EXPECT_EQ(nic->lanes, 8);
  EXPECT_NEAR(nic->rate().GBs(), 15.75, 0.02);
}

TEST(NcclXml, WritesWhatItReads) {
  const auto unit = machine(nccl_xml_reader, kSwitched);
  const std::string text = written("nccl-xml", unit);
  const auto again = machine(nccl_xml_reader, text);
  EXPECT_EQ(written("nccl-xml", again), text);
  EXPECT_EQ(written("json", again), written("json", unit));
  // Attributes stand in the order of NCCL's own dumps.
  EXPECT_NE(
      text.find(R"(<pci busid="0000:22:00.0" class="0x030200" vendor="0x10de" device="0x2330" )"
                R"(subsystem_vendor="0x10de" subsystem_device="0x16c1" )"
                R"(link_speed="32.0 GT/s PCIe" link_width="16">)"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(<nvlink target="0000:06:00.0" count="10" tclass="0x068000" />)"),
            std::string::npos)
      << text;
}

TEST(NcclXml, TheUserMayNameTheGpu) {
  EXPECT_EQ(machine(nccl_xml_reader, kSwitched, "h200")->device(2).part, "h200");
  const auto wrong = read_with(nccl_xml_reader, kSwitched, "h2000");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().text().find("h200"), std::string::npos);
}

TEST(NcclXml, OldAmdFamiliesAreTheSame) {
  const auto family = [](const char* id) {
    return machine(nccl_xml_reader, R"(<system><cpu numaid="0" vendor="AuthenticAMD" familyid=")" +
                                        std::string(id) + R"(" modelid="17"/></system>)")
        ->device(0)
        .cpu()
        .family;
  };
  EXPECT_EQ(family("143"), 23);
  EXPECT_EQ(family("175"), 25);
  EXPECT_EQ(family("25"), 25);
  EXPECT_EQ(family("26"), 26);
}

TEST(NcclXml, UnknownSpeedAndWidthAreAssumed) {
  const auto document = read_with(
      nccl_xml_reader,
      system_of(
          R"(<pci busid="0001:00:00.0" class="0x030200" device="0x20b2" link_speed="" link_width="0"/>)"));
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "PCIe generation 4"));
  const auto& unit = *std::get<std::shared_ptr<const Unit>>(document->content);
  EXPECT_EQ(unit.link(0).generation, 0);
  EXPECT_EQ(unit.link(0).lanes, 16);
  EXPECT_NEAR(unit.link(0).rate().GBs(), 31.5, 0.1);
}

TEST(NcclXml, ReadsCloudFilesWithoutGpuElements) {
  const auto unit = machine(
      nccl_xml_reader,
      system_of(
          R"(<pci busid="ffff:ff:01.0" class="0x060400" link_speed="16 GT/s" link_width="16">
           <pci busid="0004:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
           <pci busid="0003:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
           <pci busid="0103:00:00.0" class="0x020700" link_speed="16 GT/s" link_width="16"/>
         </pci>)"));
  ASSERT_EQ(unit->gpus().size(), 2u);
  // Numbered by address, as the driver does.
  EXPECT_EQ(unit->device(*unit->find("GPU0")).pci.bus_id, "0003:00:00.0");
  EXPECT_DOUBLE_EQ(unit->device(unit->nics()[0]).nic().rate.gbits(), 200);
}

TEST(NcclXml, HashesTellHostsApart) {
  std::string tray =
      R"(<cpu host_hash="0xHASH" numaid="0" arch="arm64"><pci busid="0008:01:00.0" class="0x030200"><gpu dev="0" sm="100"><nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/><c2c bw="44712" count="5"/></gpu></pci></cpu>)";
  const auto unit = machine(nccl_xml_reader, "<system>" + with(tray, "HASH", "a") +
                                                 with(tray, "HASH", "b") + "</system>");
  EXPECT_EQ(unit->parts().hosts, 2);
  EXPECT_EQ(unit->island_count(), 1);
  ASSERT_EQ(unit->nvswitches().size(), 1u);
  EXPECT_EQ(unit->device(unit->nvswitches()[0]).host, -1);
  EXPECT_EQ(unit->device(unit->gpus()[1]).host, 1);
  EXPECT_EQ(unit->device(unit->gpus()[0]).part, "gb200");
  const Link* c2c = link_between(*unit, LinkKind::c2c, "GPU0", "CPU0");
  ASSERT_NE(c2c, nullptr);
  EXPECT_NEAR(c2c->rate().GBs(), 5 * 44.712, 1e-9);

  WriteOptions all;
  all.include_all = true;
  const std::string text = written("nccl-xml", unit, all);
  EXPECT_EQ(written("json", machine(nccl_xml_reader, text)), written("json", unit));
}

TEST(NcclXml, SwitchesUnderDifferentAddressesAreOneLayer) {
  const std::string to_switch = R"(<nvlink target="0000:aN:00.0" count="18" tclass="0x068000"/>)";
  const auto document =
      read_with(nccl_xml_reader, system_of(gpu(1, with(to_switch, "N", "1"), "sm=\"90\"") +
                                           gpu(2, with(to_switch, "N", "2"), "sm=\"90\"")));
  ASSERT_TRUE(document);
  const auto& unit = *std::get<std::shared_ptr<const Unit>>(document->content);
  EXPECT_EQ(unit.nvswitches().size(), 1u);
  EXPECT_EQ(unit.island_count(), 1);
  EXPECT_TRUE(has_notice(*document, "NVSwitches"));
}

TEST(NcclXml, AGpuThatLostASwitchKeepsTheOthers) {
  const auto target = [](int chip) {
    return R"(<nvlink target="0000:c)" + std::to_string(chip) +
           R"(:00.0" count="2" tclass="0x068000"/>)";
  };
  const auto unit = machine(nccl_xml_reader, system_of(gpu(1, target(1) + target(2), "sm=\"80\"") +
                                                       gpu(2, target(2), "sm=\"80\"")));
  EXPECT_EQ(unit->nvswitches().size(), 2u);
  EXPECT_EQ(nvlinks_between(*unit, unit->gpus()[0], unit->gpus()[1]), 2);
}

TEST(NcclXml, DirectLinksAreOneBundleAPair) {
  const auto unit =
      machine(nccl_xml_reader, system_of(gpu(1, to_gpu(2, 2)) + gpu(2, to_gpu(1, 2))));
  const Link* link = link_between(*unit, LinkKind::nvlink, "GPU1", "GPU2");
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(link->count, 2);
  EXPECT_EQ(unit->links().size(), 3u);  // two PCIe, one NVLink
}

TEST(NcclXml, AllLinksToOnePeerAreABridge) {
  const auto unit = machine(nccl_xml_reader, system_of(gpu(1, to_gpu(2, 12), "sm=\"80\"") +
                                                       gpu(2, to_gpu(1, 12), "sm=\"80\"")));
  EXPECT_EQ(unit->device(unit->gpus()[0]).part, "a100-pcie-40");
}

TEST(NcclXml, LinksThatLeadNowhereAreLeftOut) {
  const auto document = read_with(nccl_xml_reader, system_of(gpu(1, to_gpu(1, 4) + to_gpu(9, 2))));
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "to itself"));
  EXPECT_TRUE(has_notice(*document, "not in the file"));
  EXPECT_EQ(std::get<std::shared_ptr<const Unit>>(document->content)->links().size(), 1u);
}

TEST(NcclXml, LinksToACpuBridgeGoToTheGpusOwnCpu) {
  const auto unit =
      machine(nccl_xml_reader,
              system_of(gpu(1, R"(<nvlink target="0000:00:00.0" count="3" tclass="0x068001"/>)")));
  const Link* link = link_between(*unit, LinkKind::nvlink, "GPU1", "CPU0");
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(link->count, 3);
}

TEST(NcclXml, ReadsRcclFiles) {
  const auto unit = machine(
      nccl_xml_reader,
      system_of(
          R"(<pci busid="0000:0c:00.0" class="0x120000" vendor="0x1002" device="0x74a1" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="304" gcn="gfx942" rank="0"><xgmi target="0000:15:00.0" count="1" tclass="0x120000"/></gpu></pci>
         <pci busid="0000:15:00.0" class="0x120000" vendor="0x1002" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="1" sm="304" gcn="gfx942" rank="1"><xgmi target="0000:0c:00.0" count="1" tclass="0x120000"/></gpu></pci>)"));
  EXPECT_TRUE(unit->device(unit->gpus()[1]).gpu().amd);
  EXPECT_EQ(unit->device(unit->gpus()[1]).part, "mi300x");
  EXPECT_NE(link_between(*unit, LinkKind::xgmi, "GPU0", "GPU1"), nullptr);
}

TEST(NcclXml, OverlappingMasksAreRemarkedUpon) {
  const auto document = read_with(
      nccl_xml_reader,
      R"(<system><cpu numaid="0" affinity="ffff"/><cpu numaid="1" affinity="00ff"/></system>)");
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "overlap"));
}

TEST(NcclXml, IgnoresWhatStandsAround) {
  const std::string pasted =
      "\n$ cat topo.xml\n<!-- <system> of node 3 -->\n" + std::string(kSwitched) + "$ exit\n";
  EXPECT_EQ(machine(nccl_xml_reader, pasted)->gpus().size(), 2u);
}

TEST(NcclXml, UsesWhatIsWholeOfACutFile) {
  const std::string text(kSwitched);
  const auto document = read_with(nccl_xml_reader, text.substr(0, text.find("eth0")));
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "ends here"));
  EXPECT_EQ(std::get<std::shared_ptr<const Unit>>(document->content)->gpus().size(), 1u);
}

TEST(NcclXml, EveryPrefixIsReadOrRefused) {
  for (std::size_t length = 0; length < kSwitched.size(); length += 7) {
    const auto document = read_with(nccl_xml_reader, kSwitched.substr(0, length));
    EXPECT_TRUE(document || !document.error().what.empty());
  }
}

TEST(NcclXml, DamageIsPointedAt) {
  const auto document =
      read_with(nccl_xml_reader, with(std::string(kSwitched), "<gpu dev=\"1\"", "<gpu dev=1"));
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().where.line, 21);
  EXPECT_GT(document.error().where.column, 0);
}

TEST(NcclXml, GraphFilesAreToldApart) {
  const auto document = read_with(
      nccl_xml_reader, R"(<graphs version="1"><graph id="0"><channel/></graph></graphs>)");
  ASSERT_FALSE(document);
  EXPECT_NE(document.error().what.find("graph file"), std::string::npos);
}

TEST(NcclXml, DeepNestingIsCutOff) {
  std::string text = R"(<system><cpu numaid="0">)";
  for (int i = 0; i < 20'000; ++i) text += R"(<pci class="0x060400">)";
  const auto document = read_with(nccl_xml_reader, text);
  ASSERT_TRUE(document);
  EXPECT_TRUE(has_notice(*document, "too deeply nested"));
}

TEST(NcclXml, NeedsACpu) {
  EXPECT_FALSE(read_with(nccl_xml_reader, "<system version=\"1\"></system>"));
  EXPECT_FALSE(read_with(nccl_xml_reader, "no XML at all"));
}

}  // namespace
}  // namespace isleway::formats
