#include <gtest/gtest.h>

#include "isleway/core.hpp"
#include "isleway/verify.hpp"

namespace isleway::verify {
namespace {

constexpr const char* kTable = R"(source: https://example.org/table
measured: "8 GPUs"
platform: H100
site: here
machine: dgx-h100
collective: all_gather
ranks: 8
nccl: "2.27.3"
env:
  NCCL_NVLS_ENABLE: "0"
gpus_per_process: 8
iterations: 100
rows:
  - [1024, 20.5, 19.25]
  - [2048, 21]
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(Measurement, IsReadWhole) {
  const auto table = measured_table_from_yaml(kTable, "some/folder/h100_here.yaml");
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->id, "h100_here");
  EXPECT_EQ(table->collective, Collective::all_gather);
  EXPECT_EQ(table->nccl.version.text(), "2.27.3");
  EXPECT_EQ(table->nccl.env.at("NCCL_NVLS_ENABLE"), "0");
  EXPECT_EQ(table->nccl.launch.gpus_per_process, 8);
  EXPECT_EQ(table->iterations, 100);
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].bytes, 1024);
  EXPECT_EQ(table->rows[0].time, Time::us(20.5));
  EXPECT_EQ(table->rows[0].in_place, Time::us(19.25));
  EXPECT_FALSE(table->rows[1].in_place);
}

TEST(Measurement, SaysWhatIsWrongAndWhere) {
  const auto message = [](const std::string& text) {
    const auto table = measured_table_from_yaml(text, "t.yaml");
    return table ? std::string("accepted") : table.error().text();
  };
  EXPECT_NE(message(with(kTable, "[2048, 21]", "[2048, fast]")).find("t.yaml:15:"),
            std::string::npos);
  EXPECT_NE(message(with(kTable, "[2048, 21]", "[2048]")).find("two or three numbers"),
            std::string::npos);
  EXPECT_NE(message(with(kTable, "all_gather", "all_gathr")).find("all_gathr"), std::string::npos);
  EXPECT_NE(message(with(kTable, "site: here", "sight: here")).find("site"), std::string::npos);
  EXPECT_NE(message(with(kTable, "[1024, 20.5, 19.25]", "[-1024, 20.5]")).find("positive"),
            std::string::npos);
}

TEST(Measurement, WhatNothingStandsForNeedsNoMachine) {
  const std::string text =
      with(with(with(kTable, "platform: H100", "left_out: sockets"), "site: here\n", ""),
           "machine: dgx-h100\n", "");
  const auto table = measured_table_from_yaml(text, "t.yaml");
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->left_out, "sockets");
}

TEST(Measurement, EveryTableThatComesWithTheProgramIsSound) {
  const auto tables =
      load_measured_tables(std::filesystem::path(ISLEWAY_SOURCE_DIR) / "measurements/collectives");
  ASSERT_TRUE(tables) << tables.error().text();
  EXPECT_GT(tables->size(), 100U);
  const auto catalogue = Catalogue::open(std::filesystem::path(ISLEWAY_SOURCE_DIR) / "machines");
  ASSERT_TRUE(catalogue);
  for (const MeasuredTable& table : *tables) {
    EXPECT_FALSE(table.rows.empty()) << table.id;
    if (!table.left_out.empty()) continue;
    const auto fabric = fabric_of(table, *catalogue);
    EXPECT_TRUE(fabric) << table.id << ": " << fabric.error().text();
  }
}

}  // namespace
}  // namespace isleway::verify
