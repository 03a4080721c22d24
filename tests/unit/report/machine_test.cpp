#include "isleway/report/machine.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "isleway/report/copies.hpp"

namespace isleway::report {
namespace {

const Catalogue& catalogue() {
  static const Catalogue opened = Catalogue::open(ISLEWAY_SOURCE_DIR "/machines").value();
  return opened;
}

Fabric machine(std::string_view expression) { return catalogue().fabric(expression).value(); }

int boxes(const pugi::xml_document& svg, const char* style) {
  int count = 0;
  for (const pugi::xml_node rect : svg.child("svg").children("rect"))
    count += rect.attribute("class").value() == std::string_view(style);
  return count;
}

TEST(MachineSvg, DrawsEveryDeviceOfAHostOnce) {
  pugi::xml_document svg;
  const std::string text = machine_svg(machine("dgx-h100")).value();
  ASSERT_TRUE(svg.load_string(text.c_str()));
  EXPECT_EQ(boxes(svg, "gpu"), 8);
  EXPECT_EQ(boxes(svg, "nvswitch"), 4);
  EXPECT_EQ(boxes(svg, "island"), 1);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
}

TEST(MachineSvg, StaysInsideItsFrame) {
  for (const CatalogueEntry& entry : catalogue().machines()) {
    pugi::xml_document svg;
    const auto text = machine_svg(machine(entry.name));
    ASSERT_TRUE(text) << entry.name;
    ASSERT_TRUE(svg.load_string(text->c_str())) << entry.name;
    const pugi::xml_node root = svg.child("svg");
    const double width = root.attribute("width").as_double();
    const double height = root.attribute("height").as_double();
    for (const pugi::xml_node rect : root.children("rect")) {
      EXPECT_GE(rect.attribute("x").as_double(), 0) << entry.name;
      EXPECT_GE(rect.attribute("width").as_double(), 0) << entry.name;
      EXPECT_LE(rect.attribute("x").as_double() + rect.attribute("width").as_double(), width + 1)
          << entry.name;
      EXPECT_LE(rect.attribute("y").as_double() + rect.attribute("height").as_double(), height + 1)
          << entry.name;
    }
  }
}

TEST(MachineSvg, NamesAreEscaped) {
  pugi::xml_document svg;
  const Fabric fabric = machine("dgx-h100*2").renamed("<a & \"b\">");
  ASSERT_TRUE(svg.load_string(machine_svg(fabric)->c_str()));
  EXPECT_STREQ(svg.child("svg").child("title").text().get(), "<a & \"b\">");
}

TEST(MachineText, SaysWhatAnIslandIs) {
  const std::string text = machine_text(machine("dgx-h100"), catalogue().parts());
  EXPECT_NE(text.find("1 of 8 GPUs: 18 of 18 NVLinks a GPU"), std::string::npos) << text;
  EXPECT_NE(text.find("multicast (NVLS)"), std::string::npos) << text;
}

TEST(MachineJson, CountsDevicesAndPaths) {
  const auto json = nlohmann::json::parse(machine_json(machine("dgx-h100"), catalogue().parts()));
  EXPECT_EQ(json["gpus"], 8);
  EXPECT_EQ(json["units"][0]["gpu_paths"][0][1], "NV18");
  EXPECT_EQ(json["units"][0]["gpu_paths"][3][3], "X");
  EXPECT_TRUE(json["network"].is_null());
}

TEST(MachineJson, ClustersHaveANetwork) {
  const Fabric fabric = catalogue().fabric("dgx-h100*4", "ndr400-rail").value();
  const auto json = nlohmann::json::parse(machine_json(fabric, catalogue().parts()));
  EXPECT_EQ(json["gpus"], 32);
  EXPECT_EQ(json["units"][0]["count"], 4);
  EXPECT_EQ(json["network"]["name"], "ndr400-rail");
  EXPECT_FALSE(json["network"]["tiers"].empty());
}

CopyMatrices two_gpus() {
  CopyMatrices copies;
  copies.unidirectional_GBs = {{2500, 376.04}, {375, 2500}};
  copies.bidirectional_GBs = {{2500, 750}, {750, 2500}};
  copies.bidirectional_read_GBs = {{2500, 660}, {660, 2500}};
  copies.unidirectional_no_p2p_GBs = copies.bidirectional_no_p2p_GBs = {{2500, 30}, {30, 2500}};
  copies.latency_us = copies.latency_no_p2p_us = {{2, 2.5}, {2.5, 2}};
  copies.path = {{PathKind::loc, PathKind::nvl}, {PathKind::nvl, PathKind::loc}};
  copies.peer_access = {{true, true}, {true, true}};
  return copies;
}

TEST(Copies, AsP2pBandwidthLatencyTestPrintsThem) {
  const Fabric fabric = with_first_gpus(machine("dgx-h100"), 2).value();
  const std::string text = p2p_test_text(fabric, catalogue().parts(), two_gpus());
  EXPECT_NE(text.find("Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n"
                      "   D\\D     0      1 \n"
                      "     0 2500.00 376.04 \n"
                      "     1 375.00 2500.00 \n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("     D\\D     0     1\n     0\t     1     1\n"), std::string::npos) << text;
}

TEST(Copies, NvbandwidthHasNoDiagonal) {
  const Fabric fabric = with_first_gpus(machine("dgx-h100"), 2).value();
  const std::string text =
      nvbandwidth_text(fabric, catalogue().parts(), two_gpus(), {{55.4, 55.4}, {55.1, 55.1}});
  EXPECT_NE(text.find("Running device_to_device_memcpy_write_ce.\n"
                      "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n"
                      "           0         1\n"
                      " 0       N/A    376.04\n"
                      " 1    375.00       N/A\n\n"
                      "SUM device_to_device_memcpy_write_ce 751.04\n\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("SUM device_to_device_bidirectional_memcpy_read_ce_total 1320.00\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace isleway::report
