#include <gtest/gtest.h>

#include "unit/formats/reading.hpp"

namespace isleway::formats {
extern const Reader nccl_tests_json_reader;
namespace {

/// As nccl-tests 2.19 writes it with -J, on two GPUs.
constexpr std::string_view kTwoGpus = R"({
  "version": 3,
  "start_time": "2026-01-05 10:11:12",
  "args": ["./build/all_gather_perf", "-b", "1M", "-e", "2M", "-g", "2", "-J", "out.json"],
  "env": ["NCCL_DEBUG=WARN"],
  "nccl_version": 22903,
  "config": {
    "nthreads": 1, "ngpus": 2, "minimum_bytes": 1048576, "maximum_bytes": 2097152,
    "step_factor": 2, "graph": 1, "validation": 1,
    "devices": [
      {"rank": 0, "group": 0, "pid": 77, "hostname": "tray-a", "device": 0,
       "device_hex": "0000:1b:00", "device_info": "NVIDIA H100 80GB HBM3"},
      {"rank": 1, "group": 0, "pid": 77, "hostname": "tray-a", "device": 1,
       "device_hex": "0000:43:00", "device_info": "NVIDIA H100 80GB HBM3"}
    ]
  },
  "results": [
    {"size": 1048576, "count": 131072, "type": "float", "redop": "none", "root": "    -1",
     "out_of_place": {"time": 21.5, "alg_bw": 48.77, "bus_bw": 24.38, "nwrong": 0.0},
     "in_place": {"time": 21.1, "alg_bw": 49.7, "bus_bw": 24.85, "nwrong": null},
     "actual_iterations": 20},
    {"size": 2097152, "count": 262144, "type": "float", "redop": "none", "root": "    -1",
     "out_of_place": {"time": 26.0, "alg_bw": 80.6, "bus_bw": 40.3, "nwrong": 0.0},
     "in_place": {"time": 25.8, "alg_bw": 81.2, "bus_bw": 40.6, "nwrong": 2.0}}
  ],
  "average_bus_bandwidth": {"bandwidth": 32.5, "okay": "unchecked"}
})";

Result<Document> read_text(std::string_view text) {
  return read_with(nccl_tests_json_reader, text);
}

const NcclTestsTable& table_of(const Result<Document>& document) {
  if (!document) throw std::runtime_error(document.error().text());
  return std::get<NcclTestsTables>(document->content).at(0);
}

TEST(NcclTestsJson, HoldsWhatTheTableWouldAndMore) {
  const auto document = read_text(kTwoGpus);
  const NcclTestsTable& table = table_of(document);
  EXPECT_EQ(table.collective, "all_gather");
  EXPECT_EQ(table.nccl_version, "2.29.3");
  EXPECT_EQ(table.ranks, 2);
  EXPECT_EQ(table.gpus_per_process, 2);
  EXPECT_TRUE(table.cuda_graph);
  EXPECT_EQ(table.hosts, std::vector<std::string>({"tray-a", "tray-a"}));
  EXPECT_EQ(table.devices.at(1), "NVIDIA H100 80GB HBM3");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[1].bytes, 2097152);
  EXPECT_EQ(table.rows[1].root, -1);
  EXPECT_DOUBLE_EQ(table.rows[1].out_of_place->time_us, 26.0);
  EXPECT_EQ(table.rows[0].in_place->wrong, "N/A");
  EXPECT_EQ(table.rows[1].in_place->wrong, "2");
  EXPECT_DOUBLE_EQ(table.average_busbw.value(), 32.5);
  EXPECT_TRUE(document->notices.empty());
}

TEST(NcclTestsJson, GivesOfACutFileWhatItStillHas) {
  const std::size_t second = kTwoGpus.find("\"size\": 2097152");
  const auto document = read_text(kTwoGpus.substr(0, second));
  const NcclTestsTable& table = table_of(document);
  EXPECT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.ranks, 2);
  ASSERT_EQ(document->notices.size(), 1U);
  EXPECT_EQ(document->notices.begin()->kind, Notice::Kind::incomplete);
}

TEST(NcclTestsJson, IsNeverBroughtDownByACut) {
  for (std::size_t length = 0; length < kTwoGpus.size(); length += 7) {
    const auto document = read_text(kTwoGpus.substr(0, length));
    const bool has_row = length > kTwoGpus.find("\"actual_iterations\": 20}");
    if (length < kTwoGpus.find("\"actual_iterations\"")) {
      EXPECT_FALSE(document);
    } else if (has_row && length > kTwoGpus.find("\"size\": 2097152")) {
      EXPECT_TRUE(document);
    }
  }
}

TEST(NcclTestsJson, IsKnownByItsContent) {
  EXPECT_GE(nccl_tests_json_reader.recognise(kTwoGpus), 90);
  EXPECT_EQ(nccl_tests_json_reader.recognise("{\"size\": 3}"), 0);
}

TEST(NcclTestsJson, SaysWhatIsMissingWithoutResults) {
  const auto document = read_text("{\"out_of_place\": 1, \"bus_bw\": 2, \"size\": [[[[]]]]}");
  ASSERT_FALSE(document);
  EXPECT_NE(document.error().text().find("holds no result"), std::string::npos);
}

}  // namespace
}  // namespace isleway::formats
