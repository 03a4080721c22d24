#include "isleway/link/bit_errors.hpp"

#include <cmath>

namespace isleway::link {
namespace {

// Beyond that no simulation gets.
constexpr double kLongestGap = 9e18;

/// SplitMix64's step and finaliser.
std::uint64_t mixed(std::uint64_t x) {
  x *= 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

BitErrors::BitErrors(double rate, std::uint64_t seed, std::uint64_t stream) : rate_(rate) {
  if (rate_ <= 0) return;
  state_ = mixed(seed) ^ mixed(~stream);
  draw();
}

// Not by the distributions of <random>, which differ between libraries: the same seed must give
// the same errors everywhere.
void BitErrors::draw() {
  constexpr double kOneOver2To53 = 1.0 / 9007199254740992.0;
  const double uniform = (static_cast<double>(mixed(++state_) >> 11) + 0.5) * kOneOver2To53;
  const double gap = rate_ >= 1 ? 0 : std::floor(std::log(uniform) / std::log1p(-rate_));
  gap_ = gap < kLongestGap ? static_cast<std::uint64_t>(gap) : UINT64_MAX;
}

}  // namespace isleway::link
