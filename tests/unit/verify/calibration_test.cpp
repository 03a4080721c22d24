#include <gtest/gtest.h>

#include "isleway/core.hpp"
#include "isleway/verify.hpp"

namespace isleway::verify {
namespace {

const Catalogue& catalogue() {
  static const Catalogue opened =
      Catalogue::open(std::filesystem::path(ISLEWAY_SOURCE_DIR) / "machines").value();
  return opened;
}

MeasuredTable table_of(const std::string& id, Collective collective, std::int64_t first) {
  MeasuredTable table;
  table.id = id;
  table.platform = table.site = "here";
  table.machine = "dgx-h100";
  table.collective = collective;
  table.ranks = 8;
  for (std::int64_t bytes = first; bytes <= first << 12; bytes *= 4)
    table.rows.push_back({bytes, Time::us(1), {}});
  return table;
}

/// Tables whose times are those of a machine with other constants.
std::vector<MeasuredTable> measured_with(const Factors& truth, const Engine& engine) {
  std::vector<MeasuredTable> tables = {table_of("small", Collective::all_reduce, 8),
                                       table_of("large", Collective::all_gather, 1 << 20)};
  const Parts parts = with_factors(catalogue().parts(), truth);
  for (MeasuredTable& table : tables) {
    TableModel model = TableModel::create(table, catalogue()).value();
    model.retime(parts).value();
    const std::vector<ComparedRow> rows = model.compare(engine).value();
    for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].time = rows[i].predicted;
  }
  return tables;
}

TEST(Calibration, GoesTowardsTheConstantsThatTheTimesWereMadeWith) {
  const auto engine = make_analytic_engine();
  const Factors truth = {{"nccl.kernel", 1.3}, {"nccl.hop.nvlink.ll", 0.8}};
  const auto tables = measured_with(truth, *engine);
  Calibration calibration(tables, catalogue(), *engine);
  const auto found = calibration.fit(6);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_LT(Calibration::loss(calibration.compare(*found)),
            Calibration::loss(calibration.compare({})) / 4);
  // So few rows do not tell the two apart, but which way each went.
  EXPECT_GT(found->at("nccl.kernel"), 1.02);
  EXPECT_LT(found->at("nccl.hop.nvlink.ll"), 0.98);
  // No row crosses a network.
  EXPECT_DOUBLE_EQ(found->at("nccl.hop.network.ll"), 1);
}

TEST(Calibration, LeavesHeldConstantsAlone) {
  const auto engine = make_analytic_engine();
  const auto tables = measured_with({{"nccl.kernel", 1.3}}, *engine);
  const std::vector<std::string> held = {"kernel"};
  Calibration calibration(tables, catalogue(), *engine, held);
  EXPECT_FALSE(calibration.fit(2)->contains("nccl.kernel"));
}

TEST(Accuracy, ComparesRowByRow) {
  const auto engine = make_analytic_engine();
  auto tables = measured_with({}, *engine);
  tables[0].rows[0].time = tables[0].rows[0].time * 2;
  tables[1].left_out = "not today";
  const auto compared = compare_tables(tables, catalogue(), *engine);
  ASSERT_EQ(compared.size(), 2U);
  EXPECT_DOUBLE_EQ(compared[0].rows[0].error(), -0.5);
  EXPECT_DOUBLE_EQ(compared[0].rows[1].error(), 0);
  EXPECT_TRUE(compared[1].rows.empty());
  EXPECT_EQ(compared[1].left_out, "not today");
}

}  // namespace
}  // namespace isleway::verify
