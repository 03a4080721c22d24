#include "virtual/device/numbers.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cstring>

#include "virtual/nccl/element.hpp"

namespace isleway::vgpu {
namespace {

TEST(SmallFloats, HoldWhatTheirFormatsSay) {
  EXPECT_EQ(Half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);  // infinity
  EXPECT_EQ(Half(0x1p-24f).bits, 1);
  EXPECT_EQ(Half(0x1p-26f).bits, 0);
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(Float8E4M3(448.0f).bits, 0x7e);
  EXPECT_EQ(Float8E4M3(1e6f).bits, 0x7e);  // it has no infinity
  EXPECT_EQ(Float8E5M2(57344.0f).bits, 0x7b);
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(std::nanf("")))));
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E4M3(std::nanf("")))));
}

template <class T>
void every_number_comes_back() {
  for (unsigned bits = 0; bits < 1u << (8 * sizeof(T)); ++bits) {
    T value;
    value.bits = static_cast<decltype(value.bits)>(bits);
    const float wide = static_cast<float>(value);
    if (std::isnan(wide)) continue;
    EXPECT_EQ(T(wide).bits, value.bits) << bits;
  }
}
TEST(SmallFloats, EveryNumberComesBack) {
  every_number_comes_back<Half>();
  every_number_comes_back<BFloat16>();
  every_number_comes_back<Float8E4M3>();
  every_number_comes_back<Float8E5M2>();
}

RC_GTEST_PROP(SmallFloats, AreTheNearest, ()) {
  const float wide = static_cast<float>(*rc::gen::inRange(-4000000, 4000000)) * 0x1p-7f;
  const float near = static_cast<float>(Half(wide));
  for (const int step : {-1, 1}) {
    Half other;
    other.bits = static_cast<std::uint16_t>(Half(wide).bits + step);
    const float far = static_cast<float>(other);
    if (std::isfinite(far)) RC_ASSERT(std::abs(near - wide) <= std::abs(far - wide));
  }
}

template <class T>
std::vector<std::byte> bytes(std::initializer_list<T> values) {
  std::vector<std::byte> all(values.size() * sizeof(T));
  std::memcpy(all.data(), values.begin(), all.size());
  return all;
}

TEST(Reductions, DoWhatNcclDoes) {
  using namespace nccl;
  auto sum = bytes<std::int8_t>({100, -100});
  reduce({Op::sum, Type::int8, 2}, sum, bytes<std::int8_t>({100, -100}));
  EXPECT_EQ(sum, bytes<std::int8_t>({-56, 56}));  // wraps
  auto most = bytes<float>({1, 5});
  reduce({Op::max, Type::float32, 2}, most, bytes<float>({3, 2}));
  EXPECT_EQ(most, bytes<float>({3, 5}));
  auto least = bytes<std::uint64_t>({1, 1ull << 63});
  reduce({Op::min, Type::uint64, 2}, least, bytes<std::uint64_t>({3, 2}));
  EXPECT_EQ(least, bytes<std::uint64_t>({1, 2}));
  auto average = bytes<std::int32_t>({9, -9});
  finish({Op::avg, Type::int32, 2}, average);
  EXPECT_EQ(average, bytes<std::int32_t>({4, -4}));
  auto scaled = bytes<double>({1.5, -2});
  const auto two = bytes<double>({2});
  scale(Type::float64, scaled, two.data());
  EXPECT_EQ(scaled, bytes<double>({3, -4}));
}

}  // namespace
}  // namespace isleway::vgpu
