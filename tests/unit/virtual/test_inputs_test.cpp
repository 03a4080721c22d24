#include "virtual/cudart/test_inputs.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace isleway::vgpu::cudart {
namespace {

/// What a reduction in the order of the ranks gives, element by element.
template <class T>
void expect_sums(int ranks) {
  const TestInputs<T> inputs(TestOp::sum, ranks, 12345);
  constexpr std::int64_t count = 1000;
  constexpr std::uint64_t first = (std::uint64_t{1} << 32) - 300;  // across where tiles end
  std::vector<T> sum(count), input(count), expected(count);
  for (int rank = 0; rank < ranks; ++rank) {
    inputs.inputs(input.data(), count, rank, first);
    for (std::size_t i = 0; i < count; ++i) {
      sum[i] = narrow<T>(widen(sum[i]) + widen(input[i]));
      EXPECT_EQ(widen(input[i]), widen(inputs.input(rank, first + i)));
    }
  }
  inputs.outputs(expected.data(), count, first);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(widen(sum[i]), widen(expected[i])) << ranks << " ranks, element " << i;
    ASSERT_EQ(widen(expected[i]), widen(inputs.output(first + i)));
  }
}

TEST(TestInputs, SumsAreExactInEveryType) {
  for (const int ranks : {1, 2, 3, 8, 16, 72, 300}) {
    expect_sums<float>(ranks);
    expect_sums<double>(ranks);
    expect_sums<std::int32_t>(ranks);
    expect_sums<std::int8_t>(ranks);
    expect_sums<std::uint64_t>(ranks);
    expect_sums<Half>(ranks);
    expect_sums<BFloat16>(ranks);
    expect_sums<Float8E4M3>(ranks);
    expect_sums<Float8E5M2>(ranks);
  }
}

TEST(TestInputs, RanksAndPlacesDiffer) {
  const TestInputs<float> inputs(TestOp::sum, 8, 1);
  int same_rank = 0, same_place = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    for (int rank = 1; rank < 8; ++rank)
      same_rank += inputs.input(rank, i) == inputs.input(0, i) ? 1 : 0;
    same_place += inputs.input(3, i) == inputs.input(3, i + 1) ? 1 : 0;
  }
  EXPECT_EQ(same_rank, 0);    // one that is added twice and one that is missing shows
  EXPECT_LT(same_place, 40);  // and so does what lies elsewhere
}

}  // namespace
}  // namespace isleway::vgpu::cudart
