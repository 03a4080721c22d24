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
  std::map<std::string, std::optional<nccl::MeasuredRange>> by_machine;
  for (const MeasuredTable& table : tables) {
    if (!table.left_out.empty()) continue;
    // How many nodes beyond one does not matter.
    const std::string machine = table.machine.substr(0, table.machine.find('*'));
    const bool several = table.machine != machine;
    const auto [known, is_new] = by_machine.try_emplace(machine + (several ? "*2" : ""));
    if (is_new) {
      const Fabric fabric = catalogue.fabric(known->first, table.network).value();
      known->second = nccl::Communicator::create(fabric, catalogue.parts(), {}).value()->measured();
    }
    const auto& claimed = known->second;
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
