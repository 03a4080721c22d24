// Comparing against simulated measurements, whose cause is known.
#include "isleway/verify/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace isleway::verify {
namespace {

const Catalogue& catalogue() {
  static const Catalogue all = [] {
    auto opened = Catalogue::open(std::string(ISLEWAY_SOURCE_DIR) + "/machines");
    if (!opened) throw std::runtime_error(opened.error().text());
    return *std::move(opened);
  }();
  return all;
}

Setup setup_of(const char* machine, const char* network = "") {
  return {catalogue().fabric(machine, network).value(), {}};
}

struct Bench {
  std::unique_ptr<Engine> engine = make_analytic_engine();
  formats::NcclInfo log;
  CompareContext context() const { return {catalogue().parts(), *engine, log}; }

  /// What nccl-tests would print on `setup`; every time is `slower` times what is simulated.
  formats::NcclTestsTable table(const verify::Setup& setup,
                                Collective collective = Collective::all_reduce,
                                double slower = 1) const {
    const auto communicator =
        nccl::Communicator::create(setup.fabric, catalogue().parts(), setup.options).value();
    formats::NcclTestsTable table;
    table.collective = name_of(collective);
    table.ranks = communicator->ranks();
    for (std::int64_t bytes = 1 << 10; bytes <= std::int64_t{1} << 32; bytes *= 4) {
      nccl::BenchCall call;
      call.collective = collective;
      const auto row = nccl::bench(setup.fabric, *communicator, *engine, call, bytes).value();
      formats::NcclTestsRow printed;
      printed.bytes = bytes;
      printed.type = "float";
      printed.out_of_place = formats::NcclTestsRow::Side{
          row.time.us() * slower, row.algbw_GBs / slower, row.busbw_GBs / slower, "0"};
      table.rows.push_back(std::move(printed));
    }
    return table;
  }
};

bool names(const Comparison& comparison, const char* key) {
  return std::any_of(comparison.causes.begin(), comparison.causes.end(),
                     [&](const Cause& cause) { return cause.key == key; });
}

TEST(CompareTable, CallsWhatIsAsExpectedGood) {
  const Bench bench;
  const verify::Setup setup = setup_of("dgx-h100");
  for (const Collective collective : {Collective::all_reduce, Collective::all_to_all}) {
    const auto result = compare_table(bench.table(setup, collective), setup, bench.context());
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->verdict, Verdict::good) << result->why;
    EXPECT_NEAR(result->error, 0, 1e-9);
    EXPECT_TRUE(result->causes.empty());
  }
}

TEST(CompareTable, ToleratesWhatTheModelErrs) {
  const Bench bench;
  const verify::Setup setup = setup_of("dgx-a100");
  const auto table = bench.table(setup, Collective::all_reduce, 1.15);
  EXPECT_EQ(compare_table(table, setup, bench.context())->verdict, Verdict::good);
}

struct KnownCause {
  const char *key, *machine, *network, *variable, *value;
};

class CompareKnownCause : public testing::TestWithParam<KnownCause> {};

TEST_P(CompareKnownCause, IsFound) {
  const KnownCause& cause = GetParam();
  const Bench bench;
  const verify::Setup healthy = setup_of(cause.machine, cause.network);
  verify::Setup sick = healthy;
  sick.options.env[cause.variable] = cause.value;
  const auto result = compare_table(bench.table(sick), healthy, bench.context());
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_GE(result->verdict, Verdict::warning) << result->why;
  EXPECT_TRUE(result->departure);
  EXPECT_TRUE(names(*result, cause.key));
  ASSERT_FALSE(result->causes.empty());
  EXPECT_NEAR(result->causes[0].error, 0, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    All, CompareKnownCause,
    testing::Values(KnownCause{"p2p-off", "dgx-a100", "", "NCCL_P2P_DISABLE", "1"},
                    KnownCause{"ll-forced", "dgx-h100", "", "NCCL_PROTO", "LL"},
                    KnownCause{"tree-forced", "dgx-h100", "", "NCCL_ALGO", "TREE"},
                    KnownCause{"one-channel", "dgx-a100", "", "NCCL_MAX_NCHANNELS", "1"}));

TEST(CompareTable, FindsNvlinkThatIsDown) {
  const Bench bench;
  const verify::Setup healthy = setup_of("hgx-a100-4");
  verify::Setup sick = healthy;
  for (const char* gpu : {"gpu0", "gpu1", "gpu2", "gpu3"})
    for (int link = 0; link < 6; ++link)
      sick.fabric = with_fault(sick.fabric, std::string(gpu) + ":nvlink" + std::to_string(2 * link))
                        .value_or(sick.fabric);
  const auto result = compare_table(bench.table(sick), healthy, bench.context());
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_GE(result->verdict, Verdict::warning) << result->why;
  EXPECT_FALSE(result->causes.empty());
}

TEST(CompareTable, EvidenceInTheLogComesFirstAndRefutedCausesAreGone) {
  Bench bench;
  const verify::Setup healthy = setup_of("dgx-a100");
  verify::Setup sick = healthy;
  sick.options.env["NCCL_P2P_DISABLE"] = "1";
  const auto table = bench.table(sick);
  bench.log = formats::find_nccl_info(
      "a:1:1 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n"
      "a:1:1 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n");
  const auto result = compare_table(table, healthy, bench.context());
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_FALSE(result->causes.empty());
  EXPECT_EQ(result->causes[0].key, "p2p-off");
  EXPECT_EQ(result->causes[0].evidence.size(), 2u);
  const auto findings = check_log(healthy, bench.context());
  ASSERT_TRUE(findings);
  EXPECT_EQ(std::count_if(findings->begin(), findings->end(),
                          [](const Finding& f) { return f.severity == Verdict::warning; }),
            1);

  bench.log =
      formats::find_nccl_info("a:1:1 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/CUMEM\n");
  const auto refuted = compare_table(table, healthy, bench.context());
  ASSERT_TRUE(refuted) << refuted.error().text();
  EXPECT_FALSE(names(*refuted, "p2p-off"));
}

TEST(CompareTable, AsksForTheMachineThatFits) {
  const Bench bench;
  auto table = bench.table(setup_of("dgx-h100"));
  table.ranks = 16;
  const auto result = compare_table(table, setup_of("dgx-h100"), bench.context());
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().hint.find("dgx-h100*2"), std::string::npos);
}

TEST(CompareTable, TellsTheCollectiveFromItsColumns) {
  const Bench bench;
  const verify::Setup setup = setup_of("dgx-h100");
  auto table = bench.table(setup);
  table.collective.clear();
  for (auto& row : table.rows) row.redop = "sum";
  const auto result = compare_table(table, setup, bench.context());
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->title.substr(0, 10), "all_reduce");
  EXPECT_EQ(result->notes.size(), 1u);
}

TEST(CompareTable, NothingToJudgeIsUnknown) {
  const Bench bench;
  formats::NcclTestsTable table;
  table.collective = "all_reduce";
  const auto result = compare_table(table, setup_of("dgx-h100"), bench.context());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, Verdict::unknown);
}

formats::CopyTables tables_of(const Fabric& fabric) {
  const auto copies = copy_matrices(fabric, catalogue().parts()).value();
  formats::CopyTable table{"Unidirectional P2P=Enabled Bandwidth", "", {}, 1};
  for (const auto& row : copies.unidirectional_GBs)
    table.cells.emplace_back(row.begin(), row.end());
  return {{}, {table, {"device_local_copy", "", {{1.0}}, 2}}};
}

TEST(CompareCopies, FindsTheGpuThatLostALink) {
  const Bench bench;
  const verify::Setup healthy = setup_of("gh200-quad");
  std::vector<std::string> skipped;
  const auto good = compare_copies(tables_of(healthy.fabric), healthy, bench.context(), skipped);
  ASSERT_TRUE(good) << good.error().text();
  EXPECT_EQ(good->at(0).verdict, Verdict::good) << good->at(0).why;
  EXPECT_EQ(skipped, std::vector<std::string>{"device_local_copy"});

  Fabric sick = healthy.fabric;
  for (int i = 0; i < 3; ++i) sick = with_fault(sick, "gpu2:nvlink0").value();
  const auto bad = compare_copies(tables_of(sick), healthy, bench.context(), skipped);
  ASSERT_TRUE(bad) << bad.error().text();
  EXPECT_GE(bad->at(0).verdict, Verdict::warning) << bad->at(0).why;
}

TEST(CompareCopies, TellsMissingPeerAccess) {
  const Bench bench;
  const verify::Setup healthy = setup_of("dgx-a100");
  formats::CopyTables tables = tables_of(healthy.fabric);
  const auto copies = copy_matrices(healthy.fabric, catalogue().parts()).value();
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 0; j < 8; ++j)
      tables.tables[0].cells[i][j] = copies.unidirectional_no_p2p_GBs[i][j];
  std::vector<std::string> skipped;
  const auto result = compare_copies(tables, healthy, bench.context(), skipped);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->at(0).verdict, Verdict::critical);
  EXPECT_TRUE(names(result->at(0), "p2p-off"));
}

}  // namespace
}  // namespace isleway::verify
