#include "isleway/report/bench.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace isleway::report {
namespace {

nccl::BenchRow row_of(std::int64_t bytes, double time_us, double algbw, double busbw) {
  nccl::BenchRow row;
  row.size = {bytes, bytes / 4};
  row.time = Time::us(time_us);
  row.algbw_GBs = algbw;
  row.busbw_GBs = busbw;
  row.in_place = row;
  row.decision =
      nccl::Decision{nccl::Algorithm::nvls, nccl::Protocol::simple, 16, 512, {}, Time::us(61.25)};
  row.bottleneck = "GPU0-NVSwitch1";
  return row;
}

BenchRun run_of(Collective collective) {
  BenchRun run;
  run.machine = "box";
  run.collective = collective;
  run.ranks = 8;
  run.nodes = 1;
  run.engine = "flow";
  run.nccl_version = "2.28.9";
  return run;
}

TEST(NcclTests, RowHasItsColumnsAndWidths) {
  EXPECT_EQ(nccl_tests_row(run_of(Collective::all_reduce), row_of(1048576, 41.236, 25.43, 44.5)),
            "     1048576        262144     float     sum      -1"
            "    41.24   25.43   44.50     N/A    41.24   25.43   44.50     N/A\n");
}

TEST(NcclTests, NumbersLoseDecimalsBeforeTheyLoseTheirColumn) {
  const std::string row =
      nccl_tests_row(run_of(Collective::all_gather), row_of(8, 123456.78, 1234.5678, 98765432));
  EXPECT_NE(row.find("  123457  1234.6   1e+08     N/A"), std::string::npos) << row;
  const std::string slow = nccl_tests_row(run_of(Collective::all_gather), row_of(8, 1.5e9, 0, 0));
  EXPECT_NE(slow.find("  1.5e+09    0.00    0.00     N/A"), std::string::npos) << slow;
}

TEST(NcclTests, RootAndReductionOnlyWhereThereAreAny) {
  BenchRun run = run_of(Collective::broadcast);
  run.root = 3;
  EXPECT_NE(nccl_tests_row(run, row_of(8, 1, 1, 1)).find("   float    none       3"),
            std::string::npos);
  run.collective = Collective::all_to_all;
  EXPECT_NE(nccl_tests_row(run, row_of(8, 1, 1, 1)).find("   float    none      -1"),
            std::string::npos);
}

TEST(NcclTests, CheckedRowsHaveNoWrongElements) {
  nccl::BenchRow row = row_of(8, 1, 1, 1);
  row.checked = true;
  EXPECT_EQ(nccl_tests_row(run_of(Collective::all_reduce), row).find("N/A"), std::string::npos);
}

TEST(NcclTests, ExtraColumnsStandBehindTheOthers) {
  const std::string plain = nccl_tests_row(run_of(Collective::all_reduce), row_of(8, 1, 1, 1));
  const std::string more =
      nccl_tests_row(run_of(Collective::all_reduce), row_of(8, 1, 1, 1), {true, true});
  EXPECT_EQ(more.substr(0, plain.size() - 1), plain.substr(0, plain.size() - 1));
  EXPECT_EQ(more.substr(plain.size() - 1), "    61.25  NVLS       SIMPLE   16  GPU0-NVSwitch1\n");
}

TEST(NcclTests, FooterNamesTheAverageAndTheProgram) {
  EXPECT_EQ(nccl_tests_footer(Collective::all_to_all, 123.4567),
            "# Out of bounds values : 0 OK\n"
            "# Avg bus bandwidth    : 123.457 \n"
            "#\n# Collective test concluded: alltoall_perf\n#\n\n");
}

TEST(BenchJson, OneRunIsAnObjectSeveralAreAnArray) {
  BenchRun run = run_of(Collective::all_reduce);
  run.rows = {row_of(1048576, 41.236, 25.43, 44.5)};
  const auto json = nlohmann::json::parse(bench_json(std::span(&run, 1)));
  EXPECT_EQ(json["machine"], "box");
  EXPECT_EQ(json["collective"], "all_reduce");
  EXPECT_EQ(json["ranks"], 8);
  EXPECT_EQ(json["nodes"], 1);
  EXPECT_EQ(json["engine"], "flow");
  EXPECT_EQ(json["nccl_version"], "2.28.9");
  const auto& row = json["rows"][0];
  EXPECT_EQ(row["bytes"], 1048576);
  EXPECT_EQ(row["time_us"], 41.236);
  EXPECT_EQ(row["algbw_GBs"], 25.43);
  EXPECT_EQ(row["busbw_GBs"], 44.5);
  EXPECT_EQ(row["algorithm"], "NVLS");
  EXPECT_EQ(row["protocol"], "SIMPLE");
  EXPECT_EQ(row["channels"], 16);
  EXPECT_EQ(row["nccl_estimate_us"], 61.25);
  EXPECT_EQ(row["bottleneck"], "GPU0-NVSwitch1");
  EXPECT_EQ(row["limited_by_sender"], false);
  EXPECT_TRUE(nlohmann::json::parse(bench_json(std::vector{run, run})).is_array());
}

TEST(BenchJson, NothingIsDoneForNoBytes) {
  BenchRun run = run_of(Collective::all_gather);
  run.rows.resize(1);
  const auto json = nlohmann::json::parse(bench_json(std::span(&run, 1)));
  EXPECT_TRUE(json["rows"][0]["algorithm"].is_null());
  EXPECT_TRUE(json["rows"][0]["bottleneck"].is_null());
}

TEST(Plot, RisesFromLeftToRight) {
  BenchRun run = run_of(Collective::all_reduce);
  for (int i = 0; i < 8; ++i) run.rows.push_back(row_of(1024 << i, 1, i, i * 50));
  const std::string plot = busbw_plot(run);
  EXPECT_NE(plot.find("#     500 |"), std::string::npos) << plot;
  EXPECT_NE(plot.find("1K"), std::string::npos);
  EXPECT_NE(plot.find("128K\n"), std::string::npos);
}

TEST(Plot, NeedsTwoSizes) {
  BenchRun run = run_of(Collective::all_reduce);
  EXPECT_EQ(busbw_plot(run), "");
  run.rows = {row_of(8, 1, 1, 1), row_of(8, 1, 1, 1)};
  EXPECT_EQ(busbw_plot(run), "");
  run.rows = {row_of(8, 1, 0, 0), row_of(16, 1, 0, 0)};
  EXPECT_EQ(busbw_plot(run), "");
}

}  // namespace
}  // namespace isleway::report
