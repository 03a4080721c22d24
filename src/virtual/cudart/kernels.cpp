#include "virtual/cudart/kernels.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "virtual/cudart/graph.hpp"
#include "virtual/device/attributes.hpp"

namespace isleway::vgpu::cudart {
namespace {

/// What was left out is said at the end, when nobody can overlook it.
void tell_skipped() {
  const auto& skipped = kernel_table().skipped();
  if (skipped.empty()) return;
  fmt::print(stderr,
             "isleway: RESULTS OF KERNELS WERE NOT COMPUTED. These kernels were left out:\n");
  for (const auto& [name, count] : skipped)
    fmt::print(stderr, "isleway:   {} ({} launches)\n", name, count);
}

}  // namespace

std::string readable(std::string_view mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : std::string(mangled);
  std::free(text);
  return result;
}

KernelTable& kernel_table() {
  // Programs register their kernels before main begins, and until it has ended.
  static KernelTable& table = *new KernelTable;
  return table;
}

int blocks_per_multiprocessor(Process& process, int device, int threads, std::size_t shared) {
  const auto at = [&](int number) { return device_attribute(process, device, number).value_or(1); };
  const int blocks = std::min(at(106), at(39) / threads);
  if (shared == 0) return blocks;
  return std::min(blocks, static_cast<int>(static_cast<std::size_t>(at(81)) / shared));
}

KernelWork work_of_kernel(Process& process, const Launch& launch) {
  if (auto work = known_kernel(launch)) return std::move(*work);
  const std::string name = readable(launch.name);
  if (process.world().plan().kernels == UnknownKernels::stop) {
    fmt::print(stderr,
               "isleway: the program launched the kernel\n  {}\nwhose code cannot run without a "
               "GPU\n  expected: only kernels that are known by name (docs/virtual.md lists them)\n"
               "  hint: isleway run --kernels=skip leaves such kernels out; what they would have "
               "computed is then missing\n",
               name);
    std::fflush(stdout);
    std::_Exit(2);
  }
  auto& skipped = kernel_table().skipped();
  if (skipped.empty()) std::atexit(tell_skipped);
  ++skipped[name];
  return [](Process& p, Stream&) {
    Work nothing;
    nothing.duration = p.costs().kernel;
    return nothing;
  };
}

int launch_kernel(Process& process, const Launch& launch, Stream& stream) {
  put_or_record(
      process, stream, GraphNode::Kind::kernel,
      [work = work_of_kernel(process, launch)](Process& p, Stream& s) { p.put(s, work(p, s)); });
  return success;
}

}  // namespace isleway::vgpu::cudart
