// Kernels of CUDA's samples and of nvbandwidth: waits, copies, patterns.
#include <algorithm>
#include <cstring>
#include <utility>

#include "virtual/cudart/kernels.hpp"
#include "virtual/cudart/places.hpp"

namespace isleway::vgpu::cudart {
namespace {

std::uint64_t threads(const Launch& launch) {
  return std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z * launch.block.x *
         launch.block.y * launch.block.z;
}

KernelWork waits_for_host() {
  return [](Process&, Stream&) {
    Work work;
    work.kind = Work::Kind::latch;
    return work;
  };
}

/// `times` copies of the same bytes, moved by the GPU's threads.
KernelWork copies(void* to, const void* from, std::uint64_t bytes, std::uint64_t times) {
  return [=](Process& process, Stream&) {
    auto work = process.copy_work(to, from, bytes);
    if (!work) return Work{};
    work->flow.bytes *= static_cast<double>(times);
    return std::move(*work);
  };
}

KernelWork does(std::vector<Span> reads, std::vector<Span> writes, std::function<void()> run) {
  return [=](Process& process, Stream&) {
    Work work;
    work.duration = process.costs().kernel;
    work.effect = [=, &process] { process.do_data({reads, writes, run}); };
    return work;
  };
}

Span span(const void* first, std::uint64_t bytes) {
  return {static_cast<const std::byte*>(first), static_cast<std::size_t>(bytes)};
}

/// Words of a repeated pattern, written or compared.
struct Pattern {
  const std::uint32_t* words;
  unsigned long long count;
  unsigned period;
};
Pattern pattern_of(const Launch& launch) {
  return {launch.argument<const std::uint32_t*>(1), launch.argument<unsigned long long>(2),
          std::max(1u, launch.argument<unsigned>(3))};
}
KernelWork fill_pattern(const Launch& launch) {
  const auto* first = launch.argument<const void*>(0);
  return [first, pattern = pattern_of(launch)](Process& process, Stream& stream) {
    const std::uint64_t bytes = pattern.count * 4;
    std::vector<Span> writes;
    for (std::byte* place : places(process, first, bytes)) writes.push_back(span(place, bytes));
    return does({span(pattern.words, pattern.period * 4ull)}, writes, [=] {
      for (const Span& target : writes) {
        auto* to = reinterpret_cast<std::uint32_t*>(const_cast<std::byte*>(target.first));
        for (unsigned long long at = 0; at < pattern.count; at += pattern.period)
          std::copy_n(pattern.words,
                      std::min<unsigned long long>(pattern.period, pattern.count - at), to + at);
      }
    })(process, stream);
  };
}
KernelWork compare_pattern(const Launch& launch) {
  const auto* first = launch.argument<const void*>(0);
  auto* wrong = launch.argument<std::int32_t*>(4);
  return [first, wrong, pattern = pattern_of(launch)](Process& process, Stream& stream) {
    const std::uint64_t bytes = pattern.count * 4;
    std::vector<Span> gots;
    for (std::byte* place : places(process, first, bytes)) gots.push_back(span(place, bytes));
    // The flag keeps what it was where all agree, so it is read as well.
    std::vector<Span> reads = gots;
    reads.push_back(span(pattern.words, pattern.period * 4ull));
    reads.push_back(span(wrong, 4));
    return does(reads, {span(wrong, 4)}, [=] {
      for (const Span& source : gots) {
        const auto* got = reinterpret_cast<const std::uint32_t*>(source.first);
        for (unsigned long long at = 0; at < pattern.count; at += pattern.period)
          if (!std::equal(
                  pattern.words,
                  pattern.words + std::min<unsigned long long>(pattern.period, pattern.count - at),
                  got + at))
            *wrong = 1;
      }
    })(process, stream);
  };
}

constexpr std::uint64_t kWarpBytes = 32 * 16;  ///< 32 threads with 16 bytes each

/// Odd warps copy one way, even ones the other, at the same time.
KernelWork split_copies(const Launch& launch) {
  auto* to = launch.argument<std::byte*>(1);
  auto* from = launch.argument<std::byte*>(2);
  const auto times = launch.argument<unsigned long long>(0);
  const std::uint64_t bytes = threads(launch) * 16;
  return [=](Process& process, Stream&) {
    auto work = process.copy_work(to, from, bytes);
    if (!work) return Work{};
    // Half of the bytes each way, against one another: the path after each is that.
    if (work->flow.opposite >= 0) ++work->flow.path;
    work->flow.opposite = -1;
    work->flow.bytes *= static_cast<double>(times) / 2;
    const std::function<void()> run = [=] {
      for (std::uint64_t at = 0, warp = 0; at < bytes; at += kWarpBytes, ++warp) {
        const std::uint64_t part = std::min(kWarpBytes, bytes - at);
        if (warp % 2 == 1) std::memcpy(to + at, from + at, part);
        else std::memcpy(from + at, to + at, part);
      }
    };
    work->effect = [=, &process] {
      const std::vector<Span> both = {span(to, bytes), span(from, bytes)};
      process.do_data({both, both, run});
    };
    return std::move(*work);
  };
}

/// Clears what the odd warps, or the even ones, would touch.
KernelWork clear_by_warp(const Launch& launch) {
  auto* first = launch.argument<std::byte*>(0);
  const bool odd = launch.argument<bool>(1);
  const std::uint64_t bytes = threads(launch) * 16;
  return does({span(first, bytes)}, {span(first, bytes)}, [=] {
    for (std::uint64_t at = odd ? kWarpBytes : 0; at < bytes; at += 2 * kWarpBytes)
      std::memset(first + at, 0, std::min(kWarpBytes, bytes - at));
  });
}

/// Pointers followed one after the other: each step is a read over the link.
KernelWork chases(const Launch& launch) {
  const auto* data = launch.argument<const void*>(0);
  const auto steps = launch.argument<unsigned>(2);
  return [=](Process& process, Stream& stream) {
    Work work;
    const Block* block = process.memory().find(data);
    Time step = process.costs().kernel;
    const std::optional<GpuId> to =
        block != nullptr && !block->on_host() ? std::optional(block->gpu) : std::nullopt;
    // There and back.
    if (const auto way = process.latency(process.gpu(stream.device), to)) step = *way * 2;
    work.duration = process.costs().kernel + step * steps;
    return work;
  };
}

/// Whether the kernel has this name, and parameters that begin like these, as mangled names have
/// them: "5delay" "PVi". Other programs have a kernel called delay too.
bool is(const Launch& launch, std::string_view name, std::string_view parameters) {
  const std::string mangled =
      "_Z" + std::to_string(name.size()) + std::string(name) + std::string(parameters);
  return launch.name.starts_with(mangled);
}

}  // namespace

std::optional<KernelWork> copy_kernel(const Launch& launch) {
  constexpr std::uint64_t uint4_bytes = 16;
  // CUDA's samples.
  if (is(launch, "delay", "PVi")) return waits_for_host();
  if (is(launch, "copyp2p", "P4int4PKS_m"))
    return copies(launch.argument<void*>(0), launch.argument<const void*>(1),
                  launch.argument<std::size_t>(2) * uint4_bytes, 1);
  // nvbandwidth.
  if (is(launch, "spinKernelDevice", "PViy") || is(launch, "spinKernelDeviceMultistage", "PViS0_y"))
    return waits_for_host();
  if (is(launch, "simpleCopyKernel", "yP5uint4S0_"))
    return copies(launch.argument<void*>(1), launch.argument<const void*>(2),
                  threads(launch) * uint4_bytes, launch.argument<unsigned long long>(0));
  if (is(launch, "splitWarpCopyKernel", "yP5uint4S0_")) return split_copies(launch);
  if (is(launch, "stridingMemcpyKernel", "jyP5uint4S0_m"))
    return copies(launch.argument<void*>(2), launch.argument<const void*>(3),
                  threads(launch) * launch.argument<std::size_t>(4) * uint4_bytes,
                  launch.argument<unsigned long long>(1));
  if (is(launch, "multicastCopyKernel", "yPjS_m"))
    return copies(launch.argument<void*>(1), launch.argument<const void*>(2),
                  launch.argument<std::size_t>(3) * sizeof(std::uint32_t),
                  launch.argument<unsigned long long>(0));
  if (is(launch, "ptrChasingKernel", "P11LatencyNodemj")) return chases(launch);
  if (is(launch, "memsetKernelDevice", "yyyj")) return fill_pattern(launch);
  if (is(launch, "memcmpKernelDevice", "yyyjy") ||
      is(launch, "multicastMemcmpKernelDevice", "yyyjy"))
    return compare_pattern(launch);
  if (is(launch, "memclearKernelByWarpParityDevice", "yb")) return clear_by_warp(launch);
  return std::nullopt;
}

std::optional<KernelWork> known_kernel(const Launch& launch) {
  auto work = nccl_tests_kernel(launch);
  return work ? std::move(work) : copy_kernel(launch);
}

}  // namespace isleway::vgpu::cudart
