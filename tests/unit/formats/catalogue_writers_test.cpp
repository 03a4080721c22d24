// The catalogue's machines through every writer.
#include <nlohmann/json.hpp>

#include "isleway/core/file.hpp"
#include "unit/formats/reading.hpp"

namespace isleway::formats {
extern const Reader nccl_xml_reader;
extern const Reader catalogue_yaml_reader;

namespace {

std::shared_ptr<const Unit> from_catalogue(const char* name) {
  return catalogue().unit(name).value();
}

TEST(CatalogueYaml, ReadsTheCataloguesOwnFiles) {
  for (const char* name : {"dgx-h100", "dgx-1-v100", "gb200-nvl72"}) {
    const auto text = read_file(std::string(ISLEWAY_SOURCE_DIR) + "/machines/" + name + ".yaml");
    ASSERT_TRUE(text);
    const auto document = read(*text, context_for());
    ASSERT_TRUE(document) << document.error().text();
    EXPECT_EQ(document->format, "yaml");
    EXPECT_EQ(std::get<std::shared_ptr<const Unit>>(document->content)->gpus().size(),
              from_catalogue(name)->gpus().size());
  }
}

TEST(CatalogueYaml, RefusesHostileNesting) {
  EXPECT_FALSE(read_with(catalogue_yaml_reader, "name: " + std::string(100'000, '[')));
  EXPECT_FALSE(read_with(catalogue_yaml_reader, std::string(1000, '-')));
  std::string dashes;
  for (int i = 0; i < 100'000; ++i) dashes += "- ";
  EXPECT_FALSE(read_with(catalogue_yaml_reader, "name:\n" + dashes));
}

TEST(NcclXmlWriter, MachinesWithoutAddressesGetThem) {
  const auto unit = from_catalogue("dgx-h100");
  const auto again = machine(nccl_xml_reader, written("nccl-xml", unit));
  EXPECT_EQ(again->gpus().size(), unit->gpus().size());
  EXPECT_EQ(again->nics().size(), unit->nics().size());
  EXPECT_EQ(again->nvswitches().size(), unit->nvswitches().size());
  EXPECT_EQ(again->island_count(), 1);
  for (const DeviceIndex gpu : again->gpus())
    for (const DeviceIndex nic : again->nics())
      EXPECT_EQ(path_kind(*again, gpu, nic), path_kind(*unit, *unit->find(again->device(gpu).name),
                                                       *unit->find(again->device(nic).name)));
}

TEST(NcclXmlWriter, RacksAreFusedOrWrittenByHost) {
  const auto rack = from_catalogue("gb200-nvl72");
  EXPECT_EQ(machine(nccl_xml_reader, written("nccl-xml", rack))->gpus().size(), 4u);
  WriteOptions all;
  all.include_all = true;
  const auto fused = machine(nccl_xml_reader, written("nccl-xml", rack, all));
  EXPECT_EQ(fused->gpus().size(), 72u);
  EXPECT_EQ(fused->parts().hosts, rack->parts().hosts);
  EXPECT_EQ(fused->island_count(), 1);
}

TEST(JsonWriter, HoldsTheMachine) {
  const auto json = nlohmann::json::parse(written("json", from_catalogue("dgx-h100")));
  EXPECT_EQ(json["schema"], "isleway.fabric/1");
  EXPECT_EQ(json["gpus"], 8);
  EXPECT_EQ(json["islands"], 1);
  EXPECT_TRUE(json["network"].is_null());
  const auto& unit = json["templates"][0];
  EXPECT_EQ(unit["devices"].size(), from_catalogue("dgx-h100")->devices().size());
  double nvlink = 0;
  for (const auto& link : unit["links"]) {
    EXPECT_LT(link["a"].get<std::size_t>(), unit["devices"].size());
    if (link["kind"] == "nvlink" && unit["devices"][link["a"].get<std::size_t>()]["name"] == "GPU0")
      nvlink += link["rate_GBs"].get<double>();
  }
  EXPECT_DOUBLE_EQ(nvlink, 450);
}

TEST(JsonWriter, HoldsTheNetwork) {
  const auto fabric = catalogue().fabric("dgx-h100*4");
  ASSERT_TRUE(fabric) << fabric.error().text();
  const auto json = nlohmann::json::parse(*find_writer("json")->write(*fabric, {}));
  EXPECT_EQ(json["units"].size(), 4u);
  EXPECT_EQ(json["templates"].size(), 1u);
  EXPECT_EQ(json["network"]["cables"].size(), fabric->network().attachments().size());
}

TEST(JsonWriter, NamesInAnyEncodingAreWritten) {
  const auto unit = machine(
      nccl_xml_reader,
      "<system><cpu numaid=\"0\"><nic><net name=\"\xff\xfe\" dev=\"0\"/></nic></cpu></system>");
  EXPECT_NO_THROW(nlohmann::json::parse(written("json", unit)));
}

TEST(DotWriter, DrawsEachDeviceAndLinkOnce) {
  const auto unit = from_catalogue("dgx-a100");
  const std::string dot = written("dot", unit);
  std::size_t nodes = 0, edges = 0;
  for (std::size_t at = dot.find("fillcolor"); at != std::string::npos;
       at = dot.find("fillcolor", at + 1))
    ++nodes;
  for (std::size_t at = dot.find(" -- "); at != std::string::npos; at = dot.find(" -- ", at + 1))
    ++edges;
  EXPECT_EQ(nodes, unit->devices().size());
  EXPECT_EQ(edges, unit->links().size());
  EXPECT_NE(dot.find("label=\"NV2\""), std::string::npos);
  EXPECT_NE(dot.find("label=\"gen4 x16\""), std::string::npos);
}

TEST(DotWriter, QuotesNames) {
  const auto unit =
      machine(nccl_xml_reader,
              "<system><cpu numaid=\"0\"><nic><net name='a\"b\\' dev=\"0\"/></nic></cpu></system>");
  EXPECT_NE(written("dot", unit).find(R"(label="a\"b\\")"), std::string::npos);
}

}  // namespace
}  // namespace isleway::formats
