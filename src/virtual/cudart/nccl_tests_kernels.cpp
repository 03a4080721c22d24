// What nccl-tests fills buffers with and checks them against. Its own generator runs on GPUs;
// this one serves the same purpose: inputs that differ by rank and position, chosen so that a
// reduction over any number of ranks, in any order, has one exact result.
#include <algorithm>
#include <bit>
#include <string_view>
#include <type_traits>

#include "virtual/cudart/kernels.hpp"
#include "virtual/device/numbers.hpp"

namespace isleway::vgpu::cudart {
namespace {

enum class Op { none, sum, prod, min, max, avg, premul_sum };

/// The largest integer up to which T holds every one.
template <class T>
constexpr std::int64_t exact_up_to() {
  if constexpr (kIsSmallFloat<T>) return std::int64_t{1} << (T::kMantissaBits + 1);
  else if constexpr (std::is_same_v<T, float>) return 1 << 24;
  else return std::int64_t{1} << 31;  // integers wrap the same way in any order
}

/// 32-bit arithmetic alone, so that compilers do several elements at once.
std::uint32_t mix(std::uint32_t seed, std::uint64_t index) {
  std::uint32_t x =
      (static_cast<std::uint32_t>(index) ^ static_cast<std::uint32_t>(index >> 32) * 0x27d4eb2fu) *
          0x9e3779b1u +
      seed;
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  return x ^ x >> 13;
}

/// Inputs of one reduction. Ranks take turns: `active` of them give something, others nothing.
template <class T>
class Generator {
 public:
  Generator(Op op, int ranks, std::uint64_t seed)
      : op_(op),
        ranks_(std::max(ranks, 1)),
        seed_(static_cast<std::uint32_t>(seed) * 0xc2b2ae35u ^
              static_cast<std::uint32_t>(seed >> 32)) {
    // Of premul_sum, odd ranks count twice.
    const std::int64_t room = exact_up_to<T>() / (op == Op::premul_sum ? 2 : 1);
    // Averages are rounded once for each rank that gives something; two stay within what
    // nccl-tests tolerates.
    const std::int64_t givers = op == Op::avg && !std::is_integral_v<T> ? 2 : room;
    active_ = static_cast<std::uint32_t>(
        std::min<std::int64_t>(ranks_, std::max<std::int64_t>(1, givers)));
    const auto most = static_cast<std::uint32_t>(std::clamp<std::int64_t>(room / active_, 1, 256));
    shift_ = 32 - (std::bit_width(most) - 1);
  }

  T input(int rank, std::uint64_t index) const {
    const std::uint32_t hash = mix(seed_, index);
    switch (op_) {
      case Op::none: return any(hash);
      case Op::min:
      case Op::max: return any(hash ^ static_cast<std::uint32_t>(rank) * 0x85ebca6bu);
      case Op::prod: return factor(hash, rank);
      default: return narrow<T>(static_cast<float>(summand(hash, rank)));
    }
  }

  static constexpr int kTile = 512;

  /// Elements of one rank's input, or of the result, from `first` on.
  void inputs(T* out, std::int64_t count, int rank, std::uint64_t first) const {
    if (!plain_sum()) {
      for (std::int64_t i = 0; i < count; ++i)
        out[i] = input(rank, first + static_cast<std::uint64_t>(i));
      return;
    }
    in_tiles(out, count, first, [&](const std::uint32_t(&hash)[kTile], std::uint32_t(&sum)[kTile]) {
      add(hash, rank, sum);
    });
  }
  void outputs(T* out, std::int64_t count, std::uint64_t first) const {
    if (!plain_sum()) {
      for (std::int64_t i = 0; i < count; ++i)
        out[i] = output(first + static_cast<std::uint64_t>(i));
      return;
    }
    in_tiles(out, count, first, [&](const std::uint32_t(&hash)[kTile], std::uint32_t(&sum)[kTile]) {
      for (int rank = 0; rank < ranks_; ++rank) add(hash, rank, sum);
    });
  }

  T output(std::uint64_t index) const {
    if (op_ == Op::none) return input(0, index);
    const std::uint32_t hash = mix(seed_, index);
    if (op_ == Op::sum || op_ == Op::premul_sum || op_ == Op::avg) {
      std::uint64_t sum = 0;
      const std::uint32_t first = first_active(hash);
      for (std::uint32_t i = 0; i < active_; ++i) {
        const std::uint32_t rank = (first + i) % static_cast<std::uint32_t>(ranks_);
        const std::uint64_t weight = op_ == Op::premul_sum && rank % 2 == 1 ? 2 : 1;
        sum += weight * summand(hash, static_cast<int>(rank));
      }
      if (op_ != Op::avg) return from_sum(sum);
      if constexpr (std::is_integral_v<T>) return divided(static_cast<T>(sum));
      else return narrow<T>(static_cast<double>(sum) / ranks_);
    }
    auto result = widen(input(0, index));
    for (int rank = 1; rank < ranks_; ++rank) {
      const auto next = widen(input(rank, index));
      if (op_ == Op::prod) result = static_cast<decltype(result)>(result * next);
      else result = op_ == Op::min ? std::min(result, next) : std::max(result, next);
    }
    return narrow<T>(result);
  }

 private:
  /// Every rank gives something, and it counts once.
  bool plain_sum() const {
    return op_ == Op::sum && active_ == static_cast<std::uint32_t>(ranks_) && shift_ < 32;
  }
  void add(const std::uint32_t (&hash)[kTile], int rank, std::uint32_t (&sum)[kTile]) const {
    const std::uint32_t own = static_cast<std::uint32_t>(rank) * 0x9e3779b1u;
    const int shift = shift_;
    for (int i = 0; i < kTile; ++i) sum[i] += 1 + (((hash[i] ^ own) * 0x85ebca77u) >> shift);
  }
  template <class Sum>
  void in_tiles(T* out, std::int64_t count, std::uint64_t first, Sum sum_up) const {
    std::uint32_t hash[kTile], sum[kTile];
    for (std::int64_t at = 0; at < count; at += kTile) {
      const std::uint64_t begin = first + static_cast<std::uint64_t>(at);
      for (int i = 0; i < kTile; ++i) {
        hash[i] = mix(seed_, begin + static_cast<std::uint64_t>(i));
        sum[i] = 0;
      }
      sum_up(hash, sum);
      const auto here = static_cast<int>(std::min<std::int64_t>(kTile, count - at));
      for (int i = 0; i < here; ++i) out[at + i] = from_sum(sum[i]);
    }
  }

  /// As a GPU divides: the sum has wrapped already.
  T divided(T sum) const {
    if constexpr (std::is_unsigned_v<T>)
      return static_cast<T>(sum / static_cast<std::uint64_t>(ranks_));
    else return static_cast<T>(sum / static_cast<std::int64_t>(ranks_));
  }
  static T from_sum(std::uint64_t sum) {
    if constexpr (kIsSmallFloat<T>) return T(static_cast<float>(sum));
    else return static_cast<T>(sum);
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

  Op op_;
  int ranks_;
  std::uint32_t seed_;
  std::uint32_t active_ = 1;
  int shift_ = 32;  ///< summands have 32 minus so many bits
};

template <class T>
void fill_input(void* to, std::int64_t count, Op op, int ranks, int rank, std::uint64_t seed,
                std::uint64_t first) {
  Generator<T>(op, ranks, seed).inputs(static_cast<T*>(to), count, rank, first);
}

template <class T>
void fill_output(void* to, std::int64_t count, Op op, int ranks, std::uint64_t seed,
                 std::uint64_t first) {
  Generator<T>(op, ranks, seed).outputs(static_cast<T*>(to), count, first);
}

template <int Bytes>
using Word = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

/// How many differ by more than `tolerance` units in the last place.
template <class U>
std::int64_t wrong(const U* got, const U* expected, std::int64_t count, unsigned tolerance) {
  std::int64_t bad = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const U delta = got[i] < expected[i] ? U(expected[i] - got[i]) : U(got[i] - expected[i]);
    bad += delta > tolerance ? 1 : 0;
  }
  return bad;
}

template <class T>
std::int64_t wrong_inline(const void* got, std::int64_t count, Op op, int ranks, std::uint64_t seed,
                          std::uint64_t first, unsigned tolerance) {
  using U = Word<sizeof(T)>;
  const Generator<T> generator(op, ranks, seed);
  const auto* results = static_cast<const U*>(got);
  std::int64_t bad = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto expected = std::bit_cast<U>(generator.output(first + static_cast<std::uint64_t>(i)));
    bad += wrong(results + i, &expected, 1, tolerance);
  }
  return bad;
}

/// Calls `f` with a value of the type that the mangled name starts with; false for none.
template <class F>
bool with_type(std::string_view mangled, F f) {
  constexpr std::pair<std::string_view, int> kNames[] = {{"a", 0},
                                                         {"h", 1},
                                                         {"i", 2},
                                                         {"j", 3},
                                                         {"l", 4},
                                                         {"m", 5},
                                                         {"6__half", 6},
                                                         {"13__nv_bfloat16", 7},
                                                         {"13__nv_fp8_e4m3", 8},
                                                         {"13__nv_fp8_e5m2", 9},
                                                         {"f", 10},
                                                         {"d", 11},
                                                         {"t", 12},
                                                         {"x", 4},
                                                         {"y", 5}};
  for (const auto& [name, type] : kNames) {
    if (!mangled.starts_with(name)) continue;
    switch (type) {
      case 0: f(std::int8_t{}); return true;
      case 1: f(std::uint8_t{}); return true;
      case 2: f(std::int32_t{}); return true;
      case 3: f(std::uint32_t{}); return true;
      case 4: f(std::int64_t{}); return true;
      case 5: f(std::uint64_t{}); return true;
      case 6: f(Half{}); return true;
      case 7: f(BFloat16{}); return true;
      case 8: f(Float8E4M3{}); return true;
      case 9: f(Float8E5M2{}); return true;
      case 10: f(float{}); return true;
      case 11: f(double{}); return true;
      case 12: f(std::uint16_t{}); return true;
      default: return false;
    }
  }
  return false;
}

Op op_in(std::string_view name) {
  constexpr std::pair<std::string_view, Op> kNames[] = {{"ReducePreMulSum", Op::premul_sum},
                                                        {"ReduceSum", Op::sum},
                                                        {"ReduceProd", Op::prod},
                                                        {"ReduceMin", Op::min},
                                                        {"ReduceMax", Op::max},
                                                        {"ReduceAvg", Op::avg}};
  for (const auto& [text, op] : kNames)
    if (name.find(text) != name.npos) return op;
  return Op::none;
}

/// Memory-bound kernels: the bytes at the GPU's memory rate.
Time memory_time(Process& process, int device, std::int64_t bytes) {
  const GpuPart* part = process.part(device);
  const Time least = process.costs().kernel;
  if (part == nullptr || part->memory_rate.is_zero()) return least;
  return least + transfer_time(Bytes(bytes), part->memory_rate);
}

KernelWork fills(void* to, std::int64_t bytes, std::function<void()> run) {
  return [=](Process& process, Stream& stream) {
    Work work;
    work.duration = memory_time(process, stream.device, bytes);
    work.effect = [=, &process] {
      process.do_data({{}, {{static_cast<std::byte*>(to), static_cast<std::size_t>(bytes)}}, run});
    };
    return work;
  };
}

KernelWork checks(std::vector<Span> reads, std::int64_t* bad, std::function<std::int64_t()> count) {
  return [=](Process& process, Stream& stream) {
    Work work;
    std::int64_t bytes = 0;
    for (const Span& span : reads) bytes += static_cast<std::int64_t>(span.bytes);
    work.duration = memory_time(process, stream.device, bytes);
    work.effect = [=, &process] {
      if (!process.world().plan().data) return;
      for (const Span& span : reads) process.settle(span.first, span.bytes);
      process.settle(bad, sizeof *bad);
      *bad += count();
    };
    return work;
  };
}

}  // namespace

std::optional<KernelWork> nccl_tests_kernel(const Launch& launch) {
  const auto after = [&](std::string_view kernel) -> std::string_view {
    const std::size_t at = launch.name.find(kernel);
    return at == launch.name.npos ? std::string_view() : launch.name.substr(at + kernel.size());
  };
  const Op op = op_in(launch.name);
  std::optional<KernelWork> result;

  if (const auto rest = after("prepareInput2I"); !rest.empty()) {
    auto* to = launch.argument<void*>(0);
    const auto count = launch.argument<std::int64_t>(1);
    const int ranks = launch.argument<int>(3), rank = launch.argument<int>(4);
    const auto seed = launch.argument<std::uint64_t>(5), first = launch.argument<std::uint64_t>(6);
    with_type(rest, [&](auto t) {
      using T = decltype(t);
      result = fills(to, count * static_cast<std::int64_t>(sizeof(T)),
                     [=] { fill_input<T>(to, count, op, ranks, rank, seed, first); });
    });
  } else if (const auto expected = after("prepareExpected2I"); !expected.empty()) {
    auto* to = launch.argument<void*>(0);
    const auto count = launch.argument<std::int64_t>(1);
    const int ranks = launch.argument<int>(3);
    const auto seed = launch.argument<std::uint64_t>(4), first = launch.argument<std::uint64_t>(5);
    with_type(expected, [&](auto t) {
      using T = decltype(t);
      result = fills(to, count * static_cast<std::int64_t>(sizeof(T)),
                     [=] { fill_output<T>(to, count, op, ranks, seed, first); });
    });
  } else if (const auto prepared = after("verifyPreparedI"); !prepared.empty()) {
    const auto* got = launch.argument<const std::byte*>(0);
    const auto* wanted = launch.argument<const std::byte*>(1);
    const auto count = launch.argument<std::int64_t>(2);
    const auto tolerance = launch.argument<unsigned>(3);
    auto* bad = launch.argument<std::int64_t*>(4);
    with_type(prepared, [&](auto t) {
      using U = Word<sizeof t>;
      const auto bytes = static_cast<std::size_t>(count) * sizeof(U);
      result = checks({{got, bytes}, {wanted, bytes}}, bad, [=] {
        return wrong(reinterpret_cast<const U*>(got), reinterpret_cast<const U*>(wanted), count,
                     tolerance);
      });
    });
  } else if (const auto inlined = after("verifyInline2I"); !inlined.empty()) {
    const auto* got = launch.argument<const std::byte*>(0);
    const auto count = launch.argument<std::int64_t>(1);
    const int ranks = launch.argument<int>(3);
    const auto seed = launch.argument<std::uint64_t>(4), first = launch.argument<std::uint64_t>(5);
    const auto tolerance = launch.argument<unsigned>(6);
    auto* bad = launch.argument<std::int64_t*>(7);
    with_type(inlined, [&](auto t) {
      using T = decltype(t);
      result = checks({{got, static_cast<std::size_t>(count) * sizeof(T)}}, bad, [=] {
        return wrong_inline<T>(got, count, op, ranks, seed, first, tolerance);
      });
    });
  }
  return result;
}

}  // namespace isleway::vgpu::cudart
