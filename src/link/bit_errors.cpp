#include "isleway/link/bit_errors.hpp"

#include <cmath>

namespace isleway::link {
namespace {

// Beyond that no simulation gets.
constexpr double kLongestGap = 9e18;

}  // namespace

BitErrors::BitErrors(double rate, std::uint64_t seed, std::uint64_t stream) : rate_(rate) {
  if (rate_ <= 0) return;
  std::seed_seq sequence{seed, seed >> 32, stream, stream >> 32};
  random_.seed(sequence);
  draw();
}

// Drawn from the generator's bits directly: the distributions of <random> differ between
// libraries, and the same seed must give the same errors everywhere.
void BitErrors::draw() {
  constexpr double kOneOver2To53 = 1.0 / 9007199254740992.0;
  const double uniform = (static_cast<double>(random_() >> 11) + 0.5) * kOneOver2To53;
  const double gap = rate_ >= 1 ? 0 : std::floor(std::log(uniform) / std::log1p(-rate_));
  gap_ = gap < kLongestGap ? static_cast<std::uint64_t>(gap) : UINT64_MAX;
}

}  // namespace isleway::link
