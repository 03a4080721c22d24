// The machines and networks that come with the program.
#include "isleway/fabric/catalogue.hpp"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <map>
#include <set>

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

std::shared_ptr<const Unit> load(const std::string& name) {
  auto unit = catalogue().unit(name);
  if (!unit) ADD_FAILURE() << unit.error().text();
  return unit ? *unit : nullptr;
}

/// What the maker of each machine publishes: GPUs, NVLinks of each, and their bandwidth in
/// one direction; NICs of a host.
struct Published {
  int hosts, gpus, nvlinks;
  double GBs;
  int nics;
};
const std::map<std::string, Published> kPublished = {
    {"dgx-1-p100", {1, 8, 4, 80, 4}},
    {"dgx-1-v100", {1, 8, 6, 150, 4}},
    {"dgx-2", {1, 16, 6, 150, 8}},
    {"v100-sxm2-4", {1, 4, 6, 150, 2}},
    {"ac922", {1, 4, 3, 75, 2}},
    {"dgx-a100", {1, 8, 12, 300, 8}},
    {"dgx-a100-40", {1, 8, 12, 300, 8}},
    {"hgx-a100-4", {1, 4, 12, 300, 2}},
    {"hgx-a800-8", {1, 8, 8, 200, 8}},
    {"dgx-h100", {1, 8, 18, 450, 8}},
    {"grand-teton-h100", {1, 8, 18, 450, 8}},
    {"hgx-h100-4", {1, 4, 18, 450, 4}},
    {"hgx-h800-8", {1, 8, 8, 200, 8}},
    {"hgx-h20-8", {1, 8, 18, 450, 8}},
    {"dgx-h200", {1, 8, 18, 450, 8}},
    {"dgx-b200", {1, 8, 18, 900, 8}},
    {"dgx-b300", {1, 8, 18, 900, 8}},
    {"gh200", {1, 1, 0, 0, 1}},
    {"gh200-quad", {1, 4, 18, 450, 4}},
    {"gb200-nvl4", {1, 4, 18, 900, 4}},
    {"gb200-tray", {1, 4, 18, 900, 4}},
    {"gb300-tray", {1, 4, 18, 900, 4}},
    {"gb200-nvl72", {18, 72, 18, 900, 4}},
    {"gb300-nvl72", {18, 72, 18, 900, 4}},
    {"vr-nvl72", {18, 72, 36, 1800, 8}},
    {"hgx-rubin-nvl8", {1, 8, 36, 1800, 8}},
    {"a100-pcie-8", {1, 8, 12, 300, 2}},
    {"a100-pcie-8-no-bridge", {1, 8, 0, 0, 2}},
    {"a40-8", {1, 8, 4, 56.25, 2}},
    {"rtx-a6000-4", {1, 4, 4, 56.25, 0}},
    {"l40s-8", {1, 8, 0, 0, 2}},
    {"rtx-pro-6000-8", {1, 8, 0, 0, 4}},
    {"rtx-4090-8", {1, 8, 0, 0, 1}},
    {"rtx-5090-8", {1, 8, 0, 0, 1}},
    {"t4-4", {1, 4, 0, 0, 1}},
    {"h100-nvl-8", {1, 8, 12, 300, 4}},
    {"h100-pcie-8", {1, 8, 12, 300, 4}},
    {"mi300x-8", {1, 8, 7, 448, 8}},
    {"aws-p4d", {1, 8, 12, 300, 4}},
    {"aws-p4de", {1, 8, 12, 300, 4}},
    {"aws-p5", {1, 8, 18, 450, 32}},
    {"aws-p5e", {1, 8, 18, 450, 32}},
    {"aws-p5en", {1, 8, 18, 450, 16}},
    {"aws-p6-b200", {1, 8, 18, 900, 8}},
    {"aws-p6-b300", {1, 8, 18, 900, 16}},
    {"azure-nc-a100-v4", {1, 4, 12, 300, 1}},
    {"azure-nd-a100-v4", {1, 8, 12, 300, 8}},
    {"azure-ndm-a100-v4", {1, 8, 12, 300, 8}},
    {"azure-nd-h100-v5", {1, 8, 18, 450, 8}},
    {"azure-nd-h200-v5", {1, 8, 18, 450, 8}},
    {"azure-ndv2", {1, 8, 6, 150, 1}},
    {"gcp-a2-highgpu-8g", {1, 8, 12, 300, 1}},
    {"gcp-a3-highgpu-8g", {1, 8, 18, 450, 4}},
    {"gcp-a3-megagpu-8g", {1, 8, 18, 450, 8}},
    {"gcp-a3-ultragpu-8g", {1, 8, 18, 450, 8}},
    {"gcp-a4-highgpu-8g", {1, 8, 18, 900, 8}},
    {"oci-bm-gpu4-8", {1, 8, 12, 300, 16}},
    {"oci-bm-gpu-a100-v2-8", {1, 8, 12, 300, 16}},
    {"oci-bm-gpu-h100-8", {1, 8, 18, 450, 16}},
    {"oci-bm-gpu-h200-8", {1, 8, 18, 450, 8}},
    {"oci-bm-gpu-b200-8", {1, 8, 18, 900, 8}},
};

TEST(Catalogue, EveryMachineIsWhatItsMakerPublishes) {
  for (const CatalogueEntry& entry : catalogue().machines()) {
    SCOPED_TRACE(entry.name);
    ASSERT_TRUE(kPublished.contains(entry.name)) << "add its published figures to this test";
    const Published& published = kPublished.at(entry.name);
    const auto unit = load(entry.name);
    ASSERT_TRUE(unit);
    EXPECT_EQ(unit->parts().hosts, published.hosts);
    EXPECT_EQ(unit->gpus().size(), std::size_t(published.gpus));
    EXPECT_EQ(unit->nics().size(), std::size_t(published.nics * published.hosts));
    for (const DeviceIndex gpu : unit->gpus()) {
      int links = 0;
      Rate rate;
      for (const std::uint32_t i : unit->links_at(gpu)) {
        const Link& link = unit->link(i);
        if (link.kind != LinkKind::nvlink && link.kind != LinkKind::xgmi) continue;
        links += link.count;
        rate = rate + link.rate();
      }
      EXPECT_EQ(links, published.nvlinks) << unit->device(gpu).name;
      EXPECT_NEAR(rate.GBs(), published.GBs, 1e-6) << unit->device(gpu).name;
    }
  }
  EXPECT_EQ(catalogue().machines().size(), kPublished.size());
}

/// The GPU block of what `nvidia-smi topo -m` prints: NVLinks, or the PCIe path.
std::string matrix(const Unit& unit) {
  std::string text;
  for (const DeviceIndex a : unit.gpus()) {
    for (const DeviceIndex b : unit.gpus()) {
      const int links = a == b ? 0 : nvlinks_between(unit, a, b);
      text += links > 0 ? "NV" + std::to_string(links) : name_of(path_kind(unit, a, b, true));
      text += b == unit.gpus().back() ? '\n' : ' ';
    }
  }
  return text;
}

TEST(Catalogue, TopologyMatricesAsNvidiaSmiPrintsThem) {
  EXPECT_EQ(matrix(*load("dgx-1-v100")),
            "X NV1 NV1 NV2 NV2 SYS SYS SYS\n"
            "NV1 X NV2 NV1 SYS NV2 SYS SYS\n"
            "NV1 NV2 X NV2 SYS SYS NV1 SYS\n"
            "NV2 NV1 NV2 X SYS SYS SYS NV1\n"
            "NV2 SYS SYS SYS X NV1 NV1 NV2\n"
            "SYS NV2 SYS SYS NV1 X NV2 NV1\n"
            "SYS SYS NV1 SYS NV1 NV2 X NV2\n"
            "SYS SYS SYS NV1 NV2 NV1 NV2 X\n");
  EXPECT_EQ(matrix(*load("azure-nc-a100-v4")),
            "X NV12 SYS SYS\nNV12 X SYS SYS\nSYS SYS X NV12\nSYS SYS NV12 X\n");
  EXPECT_EQ(matrix(*load("hgx-a100-4")),
            "X NV4 NV4 NV4\nNV4 X NV4 NV4\nNV4 NV4 X NV4\nNV4 NV4 NV4 X\n");
  for (const char* name : {"dgx-2", "dgx-a100", "dgx-h100", "hgx-h800-8", "gb200-nvl72"}) {
    const auto unit = load(name);
    const int links = kPublished.at(name).nvlinks;
    EXPECT_EQ(nvlinks_between(*unit, unit->gpus().front(), unit->gpus().back()), links) << name;
    EXPECT_EQ(unit->island_count(), 1) << name;
  }
  EXPECT_EQ(load("a100-pcie-8")->island_count(), 4);
}

std::string nic_row(const Unit& unit, std::size_t gpu) {
  std::string text;
  for (const DeviceIndex nic : unit.nics())
    text += std::string(text.empty() ? "" : " ") + name_of(path_kind(unit, unit.gpus()[gpu], nic));
  return text;
}

TEST(Catalogue, NicsAreAsNearAsTheMachinesShowThem) {
  EXPECT_EQ(nic_row(*load("dgx-a100"), 0), "PXB PXB SYS SYS SYS SYS SYS SYS");
  EXPECT_EQ(nic_row(*load("dgx-h100"), 1), "NODE PIX NODE NODE SYS SYS SYS SYS");
  EXPECT_EQ(nic_row(*load("gcp-a2-highgpu-8g"), 0), "NODE");
  EXPECT_EQ(nic_row(*load("aws-p4d"), 3), "NODE PIX SYS SYS");
}

TEST(Catalogue, AnNvl72HasItsSwitchesInTraysOfTheirOwn) {
  const auto rack = load("gb200-nvl72");
  ASSERT_EQ(rack->nvswitches().size(), 18u);
  for (const DeviceIndex nvswitch : rack->nvswitches()) {
    EXPECT_EQ(rack->device(nvswitch).host, -1);
    EXPECT_EQ(rack->links_at(nvswitch).size(), 72u) << "every port is used";
  }
  EXPECT_TRUE(rack->has_multicast(0));
}

TEST(Catalogue, MulticastCameWithTheThirdNvswitch) {
  EXPECT_FALSE(load("dgx-a100")->has_multicast(0));
  EXPECT_TRUE(load("dgx-h100")->has_multicast(0));
  EXPECT_FALSE(load("hgx-h100-4")->has_multicast(0));
}

TEST(Catalogue, AffinitiesAreTheKernels) {
  const auto unit = load("dgx-h100");
  EXPECT_EQ(unit->device(unit->cpus()[0]).cpu().affinity,  // 0-55,112-167
            "000000ff,ffffffff,ffff0000,00000000,00ffffff,ffffffff");
  EXPECT_EQ(load("gh200")->device(load("gh200")->cpus()[0]).cpu().affinity,  // 0-71
            "000000ff,ffffffff,ffffffff");
}

TEST(Catalogue, TheIndexAgreesWithTheFiles) {
  std::set<std::string> names;
  for (const CatalogueEntry& entry : catalogue().machines()) {
    SCOPED_TRACE(entry.name);
    const YAML::Node file = YAML::LoadFile(entry.file.string());
    EXPECT_EQ(entry.name, entry.file.stem().string());
    EXPECT_EQ(entry.name, file["name"].as<std::string>());
    EXPECT_EQ(entry.title, file["title"].as<std::string>());
    EXPECT_EQ(entry.status, file["status"].as<std::string>("released"));
    const auto aliases = file["aliases"].as<std::vector<std::string>>(std::vector<std::string>());
    EXPECT_EQ(entry.aliases, aliases);
    EXPECT_TRUE(names.insert(entry.name).second) << "name given twice";
    for (const std::string& alias : aliases)
      EXPECT_TRUE(names.insert(alias).second) << alias << " is given twice";
  }
}

TEST(Catalogue, EveryBlockThatHoldsNumbersNamesItsSource) {
  for (const CatalogueEntry& entry : catalogue().machines()) {
    const YAML::Node file = YAML::LoadFile(entry.file.string());
    EXPECT_TRUE(file["source"]) << entry.name;
    for (const auto& block : file) {
      const auto key = block.first.as<std::string>();
      if (!block.second.IsMap() || key == "sources") continue;
      EXPECT_TRUE(block.second["source"]) << entry.name << ": " << key;
    }
  }
  for (const std::string& name : catalogue().network_names()) {
    const auto plan = catalogue().network(name);
    ASSERT_TRUE(plan) << plan.error().text();
    EXPECT_NE(plan->source.find("http"), std::string::npos) << name;
  }
}

TEST(Catalogue, EveryNetworkJoinsServers) {
  ASSERT_GE(catalogue().network_names().size(), 15u);
  for (const std::string& name : catalogue().network_names()) {
    const auto fabric = catalogue().fabric("dgx-a100*50", name);
    ASSERT_TRUE(fabric) << fabric.error().text();
    EXPECT_EQ(fabric->gpu_count(), 400u);
    EXPECT_EQ(fabric->network().plan().name, name);
    EXPECT_TRUE(route(*fabric, fabric->gpu(0), fabric->gpu(399)).exists()) << name;
  }
}

TEST(Catalogue, ExpressionsAddUpMachines) {
  const auto one = catalogue().fabric("HGX-H100");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->gpu_count(), 8u);
  const auto sum = catalogue().fabric("dgx-h100*4 + dgx-a100*2", "ndr400-rail");
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->gpu_count(), 48u);
  EXPECT_EQ(sum->unit(5).name(), "dgx-a100");
  const auto file = catalogue().fabric(ISLEWAY_SOURCE_DIR "/machines/dgx-2.yaml*3");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->gpu_count(), 48u);
}

TEST(Catalogue, WrongExpressionsSayWhatWasMeant) {
  const struct {
    const char *expression, *network, *says;
  } wrong[] = {
      {"dgx-h10", "", "dgx-h100"},
      {"dgx-h100*", "", "no number of machines"},
      {"dgx-h100*0", "", "1 to 1000000"},
      {"dgx-h100*99999999999", "", "1 to 1000000"},
      {"dgx-h100+", "", "name is missing"},
      {"", "", "name is missing"},
      {"dgx-h100*x", "", "\"x\""},
      {"dgx-h100*2", "ndr400-rial", "ndr400-rail"},
      {"no/such/file.yaml", "", "no/such"},
      {"dgx-h100*900000+dgx-a100*900000", "", "at most 1000000"},
  };
  for (const auto& row : wrong) {
    const auto fabric = catalogue().fabric(row.expression, row.network);
    ASSERT_FALSE(fabric) << row.expression;
    EXPECT_NE(fabric.error().text().find(row.says), std::string::npos)
        << row.expression << ": " << fabric.error().text();
  }
}

TEST(Catalogue, IsFoundFromTheEnvironmentOrFromWhereTheProgramLies) {
  for (const char* folder : {ISLEWAY_SOURCE_DIR, ISLEWAY_SOURCE_DIR "/machines"}) {
    setenv("ISLEWAY_DATA", folder, 1);
    EXPECT_TRUE(Catalogue::open_default()) << folder;
  }
  setenv("ISLEWAY_DATA", "/nonexistent", 1);
  EXPECT_FALSE(Catalogue::open_default());
  unsetenv("ISLEWAY_DATA");
  const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
  const bool inside = program.starts_with(ISLEWAY_SOURCE_DIR "/");
  EXPECT_EQ(Catalogue::open_default().has_value(), inside);
}

TEST(Catalogue, AFolderThatIsNoneSaysHowToSetIt) {
  const auto opened = Catalogue::open("/nonexistent");
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().text().find("ISLEWAY_DATA"), std::string::npos);
}

}  // namespace
}  // namespace isleway
