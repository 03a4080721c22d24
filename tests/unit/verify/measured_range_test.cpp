// What the program says it was measured on is what it was measured on.
#include <gtest/gtest.h>

#include <map>

#include "isleway/verify.hpp"

namespace isleway::verify {
namespace {

TEST(MeasuredRange, IsWhatTheTablesHold) {
  const std::filesystem::path root(ISLEWAY_SOURCE_DIR);
  const auto tables = load_measured_tables(root / "measurements/collectives").value();
  const auto catalogue = Catalogue::open(root / "machines").value();
  std::map<std::pair<std::int64_t, std::int64_t>, nccl::MeasuredRange> seen;  // by what is claimed
  for (const MeasuredTable& table : tables) {
    if (!table.left_out.empty()) continue;
    const Fabric fabric = fabric_of(table, catalogue).value();
    const auto communicator =
        nccl::Communicator::create(fabric, catalogue.parts(), table.nccl).value();
    const auto claimed = communicator->measured();
    if (!claimed) continue;
    auto& range =
        seen.try_emplace({claimed->first, claimed->last}, nccl::MeasuredRange{INT64_MAX, 0})
            .first->second;
    range.first = std::min(range.first, table.rows.front().bytes);
    range.last = std::max(range.last, table.rows.back().bytes);
  }
  EXPECT_GE(seen.size(), 6U);
  for (const auto& [claimed, range] : seen) {
    // Tables of other ranks round sizes; half of a size is a size of its own.
    EXPECT_LE(range.first, claimed.first * 3 / 2) << claimed.first << " to " << claimed.second;
    EXPECT_GE(range.last, claimed.second * 2 / 3) << claimed.first << " to " << claimed.second;
  }
}

TEST(MeasuredRange, NothingStandsBehindWhatNobodyMeasured) {
  const std::filesystem::path root(ISLEWAY_SOURCE_DIR);
  const auto catalogue = Catalogue::open(root / "machines").value();
  const auto measured = [&](const char* machine) {
    const Fabric fabric = catalogue.fabric(machine).value();
    return nccl::Communicator::create(fabric, catalogue.parts(), {}).value()->measured();
  };
  EXPECT_FALSE(measured("dgx-1-p100"));
  ASSERT_TRUE(measured("gb200-nvl72"));
  EXPECT_FALSE(measured("gb200-nvl72")->holds(1024));
  EXPECT_TRUE(measured("dgx-h100")->holds(1024));
}

}  // namespace
}  // namespace isleway::verify
