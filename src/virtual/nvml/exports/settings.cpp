// NVML: what clients set. The process remembers it; the simulation does not change by it.
#include <algorithm>
#include <cmath>

#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/nvml/exports/library.hpp"

using namespace isleway;
using namespace isleway::vgpu::nvml;

namespace {

/// Sets something on a GPU: `set(settings, gpu)` says whether the value can be.
template <class Set>
nvmlReturn_t change(nvmlDevice_t device, Set set) {
  return ask(device,
             [&](Library& library, const Gpu& gpu) { return set(library.settings(gpu), gpu); });
}

nvmlReturn_t set_clock(const Board& board, unsigned least, unsigned most, int top, unsigned& to) {
  if (board.sm_clock == 0) return NVML_ERROR_NOT_SUPPORTED;
  if (least > most || most > static_cast<unsigned>(top)) return NVML_ERROR_INVALID_ARGUMENT;
  to = most;
  return NVML_SUCCESS;
}

nvmlReturn_t set_power(Settings& settings, const Gpu& gpu, unsigned milliwatts) {
  const auto least = static_cast<unsigned>(gpu.board.least_power_watts) * 1000;
  const auto most = static_cast<unsigned>(gpu.board.power_watts) * 1000;
  if (most == 0) return NVML_ERROR_NOT_SUPPORTED;
  if (milliwatts < least || milliwatts > most) return NVML_ERROR_INVALID_ARGUMENT;
  settings.power_limit_mw = milliwatts;
  return NVML_SUCCESS;
}

}  // namespace

NVML_API nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t* out) {
  return tell(device, out, [](Library& l, const Gpu& g) { return l.settings(g).persistence; });
}
NVML_API nvmlDeviceSetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t mode) {
  return change(device, [&](Settings& settings, const Gpu&) {
    settings.persistence = mode;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t* out) {
  return tell(device, out, [](Library& l, const Gpu& g) { return l.settings(g).compute_mode; });
}
NVML_API nvmlDeviceSetComputeMode(nvmlDevice_t device, nvmlComputeMode_t mode) {
  return change(device, [&](Settings& settings, const Gpu&) {
    if (mode < NVML_COMPUTEMODE_DEFAULT || mode > NVML_COMPUTEMODE_EXCLUSIVE_PROCESS)
      return NVML_ERROR_INVALID_ARGUMENT;
    settings.compute_mode = mode;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned milliwatts) {
  return change(device, [&](Settings& s, const Gpu& gpu) { return set_power(s, gpu, milliwatts); });
}
NVML_API nvmlDeviceSetPowerManagementLimit_v2(nvmlDevice_t device, nvmlPowerValue_v2_t* value) {
  return change(device, [&](Settings& settings, const Gpu& gpu) {
    const nvmlReturn_t checked = check_version(value, 2);
    if (checked != NVML_SUCCESS) return checked;
    if (value->powerScope != 0) return NVML_ERROR_NOT_SUPPORTED;  // the module, or memory alone
    return set_power(settings, gpu, value->powerValueMw);
  });
}
NVML_API nvmlDeviceSetApplicationsClocks(nvmlDevice_t device, unsigned memory, unsigned graphics) {
  return change(device, [&](Settings& settings, const Gpu& gpu) {
    const nvmlReturn_t set =
        set_clock(gpu.board, graphics, graphics, gpu.board.sm_clock, settings.sm_clock);
    if (set != NVML_SUCCESS) return set;
    return set_clock(gpu.board, memory, memory, gpu.board.memory_clock, settings.memory_clock);
  });
}
NVML_API nvmlDeviceResetApplicationsClocks(nvmlDevice_t device) {
  return change(device, [](Settings& settings, const Gpu&) {
    settings.sm_clock = settings.memory_clock = 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceSetGpuLockedClocks(nvmlDevice_t device, unsigned least, unsigned most) {
  return change(device, [&](Settings& settings, const Gpu& gpu) {
    return set_clock(gpu.board, least, most, gpu.board.sm_clock, settings.sm_clock);
  });
}
NVML_API nvmlDeviceResetGpuLockedClocks(nvmlDevice_t device) {
  return change(device, [](Settings& settings, const Gpu&) {
    settings.sm_clock = 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceSetMemoryLockedClocks(nvmlDevice_t device, unsigned least, unsigned most) {
  return change(device, [&](Settings& settings, const Gpu& gpu) {
    return set_clock(gpu.board, least, most, gpu.board.memory_clock, settings.memory_clock);
  });
}
NVML_API nvmlDeviceResetMemoryLockedClocks(nvmlDevice_t device) {
  return change(device, [](Settings& settings, const Gpu&) {
    settings.memory_clock = 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t* out) {
  return tell(device, out, [](Library&, const Gpu&) { return NVML_FEATURE_DISABLED; });
}
NVML_API nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t* out) {
  return tell(device, out, [](Library&, const Gpu&) { return NVML_FEATURE_DISABLED; });
}
NVML_API nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, int* out) {
  return tell(device, out, [](Library&, const Gpu&) { return 0; });  // on the bare machine
}
NVML_API nvmlDeviceGetAPIRestriction(nvmlDevice_t device, int which, nvmlEnableState_t* out) {
  return ask(device, [&](Library&, const Gpu&) {
    if (out == nullptr || which < 0 || which > 1) return NVML_ERROR_INVALID_ARGUMENT;
    *out = NVML_FEATURE_DISABLED;
    return NVML_SUCCESS;
  });
}
