// Inputs for tests of reductions, that differ by rank and position, chosen so that a reduction over
// any number of ranks, in any order, has one exact result.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "virtual/device/numbers.hpp"

namespace isleway::vgpu::cudart {

enum class TestOp { none, sum, prod, min, max, avg, premul_sum };

/// The largest integer up to which T holds every one.
template <class T>
constexpr std::int64_t exact_up_to() {
  if constexpr (kIsSmallFloat<T>) return std::int64_t{1} << (T::kMantissaBits + 1);
  else if constexpr (std::is_same_v<T, float>) return 1 << 24;
  else return std::int64_t{1} << 31;  // integers wrap the same way in any order
}

/// 32-bit arithmetic alone, so that compilers do several elements at once.
inline std::uint32_t mix(std::uint32_t seed, std::uint32_t index) {
  std::uint32_t x = index * 0x9e3779b1u + seed;
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  return x ^ x >> 13;
}

/// Summands of which an element has one in each of `ranks` steps of `step` numbers, in an order
/// that differs by element: all different, with a sum that is known without adding them.
struct Steps {
  std::uint32_t seed = 0, ranks = 1, step = 0;

  static constexpr int kTile = 256;
  using Tile = std::int32_t[kTile];
  /// Elements low, low + 1, ... of indices whose upper half is folded into `high`.
  void summands(Tile& out, std::uint32_t low, std::uint32_t high, std::uint32_t rank) const;
  void sums(Tile& out, std::uint32_t low, std::uint32_t high) const;
  std::uint32_t summand(std::uint32_t hash, std::uint32_t rank) const {
    std::uint32_t at = (((hash >> 16) * ranks) >> 16) + rank;
    at -= at >= ranks ? ranks : 0;
    return 1 + at * step + within_step(hash);
  }
  std::uint32_t within_step(std::uint32_t hash) const { return ((hash & 0xffff) * step) >> 16; }
};

inline std::uint32_t folded(std::uint64_t index) {
  return static_cast<std::uint32_t>(index) ^ static_cast<std::uint32_t>(index >> 32) * 0x27d4eb2fu;
}

/// Inputs of one reduction. Ranks take turns: `active` of them give something, others nothing.
template <class T>
class TestInputs {
 public:
  TestInputs(TestOp op, int ranks, std::uint64_t seed)
      : op_(op),
        ranks_(std::max(ranks, 1)),
        seed_(static_cast<std::uint32_t>(seed) * 0xc2b2ae35u ^
              static_cast<std::uint32_t>(seed >> 32)) {
    // Of premul_sum, odd ranks count twice.
    const std::int64_t room = exact_up_to<T>() / (op == TestOp::premul_sum ? 2 : 1);
    // Averages are rounded once for each rank that gives something; two stay within what
    // nccl-tests tolerates.
    const std::int64_t givers = op == TestOp::avg && !std::is_integral_v<T> ? 2 : room;
    active_ = static_cast<std::uint32_t>(
        std::min<std::int64_t>(ranks_, std::max<std::int64_t>(1, givers)));
    const auto most = static_cast<std::uint32_t>(std::clamp<std::int64_t>(room / active_, 1, 256));
    shift_ = 32 - (std::bit_width(most) - 1);
    if (op == TestOp::sum && active_ == static_cast<std::uint32_t>(ranks_))
      steps_ = {seed_, active_, most / active_};
  }

  T input(int rank, std::uint64_t index) const {
    const std::uint32_t hash = mix(seed_, folded(index));
    switch (op_) {
      case TestOp::none: return any(hash);
      case TestOp::min:
      case TestOp::max: return any(hash ^ static_cast<std::uint32_t>(rank) * 0x85ebca6bu);
      case TestOp::prod: return factor(hash, rank);
      default: return from_number(static_cast<std::int32_t>(summand(hash, rank)));
    }
  }

  /// Elements of one rank's input, or of the result, from `first` on.
  void inputs(T* out, std::int64_t count, int rank, std::uint64_t first) const {
    if (!stepped()) {
      for (std::int64_t i = 0; i < count; ++i)
        out[i] = input(rank, first + static_cast<std::uint64_t>(i));
      return;
    }
    in_tiles(out, count, first, [&](Steps::Tile& tile, std::uint32_t low, std::uint32_t high) {
      steps_.summands(tile, low, high, static_cast<std::uint32_t>(rank));
    });
  }
  void outputs(T* out, std::int64_t count, std::uint64_t first) const {
    if (!stepped()) {
      for (std::int64_t i = 0; i < count; ++i)
        out[i] = output(first + static_cast<std::uint64_t>(i));
      return;
    }
    in_tiles(out, count, first, [&](Steps::Tile& tile, std::uint32_t low, std::uint32_t high) {
      steps_.sums(tile, low, high);
    });
  }

  T output(std::uint64_t index) const {
    if (op_ == TestOp::none) return input(0, index);
    const std::uint32_t hash = mix(seed_, folded(index));
    if (op_ == TestOp::sum || op_ == TestOp::premul_sum || op_ == TestOp::avg) {
      std::uint64_t sum = 0;
      const std::uint32_t first = first_active(hash);
      for (std::uint32_t i = 0; i < active_; ++i) {
        const std::uint32_t rank = (first + i) % static_cast<std::uint32_t>(ranks_);
        const std::uint64_t weight = op_ == TestOp::premul_sum && rank % 2 == 1 ? 2 : 1;
        sum += weight * summand(hash, static_cast<int>(rank));
      }
      if (op_ != TestOp::avg) return from_number(static_cast<std::int32_t>(sum));
      if constexpr (std::is_integral_v<T>) return divided(static_cast<T>(sum));
      else return narrow<T>(static_cast<double>(sum) / ranks_);
    }
    auto result = widen(input(0, index));
    for (int rank = 1; rank < ranks_; ++rank) {
      const auto next = widen(input(rank, index));
      if (op_ == TestOp::prod) result = static_cast<decltype(result)>(result * next);
      else result = op_ == TestOp::min ? std::min(result, next) : std::max(result, next);
    }
    return narrow<T>(result);
  }

 private:
  /// Plain sums to which every rank gives something, where there is room for it.
  bool stepped() const { return steps_.step > 0; }
  template <class Make>
  void in_tiles(T* out, std::int64_t count, std::uint64_t first, Make make) const {
    Steps::Tile numbers;
    T values[Steps::kTile];
    for (std::int64_t at = 0, here = 0; at < count; at += here) {
      const std::uint64_t begin = first + static_cast<std::uint64_t>(at);
      const auto low = static_cast<std::uint32_t>(begin);
      // The upper half of an index is the same in all of a tile.
      here = std::min({std::int64_t{Steps::kTile}, count - at, (std::int64_t{1} << 32) - low});
      make(numbers, low, folded(begin) ^ low);
      for (int i = 0; i < Steps::kTile; ++i) values[i] = from_number(numbers[i]);
      std::copy_n(values, here, out + at);
    }
  }

  /// As a GPU divides: the sum has wrapped already.
  T divided(T sum) const {
    if constexpr (std::is_unsigned_v<T>)
      return static_cast<T>(sum / static_cast<std::uint64_t>(ranks_));
    else return static_cast<T>(sum / static_cast<std::int64_t>(ranks_));
  }
  static T from_number(std::int32_t number) {
    if constexpr (kIsSmallFloat<T>) return T(static_cast<float>(number));
    else return static_cast<T>(number);
  }
  /// A number of moderate size, of either sign where T has signs.
  static T any(std::uint32_t hash) {
    hash ^= hash >> 15;
    hash *= 0x2c1b3c6du;
    if constexpr (std::is_integral_v<T>) return static_cast<T>(hash >> 3);
    else return narrow<T>(static_cast<float>(static_cast<std::int32_t>(hash)) * 0x1p-28f);
  }
  std::uint32_t first_active(std::uint32_t hash) const {
    return active_ == static_cast<std::uint32_t>(ranks_)
               ? 0
               : hash % static_cast<std::uint32_t>(ranks_);
  }
  std::uint32_t summand(std::uint32_t hash, int rank) const {
    if (stepped()) return steps_.summand(hash, static_cast<std::uint32_t>(rank));
    const auto ranks = static_cast<std::uint32_t>(ranks_);
    const auto turn = static_cast<std::uint32_t>(rank);
    if (active_ != ranks && (turn + ranks - first_active(hash)) % ranks >= active_) return 0;
    const std::uint32_t own = (hash ^ turn * 0x9e3779b1u) * 0x85ebca77u;
    return 1 + (shift_ == 32 ? 0 : own >> shift_);
  }
  /// A power of two, and 1 for all but four ranks: products stay exact, and in range.
  T factor(std::uint32_t hash, int rank) const {
    const auto ranks = static_cast<std::uint32_t>(ranks_);
    const bool doubles = (static_cast<std::uint32_t>(rank) + ranks - hash % ranks) % ranks < 4;
    return narrow<T>(doubles && (hash >> (rank % 16) & 1) != 0 ? 2.0f : 1.0f);
  }

  TestOp op_;
  int ranks_;
  std::uint32_t seed_;
  std::uint32_t active_ = 1;
  int shift_ = 32;  ///< summands have 32 minus so many bits
  Steps steps_;
};

}  // namespace isleway::vgpu::cudart
