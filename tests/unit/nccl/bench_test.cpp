#include "isleway/nccl/bench.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace isleway::nccl {
namespace {

TEST(SizeRange, GrowsByFactorUpToTheLastSize) {
  const SizeRange range{8, 100, 0, 2};
  EXPECT_EQ(range.sizes().value(), (std::vector<std::int64_t>{8, 16, 32, 64}));
}

TEST(SizeRange, GrowsByStepWithoutAFactor) {
  const SizeRange range{10, 30, 10, 1};
  EXPECT_EQ(range.sizes().value(), (std::vector<std::int64_t>{10, 20, 30}));
}

TEST(SizeRange, StopsBeforeOverflow) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ((SizeRange{huge - 1, huge, 0, 2}).sizes()->size(), 1u);
  EXPECT_EQ((SizeRange{huge - 1, huge, 5, 1}).sizes()->size(), 1u);
  EXPECT_EQ((SizeRange{0, 4, 0, 2}).sizes()->size(), 4u);
}

TEST(SizeRange, RefusesWhatCannotEnd) {
  EXPECT_FALSE((SizeRange{8, 4, 0, 2}).sizes());
  EXPECT_FALSE((SizeRange{8, 16, 0, 1}).sizes());
  EXPECT_FALSE((SizeRange{0, 1 << 30, 1, 1}).sizes());
}

TEST(BenchSize, GivesEveryRankWhole16ByteWords) {
  EXPECT_EQ(bench_size(Collective::all_reduce, 10, 4, 8).bytes, 8);
  EXPECT_EQ(bench_size(Collective::all_gather, 8, 4, 8).bytes, 0);
  EXPECT_EQ(bench_size(Collective::all_gather, 1000, 4, 8).bytes, 896);
  EXPECT_EQ(bench_size(Collective::all_gather, 1000, 4, 8).count, 28);
  EXPECT_EQ(bench_size(Collective::all_to_all, 33554432, 8, 80).bytes, 33553920);
}

TEST(LargestSize, LeavesRoomForNcclAndTheDriver) {
  EXPECT_EQ(largest_size(Bytes::gib(16), false), Bytes::gib(7).count());
  EXPECT_EQ(largest_size(Bytes::gib(80), true), Bytes::gib(25).count());
  EXPECT_EQ(largest_size(Bytes(0), true), 0);
}

/// The time of one call on a machine of the catalogue.
double microseconds(Collective collective, std::int64_t bytes, LaunchModel launch,
                    int iterations = 20, const char* machine = "dgx-a100") {
  static const Catalogue catalogue =
      Catalogue::open(std::filesystem::path(ISLEWAY_SOURCE_DIR) / "machines").value();
  const Fabric fabric = catalogue.fabric(machine).value();
  Options options;
  options.launch = launch;
  const auto communicator = Communicator::create(fabric, catalogue.parts(), options).value();
  BenchCall call;
  call.collective = collective;
  call.iterations = iterations;
  return bench(fabric, *communicator, *make_analytic_engine(), call, bytes)->time.us();
}

TEST(Bench, TheHostIsTheFloorWhereOneProcessDrivesManyGpus) {
  const LaunchModel alone{1, false}, all{8, false};
  EXPECT_GT(microseconds(Collective::all_reduce, 8, all),
            1.5 * microseconds(Collective::all_reduce, 8, alone));
  // It hides behind a call that takes longer.
  EXPECT_DOUBLE_EQ(microseconds(Collective::all_reduce, 1 << 26, all),
                   microseconds(Collective::all_reduce, 1 << 26, alone));
}

TEST(Bench, RanksOfABroadcastRunAhead) {
  const double one = microseconds(Collective::broadcast, 1 << 20, {1, false}, 1);
  const double many = microseconds(Collective::broadcast, 1 << 20, {1, false}, 1000);
  EXPECT_LT(many, one / 2);
  // Also when one process drives all GPUs: then its launches are what is left.
  EXPECT_LT(microseconds(Collective::broadcast, 1 << 20, {8, false}, 1000), one / 2);
  // All ranks of an all-reduce wait for all: no iteration overlaps another.
  EXPECT_DOUBLE_EQ(microseconds(Collective::all_reduce, 1 << 20, {1, false}, 1),
                   microseconds(Collective::all_reduce, 1 << 20, {1, false}, 1000));
}

TEST(Bench, PeersOfAGroupCostTheHostEach) {
  EXPECT_GT(microseconds(Collective::all_to_all, 1 << 10, {8, false}),
            microseconds(Collective::sendrecv, 1 << 10, {8, false}) + 30);
}

TEST(Names, TypesAndReductionsAsNcclTestsHasThem) {
  EXPECT_EQ(parse_data_type("bfloat16")->bytes, 2);
  EXPECT_STREQ(*parse_reduction("AVG"), "avg");
  EXPECT_EQ(parse_data_type("flaot").error().hint, "float");
}

}  // namespace
}  // namespace isleway::nccl
