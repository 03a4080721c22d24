// NVML: who uses a GPU.
#include <algorithm>
#include <vector>

#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/nvml/exports/library.hpp"

using namespace isleway;
using namespace isleway::vgpu;
using namespace isleway::vgpu::nvml;

namespace {

constexpr unsigned kNoInstance = 0xffffffff;
enum Mode : unsigned { kCompute = 0, kGraphics = 1, kMps = 2, kAllModes = 3 };

template <class Info>
Info info_of(const MemoryUse& use) {
  Info info{};
  info.pid = static_cast<unsigned>(use.pid);
  info.usedGpuMemory = static_cast<unsigned long long>(use.bytes);
  if constexpr (requires { info.gpuInstanceId; })
    info.gpuInstanceId = info.computeInstanceId = kNoInstance;
  return info;
}

template <class Info>
std::vector<Info> compute_processes(Library& library, const Gpu& gpu) {
  std::vector<Info> infos;
  const std::vector<MemoryUse> uses = library.monitor().memory_uses(gpu);
  for (const MemoryUse& use : uses) infos.push_back(info_of<Info>(use));
  return infos;
}

template <class Info>
nvmlReturn_t tell_compute(nvmlDevice_t device, unsigned* count, Info* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    return copy_list(compute_processes<Info>(library, gpu), count, out);
  });
}

/// Graphics and MPS have no clients here.
nvmlReturn_t tell_none(nvmlDevice_t device, unsigned* count) {
  return tell(device, count, [](Library&, const Gpu&) { return 0; });
}

unsigned long long microseconds(Library& library) {
  return static_cast<unsigned long long>(library.now().ps() / 1'000'000);
}

/// The GPU's utilisation belongs to its only user; of several, each gets its part.
unsigned share_of(Library& library, const Gpu& gpu, std::size_t users) {
  const double busy = library.monitor().load(gpu).utilisation * 100;
  return users == 0 ? 0 : static_cast<unsigned>(busy / static_cast<double>(users));
}

}  // namespace

NVML_API nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t d, unsigned* count,
                                              nvmlProcessInfo_v1_t* out) {
  return tell_compute(d, count, out);
}
NVML_API nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t d, unsigned* count,
                                                 nvmlProcessInfo_v2_t* out) {
  return tell_compute(d, count, out);
}
NVML_API nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t d, unsigned* count,
                                                 nvmlProcessInfo_v2_t* out) {
  return tell_compute(d, count, out);
}
NVML_API nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t d, unsigned* count,
                                               nvmlProcessInfo_v1_t*) {
  return tell_none(d, count);
}
NVML_API nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t d, unsigned* count,
                                                  nvmlProcessInfo_v2_t*) {
  return tell_none(d, count);
}
NVML_API nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t d, unsigned* count,
                                                  nvmlProcessInfo_v2_t*) {
  return tell_none(d, count);
}
NVML_API nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t d, unsigned* count,
                                                 nvmlProcessInfo_v1_t*) {
  return tell_none(d, count);
}
NVML_API nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t d, unsigned* count,
                                                    nvmlProcessInfo_v2_t*) {
  return tell_none(d, count);
}
NVML_API nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t d, unsigned* count,
                                                    nvmlProcessInfo_v2_t*) {
  return tell_none(d, count);
}
NVML_API nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device,
                                               nvmlProcessDetailList_v1_t* out) {
  return tell_versioned(device, out, 1,
                        [](Library& library, const Gpu& gpu, nvmlProcessDetailList_v1_t& to) {
                          if (to.mode > kAllModes) return NVML_ERROR_INVALID_ARGUMENT;
                          std::vector<nvmlProcessDetail_v1_t> list;
                          if (to.mode == kCompute || to.mode == kAllModes)
                            list = compute_processes<nvmlProcessDetail_v1_t>(library, gpu);
                          return copy_list(list, &to.numProcArrayEntries, to.procArray);
                        });
}
NVML_API nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t* out,
                                         unsigned* count, unsigned long long last_seen) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const std::vector<MemoryUse> uses = library.monitor().memory_uses(gpu);
    const unsigned long long now = microseconds(library);
    if (uses.empty() || now <= last_seen) {
      *count = 0;
      return NVML_ERROR_NOT_FOUND;
    }
    std::vector<nvmlProcessUtilizationSample_t> samples;
    const unsigned busy = share_of(library, gpu, uses.size());
    for (const MemoryUse& use : uses)
      samples.push_back({static_cast<unsigned>(use.pid), now, busy, busy, 0, 0});
    return copy_list(samples, count, out);
  });
}
NVML_API nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device,
                                               nvmlProcessesUtilizationInfo_v1_t* out) {
  return tell_versioned(
      device, out, 1, [](Library& library, const Gpu& gpu, nvmlProcessesUtilizationInfo_v1_t& to) {
        const std::vector<MemoryUse> uses = library.monitor().memory_uses(gpu);
        const unsigned long long now = microseconds(library);
        std::vector<nvmlProcessUtilizationInfo_v1_t> samples;
        const unsigned busy = share_of(library, gpu, uses.size());
        if (now > to.lastSeenTimeStamp)
          for (const MemoryUse& use : uses)
            samples.push_back({now, static_cast<unsigned>(use.pid), busy, busy, 0, 0, 0, 0});
        if (samples.empty()) {
          to.processSamplesCount = 0;
          return NVML_ERROR_NOT_FOUND;
        }
        return copy_list(samples, &to.processSamplesCount, to.procUtilArray);
      });
}
NVML_API nvmlDeviceGetAccountingMode(nvmlDevice_t device, nvmlEnableState_t* out) {
  return tell(device, out,
              [](Library& library, const Gpu& gpu) { return library.settings(gpu).accounting; });
}
NVML_API nvmlDeviceSetAccountingMode(nvmlDevice_t device, nvmlEnableState_t mode) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    library.settings(gpu).accounting = mode;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetAccountingBufferSize(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu&) { return 4000; });
}
NVML_API nvmlDeviceGetAccountingPids(nvmlDevice_t device, unsigned* count, unsigned* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    std::vector<unsigned> pids;
    if (library.settings(gpu).accounting == NVML_FEATURE_ENABLED) {
      const std::vector<MemoryUse> uses = library.monitor().memory_uses(gpu);
      for (const MemoryUse& use : uses) pids.push_back(static_cast<unsigned>(use.pid));
    }
    return copy_list(pids, count, out);
  });
}
NVML_API nvmlDeviceGetAccountingStats(nvmlDevice_t device, unsigned pid,
                                      nvmlAccountingStats_t* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (library.settings(gpu).accounting == NVML_FEATURE_DISABLED) return NVML_ERROR_NOT_FOUND;
    const std::vector<MemoryUse> uses = library.monitor().memory_uses(gpu);
    const auto found = std::find_if(uses.begin(), uses.end(), [&](const MemoryUse& use) {
      return static_cast<unsigned>(use.pid) == pid;
    });
    if (found == uses.end()) return NVML_ERROR_NOT_FOUND;
    *out = {};
    out->gpuUtilization = out->memoryUtilization = share_of(library, gpu, uses.size());
    out->maxMemoryUsage = static_cast<unsigned long long>(found->bytes);
    out->time = microseconds(library) / 1000;
    out->isRunning = 1;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceClearAccountingPids(nvmlDevice_t device) {
  return ask(device, [](Library&, const Gpu&) { return NVML_SUCCESS; });
}
