#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/formats/topo_fixtures.hpp"

namespace isleway::formats {
extern const Reader nccl_tests_reader;
namespace {

NcclTestsTables tables_of(std::string_view text) {
  auto document = read_with(nccl_tests_reader, text);
  if (!document) throw std::runtime_error(document.error().text());
  return std::get<NcclTestsTables>(document->content);
}

/// As version 2.13 to 2.19 print it, with the ranks of two nodes.
constexpr std::string_view kTwoNodes =
    "# nccl-tests version 2.17.1 nccl-headers=22703 nccl-library=22703\n"
    "# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 128 step: 2(factor) warmup iters: 1 iters: 20 agg "
    "iters: 1 validation: 1 graph: 0\n"
    "#\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid   4242 on     tray-a device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid   4343 on     tray-b device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#\n"
    "#                                                              out-of-place                   "
    "    in-place          \n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
    "time "
    "  algbw   busbw  #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             "
    "(us) "
    " (GB/s)  (GB/s)        \n"
    "          64            16     float     sum      -1    21.50    0.00    0.00       0    "
    "20.25 "
    "   0.00    0.00       0\n"
    "         128            32     float     sum      -1    12345    0.01    0.01       0    "
    "20.75 "
    "   0.01    0.01     N/A\n"
    "# Out of bounds values : 0 OK\n"
    "# Avg bus bandwidth    : 0.0051 \n"
    "#\n"
    "# Collective test concluded: all_reduce_perf\n";

TEST(NcclTests, ReadsACurrentTable) {
  const NcclTestsTables tables = tables_of(kTwoNodes);
  ASSERT_EQ(tables.size(), 1u);
  const NcclTestsTable& table = tables[0];
  EXPECT_EQ(table.collective, "all_reduce");
  EXPECT_EQ(table.nccl_version, "2.27.3");
  EXPECT_EQ(table.ranks, 2);
  EXPECT_EQ(table.hosts, (std::vector<std::string>{"tray-a", "tray-b"}));
  EXPECT_EQ(table.devices[1], "NVIDIA H100 80GB HBM3");
  EXPECT_DOUBLE_EQ(table.average_busbw.value(), 0.0051);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].bytes, 64);
  EXPECT_EQ(table.rows[0].redop, "sum");
  EXPECT_EQ(table.rows[0].root, -1);
  EXPECT_EQ(table.rows[0].line, 12);
  EXPECT_DOUBLE_EQ(table.rows[1].out_of_place->time_us, 12345);
  EXPECT_EQ(table.rows[1].in_place->wrong, "N/A");
}

TEST(NcclTests, RunsInOneLogAreTablesOfTheirOwn) {
  std::string second(kTwoNodes);
  for (std::size_t at; (at = second.find("all_reduce")) != std::string::npos;)
    second.replace(at, 10, "all_gather");
  const NcclTestsTables tables = tables_of(std::string(kTwoNodes) + second);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].collective, "all_reduce");
  EXPECT_EQ(tables[1].collective, "all_gather");
  EXPECT_EQ(tables[1].rows.size(), 2u);
}

TEST(NcclTests, TheFirstVersionCountedMilliseconds) {
  const NcclTestsTable table = tables_of(
      "nccl/build/all_gather_perf -b 1M\n"
      "#   Rank  0 on      node1 device  0 [0x05] Tesla P100-SXM2-16GB\n"
      "#   Rank  1 on      node1 device  1 [0x06] Tesla P100-SXM2-16GB\n"
      "#                                                 out-of-place                    in-place\n"
      "#      bytes             N    type     time  algbw  busbw      res     time  algbw  busbw   "
      "   res\n"
      "     1048576        262144   float    0.125   8.39   8.39    0e+00    0.130   8.07   8.07   "
      " 0e+00\n")[0];
  EXPECT_EQ(table.collective, "all_gather");
  EXPECT_EQ(table.devices[1], "Tesla P100-SXM2-16GB");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_DOUBLE_EQ(table.rows[0].out_of_place->time_us, 125);
  EXPECT_EQ(table.rows[0].in_place->wrong, "0e+00");
}

TEST(NcclTests, PrintsOfOtherProcessesMayStandInsideARow) {
  const NcclTestsTable table = tables_of(
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time   "
      "algbw   busbw #wrong\n"
      "    67108864      16777216     float     sum      -1node7:811:902 [3] NCCL INFO comm 0x1 "
      "rank 3\n"
      "node7:811:905 [5] NCCL INFO Channel 00 : 0 1 2 3\n"
      "  512.25  131.01  229.26      0node7:811:9 [1] NCCL INFO done\n"
      "  510.50  131.46  230.05      0\n"
      "   134217728      33554432     float     sum      -1   900.75  149.01  260.76      0   "
      "899.50  "
      "149.21  261.12      0\n")[0];
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(table.rows[0].out_of_place->busbw_GBs, 229.26);
  EXPECT_DOUBLE_EQ(table.rows[0].in_place->time_us, 510.5);
  EXPECT_EQ(table.rows[0].root, -1);
}

TEST(NcclTests, RowsThatATerminalWrappedArePutTogether) {
  const std::string heading =
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time   "
      "algbw   busbw #wrong\n";
  const std::string row =
      "    67108864      16777216     float     sum      -1   512.25  131.01  229.26      0   "
      "510.50  "
      "131.46  230.05      0";
  for (const std::size_t width : {57u, 60u, 62u, 80u, 100u}) {
    const NcclTestsTable table =
        tables_of(heading + row.substr(0, width) + "\n" + row.substr(width) + "\n")[0];
    ASSERT_EQ(table.rows.size(), 1u) << width;
    ASSERT_TRUE(table.rows[0].in_place) << width;
    EXPECT_DOUBLE_EQ(table.rows[0].out_of_place->time_us, 512.25) << width;
    EXPECT_DOUBLE_EQ(table.rows[0].in_place->busbw_GBs, 230.05) << width;
  }
}

TEST(NcclTests, ACrashAmidARunDoesNotSplitIt) {
  std::string text(kTwoNodes);
  text.insert(text.find("         128 "),
              "[tray-a:4242] [ 3] /opt/all_reduce_perf(+0x77f1)[0x55]\n");
  const NcclTestsTables tables = tables_of(text);
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].rows.size(), 2u);
}

TEST(NcclTests, RowsWithoutHeadingGoByTheirShape) {
  const NcclTestsTable table = tables_of(
      "     1024     256   float    none      -1   10.00   0.10   0.05   0   10.50   0.10   0.05   "
      "0\n"
      "     2048     512   float    none      -1   11.00   0.19   0.10   0   11.50   0.18   0.09   "
      "0\n"
      "     4096    1024   float    none      -1   12.00   0.34   0.17   0   12.50   0.33   0.16   "
      "0\n")[0];
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[2].redop, "none");
  EXPECT_EQ(table.rows[2].root, -1);
  EXPECT_DOUBLE_EQ(table.rows[2].in_place->time_us, 12.5);
}

TEST(NcclTests, ACutRowKeepsTheHalfThatIsWhole) {
  const auto document =
      read_with(nccl_tests_reader, std::string(kTwoNodes).substr(0, kTwoNodes.find("20.75") + 3));
  ASSERT_TRUE(document) << document.error().text();
  const NcclTestsTable table = std::get<NcclTestsTables>(document->content)[0];
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_TRUE(table.rows[1].out_of_place);
  EXPECT_FALSE(table.rows[1].in_place);
  EXPECT_TRUE(has_notice(*document, "one half only"));
}

TEST(NcclTests, AFailedRunIsRefusedWithWhatTheLogSays) {
  const auto document = read_with(
      nccl_tests_reader, std::string(kTwoNodes).substr(0, kTwoNodes.find("          64 ")) +
                             "tray-a: Test NCCL failure common.cu:958 'unhandled system error'\n");
  ASSERT_FALSE(document);
  EXPECT_NE(document.error().what.find("unhandled"), std::string::npos);
}

TEST(NcclTests, TextThatMerelyMentionsItIsNotTaken) {
  EXPECT_EQ(nccl_tests_reader.recognise("We saw 480 GB/s busbw with all_reduce_perf.\n"), 0);
  EXPECT_EQ(nccl_tests_reader.recognise(kSwitchedServer), 0);
  EXPECT_GE(nccl_tests_reader.recognise(kTwoNodes), 80);
}

/// How one generation prints its rows.
struct Generation {
  const char* heading;
  bool redop, root;
  int in_between;
};
constexpr Generation kGenerations[] = {
    {"# size count type time algbw busbw error time algbw busbw error", false, false, 0},
    {"# size count type redop time algbw busbw error time algbw busbw error", true, false, 0},
    {"# size count type root time algbw busbw error time algbw busbw error", false, true, 0},
    {"# size count type redop root time algbw busbw #wrong time algbw busbw #wrong", true, true, 0},
    {"# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw "
     "busbw "
     "#wrong i_min i_max i_p99 i_cv%",
     true, true, 4},
};

std::string printed(const NcclTestsRow& row, const Generation& how) {
  std::string text = fmt::format("{:12}  {:12}  {:>8}", row.bytes, row.count, row.type);
  if (how.redop) text += fmt::format("  {:>6}", row.redop);
  if (how.root) text += fmt::format("  {:>6}", row.root);
  for (const auto& side : {*row.out_of_place, *row.in_place}) {
    text += fmt::format("  {:7.2f}  {:6.2f}  {:6.2f}  {:>6}", side.time_us, side.algbw_GBs,
                        side.busbw_GBs, side.wrong);
    for (int i = 0; i < how.in_between; ++i) text += "    1.50";
  }
  return text;
}

NcclTestsRow some_row() {
  const auto hundredths = [](int most) { return *rc::gen::inRange(0, most) / 100.0; };
  NcclTestsRow row;
  row.bytes = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
  row.count = row.bytes / 4;
  row.type = *rc::gen::element<std::string>("float", "half", "bfloat16", "int8", "f8e4m3");
  row.redop = *rc::gen::element<std::string>("sum", "prod", "none");
  row.root = *rc::gen::inRange(-1, 8);
  for (auto* side : {&row.out_of_place, &row.in_place})
    *side = NcclTestsRow::Side{hundredths(100000), hundredths(100000), hundredths(100000),
                               *rc::gen::element<std::string>("0", "N/A", "1e-05", "17")};
  return row;
}

RC_GTEST_PROP(NcclTests, ReadsEveryGenerationInEveryWrapping, ()) {
  const Generation& how = kGenerations[*rc::gen::inRange(0, 5)];
  const std::string prefix = *rc::gen::element<std::string>(
      "", "[1,0]<stdout>:", "0: ", "node-3: ", "2025-06-01T10:00:00.123Z ");
  const int rows = *rc::gen::inRange(1, 6);
  std::vector<NcclTestsRow> expected;
  std::string text = prefix + how.heading + "\n";
  for (int i = 0; i < rows; ++i) {
    expected.push_back(some_row());
    text += prefix + printed(expected.back(), how) + "\n";
    if (*rc::gen::inRange(0, 2) == 0) text += "node-3:71:99 [2] NCCL INFO Using network IB\n";
  }
  const NcclTestsTables tables = tables_of(text);
  RC_ASSERT(tables.size() == 1u);
  RC_ASSERT(tables[0].rows.size() == expected.size());
  for (int i = 0; i < rows; ++i) {
    const NcclTestsRow& want = expected[static_cast<std::size_t>(i)];
    const NcclTestsRow& got = tables[0].rows[static_cast<std::size_t>(i)];
    RC_ASSERT(got.bytes == want.bytes && got.count == want.count && got.type == want.type);
    RC_ASSERT(got.redop == (how.redop ? want.redop : ""));
    RC_ASSERT(got.root == (how.root ? want.root : -1));
    for (const auto side : {&NcclTestsRow::out_of_place, &NcclTestsRow::in_place}) {
      RC_ASSERT((got.*side).has_value());
      RC_ASSERT((got.*side)->time_us == (want.*side)->time_us);
      RC_ASSERT((got.*side)->busbw_GBs == (want.*side)->busbw_GBs);
      RC_ASSERT((got.*side)->wrong == (want.*side)->wrong);
    }
  }
}

RC_GTEST_PROP(NcclTests, SurvivesCutsAndGarbage, ()) {
  std::string text(kTwoNodes);
  const int edits = *rc::gen::inRange(0, 8);
  for (int i = 0; i < edits; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    if (*rc::gen::inRange(0, 2) == 0) text.erase(at, *rc::gen::inRange<std::size_t>(1, 40));
    else
      text.insert(at,
                  *rc::gen::element<std::string>("\n", "\t", "9", "-", ".", "e", "\x1b[4m", "inf"));
    if (text.empty()) break;
  }
  text.resize(*rc::gen::inRange<std::size_t>(0, text.size() + 1));
  nccl_tests_reader.recognise(text);
  const auto document = read_with(nccl_tests_reader, text);
  if (!document) {
    RC_ASSERT(!document.error().what.empty());
    return;
  }
  for (const NcclTestsTable& table : std::get<NcclTestsTables>(document->content))
    for (const NcclTestsRow& row : table.rows) RC_ASSERT(row.out_of_place || row.in_place);
}

}  // namespace
}  // namespace isleway::formats
