// What nccl-tests fills buffers with and checks them against. Its own generator runs on GPUs;
// this one serves the same purpose.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "isleway/core/parallel.hpp"
#include "virtual/cudart/kernels.hpp"
#include "virtual/cudart/test_inputs.hpp"

namespace isleway::vgpu::cudart {
namespace {

/// Elements of one type, made part by part: `make(T* out, count, first)`.
template <class T, class Make>
Producer by_element(Make make) {
  return [make](std::size_t offset, std::span<std::byte> out) {
    const std::size_t lead = offset % sizeof(T);
    if (lead == 0 && out.size() % sizeof(T) == 0 &&
        reinterpret_cast<std::uintptr_t>(out.data()) % alignof(T) == 0)
      return make(reinterpret_cast<T*>(out.data()), out.size() / sizeof(T), offset / sizeof(T));
    std::vector<T> whole((lead + out.size() + sizeof(T) - 1) / sizeof(T));
    make(whole.data(), whole.size(), offset / sizeof(T));
    std::memcpy(out.data(), reinterpret_cast<std::byte*>(whole.data()) + lead, out.size());
  };
}

template <class T>
Producer input_of(TestOp op, int ranks, int rank, std::uint64_t seed, std::uint64_t first) {
  return by_element<T>(
      [=, inputs = TestInputs<T>(op, ranks, seed)](T* out, std::size_t count, std::size_t at) {
        inputs.inputs(out, static_cast<std::int64_t>(count), rank, first + at);
      });
}
template <class T>
Producer output_of(TestOp op, int ranks, std::uint64_t seed, std::uint64_t first) {
  return by_element<T>(
      [=, inputs = TestInputs<T>(op, ranks, seed)](T* out, std::size_t count, std::size_t at) {
        inputs.outputs(out, static_cast<std::int64_t>(count), first + at);
      });
}

/// Pieces that stay in a processor's cache, and are enough to be worth a thread's while.
constexpr std::size_t kTile = std::size_t{64} << 10, kTilesATask = 16;

/// Calls `work(offset, bytes)` for all tiles, on all processors where there are many.
void for_tiles(std::size_t bytes, const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t tiles = (bytes + kTile - 1) / kTile;
  parallel_for((tiles + kTilesATask - 1) / kTilesATask, [&](std::size_t task) {
    const std::size_t end = std::min(tiles, (task + 1) * kTilesATask);
    for (std::size_t tile = task * kTilesATask; tile < end; ++tile)
      work(tile * kTile, std::min(kTile, bytes - tile * kTile));
  });
}

template <int Bytes>
using Word = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

/// How many differ by more than `tolerance` units in the last place.
template <class U>
std::int64_t wrong(const U* got, const U* expected, std::int64_t count, unsigned tolerance) {
  // Blocks of one size are what compilers do several elements at once of.
  constexpr std::int64_t block = 256;
  const auto is_wrong = [=](U a, U b) -> std::uint32_t {
    const U delta = a < b ? U(b - a) : U(a - b);
    return delta > tolerance ? 1 : 0;
  };
  std::int64_t bad = 0, i = 0;
  for (; i + block <= count; i += block) {
    std::uint32_t here = 0;
    for (std::int64_t j = 0; j < block; ++j) here += is_wrong(got[i + j], expected[i + j]);
    bad += here;
  }
  for (; i < count; ++i) bad += is_wrong(got[i], expected[i]);
  return bad;
}

/// The same where the expected values are made while they are compared.
template <class U>
std::int64_t wrong(const U* got, const Producer& expected, std::int64_t count, unsigned tolerance) {
  std::atomic<std::int64_t> bad = 0;
  for_tiles(static_cast<std::size_t>(count) * sizeof(U), [&](std::size_t at, std::size_t bytes) {
    alignas(64) std::byte wanted[kTile];
    expected(at, {wanted, bytes});
    bad += wrong(got + at / sizeof(U), reinterpret_cast<const U*>(wanted),
                 static_cast<std::int64_t>(bytes / sizeof(U)), tolerance);
  });
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

TestOp op_in(std::string_view name) {
  constexpr std::pair<std::string_view, TestOp> kNames[] = {{"ReducePreMulSum", TestOp::premul_sum},
                                                            {"ReduceSum", TestOp::sum},
                                                            {"ReduceProd", TestOp::prod},
                                                            {"ReduceMin", TestOp::min},
                                                            {"ReduceMax", TestOp::max},
                                                            {"ReduceAvg", TestOp::avg}};
  for (const auto& [text, op] : kNames)
    if (name.find(text) != name.npos) return op;
  return TestOp::none;
}

/// Memory-bound kernels: the bytes at the GPU's memory rate.
Time memory_time(Process& process, int device, std::int64_t bytes) {
  const GpuPart* part = process.part(device);
  const Time least = process.costs().kernel;
  if (part == nullptr || part->memory_rate.is_zero()) return least;
  return least + transfer_time(Bytes(bytes), part->memory_rate);
}

KernelWork fills(void* to, std::int64_t bytes, const Producer& produce) {
  return [=](Process& process, Stream& stream) {
    Work work;
    work.duration = memory_time(process, stream.device, bytes);
    work.effect = [=, &process] {
      auto* first = static_cast<std::byte*>(to);
      const auto size = static_cast<std::size_t>(bytes);
      DataOp op;
      op.writes = {{first, size}};
      op.produce = produce;
      op.run = [=] {
        for_tiles(size, [&](std::size_t at, std::size_t part) { produce(at, {first + at, part}); });
      };
      process.do_data(std::move(op));
    };
    return work;
  };
}

/// `expected`: what to compare with, or empty where `wanted` says where it lies.
template <class U>
KernelWork checks(const void* got, const void* wanted, Producer expected, std::int64_t count,
                  unsigned tolerance, std::int64_t* bad) {
  return [=](Process& process, Stream& stream) {
    const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(U));
    const auto size = static_cast<std::size_t>(bytes);
    Work work;
    work.duration = memory_time(process, stream.device, wanted == nullptr ? bytes : 2 * bytes);
    work.effect = [=, &process] {
      if (!process.world().plan().data) return;
      process.settle(got, size);
      process.settle(bad, sizeof *bad);
      const auto* results = static_cast<const U*>(got);
      Producer known = expected;
      if (!known) known = process.data().producer({static_cast<const std::byte*>(wanted), size});
      if (known) {
        *bad += wrong(results, known, count, tolerance);
        return;
      }
      process.settle(wanted, size);
      *bad += wrong(results, static_cast<const U*>(wanted), count, tolerance);
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
  const TestOp op = op_in(launch.name);
  std::optional<KernelWork> result;

  if (const auto rest = after("prepareInput2I"); !rest.empty()) {
    auto* to = launch.argument<void*>(0);
    const auto count = launch.argument<std::int64_t>(1);
    const int ranks = launch.argument<int>(3), rank = launch.argument<int>(4);
    const auto seed = launch.argument<std::uint64_t>(5), first = launch.argument<std::uint64_t>(6);
    with_type(rest, [&](auto t) {
      using T = decltype(t);
      result = fills(to, count * static_cast<std::int64_t>(sizeof(T)),
                     input_of<T>(op, ranks, rank, seed, first));
    });
  } else if (const auto expected = after("prepareExpected2I"); !expected.empty()) {
    auto* to = launch.argument<void*>(0);
    const auto count = launch.argument<std::int64_t>(1);
    const int ranks = launch.argument<int>(3);
    const auto seed = launch.argument<std::uint64_t>(4), first = launch.argument<std::uint64_t>(5);
    with_type(expected, [&](auto t) {
      using T = decltype(t);
      result = fills(to, count * static_cast<std::int64_t>(sizeof(T)),
                     output_of<T>(op, ranks, seed, first));
    });
  } else if (const auto prepared = after("verifyPreparedI"); !prepared.empty()) {
    const auto* got = launch.argument<const std::byte*>(0);
    const auto* wanted = launch.argument<const std::byte*>(1);
    const auto count = launch.argument<std::int64_t>(2);
    const auto tolerance = launch.argument<unsigned>(3);
    auto* bad = launch.argument<std::int64_t*>(4);
    with_type(prepared, [&](auto t) {
      using U = Word<sizeof t>;
      result = checks<U>(got, wanted, {}, count, tolerance, bad);
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
      result = checks<Word<sizeof(T)>>(got, nullptr, output_of<T>(op, ranks, seed, first), count,
                                       tolerance, bad);
    });
  }
  return result;
}

}  // namespace isleway::vgpu::cudart
