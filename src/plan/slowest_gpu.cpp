#include "isleway/plan/slowest_gpu.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace isleway::plan {

double usable_memory(const GpuPart& part) {
  constexpr double kGibPerGb = 1.073741824, kLeft = 0.995;
  return static_cast<double>(part.memory.count()) * kGibPerGb * kLeft;
}

namespace {

GpuSpread spread_of(const Fabric& fabric, const std::map<std::string, double>& peaks,
                    const Parts& parts, const ComputeModel& slowest) {
  GpuSpread spread;
  for (GpuId gpu = 0; gpu < fabric.gpu_count(); ++gpu) {
    const std::string& key = fabric.device(fabric.gpu(gpu)).part;
    spread.speed.push_back(peaks.at(key) / slowest.part().bf16);
    spread.memory.push_back(usable_memory(*parts.gpu(key)));
  }
  return spread;
}

}  // namespace

Result<SlowestGpu> slowest_gpu(const Fabric& fabric, const ComputeCatalogue& catalogue,
                               const Parts& parts) {
  std::optional<SlowestGpu> slowest;
  std::set<std::string> seen;
  std::map<std::string, double> peaks;
  for (const auto& unit : fabric.templates()) {
    for (const DeviceIndex index : unit->gpus()) {
      const std::string& key = unit->device(index).part;
      if (!seen.insert(key).second) continue;
      const GpuPart* part = parts.gpu(key);
      if (part == nullptr)
        return fail("the machine does not say which GPUs it has", "a GPU of the catalogue",
                    "--gpu h100-sxm");
      auto compute = catalogue.gpu(parts, key);
      if (!compute) return tl::unexpected(compute.error());
      const double memory = usable_memory(*part);
      peaks[key] = compute->part().bf16;
      if (!slowest) {
        slowest = SlowestGpu{std::move(*compute), memory, false};
        continue;
      }
      slowest->mixed = true;
      slowest->memory = std::min(slowest->memory, memory);
      if (compute->part().bf16 < slowest->compute.part().bf16)
        slowest->compute = std::move(*compute);
    }
  }
  if (!slowest) return fail("the machine has no GPU");
  if (slowest->mixed) slowest->spread = spread_of(fabric, peaks, parts, slowest->compute);
  return *slowest;
}

}  // namespace isleway::plan
