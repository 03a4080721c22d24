// Kernels of CUDA's samples and of nvbandwidth: waits, copies, patterns.
#include <algorithm>
#include <cstring>
#include <utility>

#include "virtual/cudart/kernels.hpp"

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
KernelWork fill_pattern(const Launch& launch) {
  auto* to = launch.argument<std::uint32_t*>(0);
  const auto* pattern = launch.argument<const std::uint32_t*>(1);
  const auto count = launch.argument<unsigned long long>(2);
  const auto period = std::max(1u, launch.argument<unsigned>(3));
  return does({span(pattern, period * 4ull)}, {span(to, count * 4)}, [=] {
    for (unsigned long long i = 0; i < count; ++i) to[i] = pattern[i % period];
  });
}
KernelWork compare_pattern(const Launch& launch) {
  const auto* got = launch.argument<const std::uint32_t*>(0);
  const auto* pattern = launch.argument<const std::uint32_t*>(1);
  const auto count = launch.argument<unsigned long long>(2);
  const auto period = std::max(1u, launch.argument<unsigned>(3));
  auto* wrong = launch.argument<std::int32_t*>(4);
  // The flag keeps what it was where all agree, so it is read as well.
  return does({span(got, count * 4), span(pattern, period * 4ull), span(wrong, 4)},
              {span(wrong, 4)}, [=] {
                for (unsigned long long i = 0; i < count; ++i)
                  if (got[i] != pattern[i % period]) *wrong = 1;
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
    if (block != nullptr && !block->on_host()) {
      const auto fabric = process.fabric();
      const Route way =
          route(*fabric, fabric->gpu(process.gpu(stream.device)), fabric->gpu(block->gpu));
      // There and back.
      if (way.exists()) step = way.latency * 2;
    }
    work.duration = process.costs().kernel + step * steps;
    return work;
  };
}

bool is(const Launch& launch, std::string_view name) {
  // Mangled names hold each name after its length: "5delay".
  return launch.name.find(std::to_string(name.size()) + std::string(name)) != launch.name.npos ||
         launch.name == name;
}

}  // namespace

std::optional<KernelWork> copy_kernel(const Launch& launch) {
  constexpr std::uint64_t uint4_bytes = 16;
  if (is(launch, "delay") || is(launch, "spinKernelDevice") ||
      is(launch, "spinKernelDeviceMultistage"))
    return waits_for_host();
  if (is(launch, "copyp2p"))
    return copies(launch.argument<void*>(0), launch.argument<const void*>(1),
                  launch.argument<std::size_t>(2) * uint4_bytes, 1);
  if (is(launch, "simpleCopyKernel") || is(launch, "splitWarpCopyKernel"))
    return copies(launch.argument<void*>(1), launch.argument<const void*>(2),
                  threads(launch) * uint4_bytes, launch.argument<unsigned long long>(0));
  if (is(launch, "stridingMemcpyKernel"))
    return copies(launch.argument<void*>(2), launch.argument<const void*>(3),
                  threads(launch) * launch.argument<std::size_t>(4) * uint4_bytes,
                  launch.argument<unsigned long long>(1));
  if (is(launch, "ptrChasingKernel")) return chases(launch);
  if (is(launch, "memsetKernelDevice")) return fill_pattern(launch);
  if (is(launch, "memcmpKernelDevice")) return compare_pattern(launch);
  return std::nullopt;
}

std::optional<KernelWork> known_kernel(const Launch& launch) {
  auto work = nccl_tests_kernel(launch);
  return work ? std::move(work) : copy_kernel(launch);
}

}  // namespace isleway::vgpu::cudart
