#include "isleway/nccl/bench.hpp"

#include <gtest/gtest.h>

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

TEST(Names, TypesAndReductionsAsNcclTestsHasThem) {
  EXPECT_EQ(parse_data_type("bfloat16")->bytes, 2);
  EXPECT_STREQ(*parse_reduction("AVG"), "avg");
  EXPECT_EQ(parse_data_type("flaot").error().hint, "float");
}

}  // namespace
}  // namespace isleway::nccl
