// Benchmarks of copies, and what NCCL's log says beside the topology.
#include <gtest/gtest.h>

#include <algorithm>

#include "isleway/core/file.hpp"
#include "unit/formats/reading.hpp"

namespace isleway::formats {
extern const Reader nvbandwidth_reader;
extern const Reader p2p_test_reader;
extern const Reader nccl_info_reader;

namespace {

std::string seed(const std::string& name) {
  return read_file(std::string(ISLEWAY_SOURCE_DIR) + "/fuzz/corpus/" + name).value();
}

CopyTables copies(const Reader& reader, const std::string& text) {
  const auto document = read_with(reader, text);
  if (!document) throw std::runtime_error(document.error().text());
  return std::get<CopyTables>(document->content);
}

TEST(Nvbandwidth, ReadsEveryTableOfTheText) {
  const CopyTables found = copies(nvbandwidth_reader, seed("nvbandwidth/text.txt"));
  ASSERT_EQ(found.devices.size(), 2u);
  EXPECT_EQ(found.devices[1], "NVIDIA A100-SXM4-80GB");
  ASSERT_EQ(found.tables.size(), 4u);
  EXPECT_EQ(found.tables[0].name, "host_to_device_memcpy_ce");
  EXPECT_EQ(found.tables[0].cells[0][1], 12.40);
  EXPECT_EQ(found.tables[2].name, "device_to_device_bidirectional_memcpy_write_ce");
  EXPECT_NE(found.tables[2].description.find("Total"), std::string::npos);
  EXPECT_FALSE(found.tables[2].cells[0][0]);
  EXPECT_EQ(found.tables[2].cells[1][0], 502.84);
}

TEST(Nvbandwidth, ReadsItsJson) {
  const CopyTables found = copies(nvbandwidth_reader, seed("nvbandwidth/json.txt"));
  ASSERT_EQ(found.devices.size(), 2u);
  EXPECT_EQ(found.devices[0], "NVIDIA H100 80GB HBM3");
  ASSERT_EQ(found.tables.size(), 2u);
  EXPECT_EQ(found.tables[1].cells[0][1], 391.2);
  EXPECT_FALSE(found.tables[1].cells[1][1]);
}

TEST(Nvbandwidth, TakesTheTotalOfBothDirectionsFromJson) {
  const CopyTables found =
      copies(nvbandwidth_reader,
             R"({"nvbandwidth": {"testcases": [{"name": "t", "status": "Passed", "bandwidth_matrix":
         [["N/A", "1"], ["2", "N/A"], ["N/A", "3"], ["4", "N/A"], ["N/A", "5"], ["6", "N/A"]]}]}})");
  ASSERT_EQ(found.tables[0].cells.size(), 2u);
  EXPECT_EQ(found.tables[0].cells[1][0], 6.0);
}

TEST(Nvbandwidth, SaysWhatIsMissing) {
  const std::string text = seed("nvbandwidth/json.txt");
  const auto cut = read_with(nvbandwidth_reader, text.substr(0, text.size() / 2));
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().hint.find("whole"), std::string::npos);
  EXPECT_FALSE(read_with(nvbandwidth_reader, std::string(100'000, '[')));
}

TEST(P2pTest, ReadsMatricesButNotTheHostsLatencies) {
  const CopyTables found = copies(p2p_test_reader, seed("p2p_test/tool.txt"));
  ASSERT_EQ(found.devices.size(), 2u);
  EXPECT_EQ(found.devices[0], "NVIDIA A40");
  ASSERT_EQ(found.tables.size(), 3u);
  EXPECT_EQ(found.tables[1].name, "Unidirectional P2P=Enabled Bandwidth");
  EXPECT_EQ(found.tables[1].cells[0][1], 51.90);
  EXPECT_EQ(found.tables[2].name, "P2P=Enabled Latency");
  EXPECT_EQ(found.tables[2].cells[1][0], 1.25);
}

TEST(NcclInfo, FindsWhatWasUsedAndWhatIsMissing) {
  const NcclInfo info = find_nccl_info(seed("nccl_info/sockets.txt"));
  EXPECT_EQ(info.version, "2.21.5");
  EXPECT_EQ(info.ranks, 4);
  EXPECT_EQ(info.nodes, 2);
  EXPECT_EQ(info.collective_channels, 2);
  EXPECT_EQ(info.nvls_channels, 0);
  ASSERT_EQ(info.transports.size(), 3u);
  EXPECT_EQ(info.transports[0].text, "P2P/CUMEM");
  EXPECT_EQ(info.transports[1].text, "NET/Socket");
  EXPECT_EQ(info.transports[2].text, "SHM");
  ASSERT_EQ(info.settings.size(), 1u);
  EXPECT_EQ(info.settings[0].text, "NCCL_IB_DISABLE=1");
  EXPECT_EQ(info.settings[0].line, 3);
  EXPECT_EQ(info.warnings.size(), 1u);
  EXPECT_EQ(info.remarks.size(), 2u);
}

TEST(NcclInfo, YieldsToATableInTheSameLog) {
  const std::string log = seed("nccl_info/sockets.txt") + seed("nccl_tests/current.txt");
  ReadContext context = context_for();
  context.want = ReadContext::Want::measurements;
  const auto document = read(log, context);
  ASSERT_TRUE(document) << document.error().text();
  EXPECT_TRUE(std::holds_alternative<NcclTestsTables>(document->content));
  EXPECT_FALSE(find_nccl_info(log).empty());
}

}  // namespace
}  // namespace isleway::formats
