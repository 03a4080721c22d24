// NVML: clocks, power, heat, utilisation. They follow from the work that the GPU has done in
// the run's own time; docs/nvml.md says by what rule.
#include <algorithm>
#include <cmath>
#include <vector>

#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/nvml/exports/library.hpp"

using namespace isleway;
using namespace isleway::vgpu::nvml;

namespace {

enum : unsigned long long { kReasonIdle = 0x1, kReasonPowerCap = 0x4, kReasonUserClocks = 0x2 };
constexpr unsigned long long kSupportedReasons = 0x1ff;

constexpr unsigned kSamplingMicroseconds = 167'000;

constexpr unsigned kLeastClock = 210;  ///< MHz, of the SMs

unsigned milliwatts(double watts) { return static_cast<unsigned>(std::lround(watts * 1000)); }

unsigned power_limit_mw(Library& library, const Gpu& gpu) {
  const unsigned set = library.settings(gpu).power_limit_mw;
  return set > 0 ? set : milliwatts(gpu.board.power_watts);
}

unsigned percent(double share) { return static_cast<unsigned>(std::lround(share * 100)); }

unsigned most_clock(const Gpu& gpu, nvmlClockType_t type) {
  switch (type) {
    case NVML_CLOCK_MEM: return static_cast<unsigned>(gpu.board.memory_clock);
    case NVML_CLOCK_VIDEO: return static_cast<unsigned>(video_clock(gpu.board.sm_clock));
    default: return static_cast<unsigned>(gpu.board.sm_clock);
  }
}

unsigned clock_now(Library& library, const Gpu& gpu, nvmlClockType_t type) {
  const Load load = library.monitor().load(gpu);
  switch (type) {
    case NVML_CLOCK_MEM: return static_cast<unsigned>(load.memory_clock);
    case NVML_CLOCK_VIDEO: return static_cast<unsigned>(video_clock(load.sm_clock));
    default: return static_cast<unsigned>(load.sm_clock);
  }
}

unsigned application_clock(Library& library, const Gpu& gpu, nvmlClockType_t type) {
  const Settings& set = library.settings(gpu);
  const unsigned chosen = type == NVML_CLOCK_MEM ? set.memory_clock : set.sm_clock;
  return chosen > 0 ? chosen : most_clock(gpu, type);
}

/// Clocks: answered for a kind of clock that there is, on a board whose clocks are known.
template <class Value>
nvmlReturn_t tell_clock(nvmlDevice_t device, nvmlClockType_t type, unsigned* out, Value value) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (out == nullptr || type < 0 || type >= NVML_CLOCK_COUNT) return NVML_ERROR_INVALID_ARGUMENT;
    if (gpu.board.sm_clock == 0) return NVML_ERROR_NOT_SUPPORTED;
    *out = value(library, gpu);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t tell_idle_engine(nvmlDevice_t device, unsigned* utilisation, unsigned* period) {
  return ask(device, [&](Library&, const Gpu&) {
    if (utilisation == nullptr || period == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *utilisation = 0;
    *period = kSamplingMicroseconds;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t tell_fan(nvmlDevice_t device, unsigned fan, unsigned* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!gpu.board.fan) return NVML_ERROR_NOT_SUPPORTED;
    if (fan > 0) return NVML_ERROR_INVALID_ARGUMENT;
    *out = 30 + percent(library.monitor().load(gpu).utilisation) / 2;
    return NVML_SUCCESS;
  });
}

unsigned long long clock_reasons(Library& library, const Gpu& gpu) {
  unsigned long long reasons = 0;
  if (!(library.monitor().load(gpu).utilisation > 0)) reasons |= kReasonIdle;
  if (library.settings(gpu).sm_clock > 0) reasons |= kReasonUserClocks;
  if (library.settings(gpu).power_limit_mw > 0 &&
      library.settings(gpu).power_limit_mw < milliwatts(library.monitor().load(gpu).watts))
    reasons |= kReasonPowerCap;
  return reasons;
}

}  // namespace

NVML_API nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* out) {
  return tell_clock(device, type, out,
                    [&](Library& l, const Gpu& g) { return clock_now(l, g, type); });
}
NVML_API nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* out) {
  return tell_clock(device, type, out, [&](Library&, const Gpu& g) { return most_clock(g, type); });
}
NVML_API nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, nvmlClockType_t type,
                                            unsigned* out) {
  return nvmlDeviceGetMaxClockInfo(device, type, out);
}
NVML_API nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t type, unsigned* out) {
  return tell_clock(device, type, out,
                    [&](Library& l, const Gpu& g) { return application_clock(l, g, type); });
}
NVML_API nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device, nvmlClockType_t type,
                                               unsigned* out) {
  return nvmlDeviceGetMaxClockInfo(device, type, out);
}
NVML_API nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type, nvmlClockId_t id,
                            unsigned* out) {
  switch (id) {
    case NVML_CLOCK_ID_CURRENT: return nvmlDeviceGetClockInfo(device, type, out);
    case NVML_CLOCK_ID_APP_CLOCK_TARGET: return nvmlDeviceGetApplicationsClock(device, type, out);
    case NVML_CLOCK_ID_APP_CLOCK_DEFAULT:
    case NVML_CLOCK_ID_CUSTOMER_BOOST_MAX: return nvmlDeviceGetMaxClockInfo(device, type, out);
  }
  return ask(device, [](Library&, const Gpu&) { return NVML_ERROR_INVALID_ARGUMENT; });
}
NVML_API nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned* count, unsigned* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (gpu.board.memory_clock == 0) return NVML_ERROR_NOT_SUPPORTED;
    return copy_list(std::vector{static_cast<unsigned>(gpu.board.memory_clock)}, count, out);
  });
}
NVML_API nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned memory_clock,
                                              unsigned* count, unsigned* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (gpu.board.sm_clock == 0) return NVML_ERROR_NOT_SUPPORTED;
    if (memory_clock != static_cast<unsigned>(gpu.board.memory_clock)) return NVML_ERROR_NOT_FOUND;
    constexpr int step = 15;  // MHz, as on every board since Volta
    std::vector<unsigned> clocks;
    for (int clock = gpu.board.sm_clock; clock >= static_cast<int>(kLeastClock); clock -= step)
      clocks.push_back(static_cast<unsigned>(clock));
    return copy_list(clocks, count, out);
  });
}
NVML_API nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t* out) {
  return tell(device, out, [](Library&, const Gpu&) { return NVML_PSTATE_0; });
}
NVML_API nvmlDeviceGetPowerState(nvmlDevice_t device, nvmlPstates_t* out) {
  return nvmlDeviceGetPerformanceState(device, out);
}
NVML_API nvmlDeviceGetSupportedPerformanceStates(nvmlDevice_t device, nvmlPstates_t* out,
                                                 unsigned bytes) {
  return ask(device, [&](Library&, const Gpu&) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const unsigned room = bytes / sizeof(nvmlPstates_t);
    if (room == 0) return NVML_ERROR_INSUFFICIENT_SIZE;
    std::fill_n(out, room, NVML_PSTATE_UNKNOWN);
    out[0] = NVML_PSTATE_0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetMinMaxClockOfPState(nvmlDevice_t device, nvmlClockType_t type,
                                          nvmlPstates_t state, unsigned* least, unsigned* most) {
  return tell_clock(device, type, state == NVML_PSTATE_0 ? most : nullptr,
                    [&](Library&, const Gpu& gpu) {
                      if (least != nullptr)
                        *least = type == NVML_CLOCK_MEM ? most_clock(gpu, type) : kLeastClock;
                      return most_clock(gpu, type);
                    });
}
NVML_API nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device, nvmlGpuDynamicPstatesInfo_t* out) {
  return tell(device, out, [](Library& library, const Gpu& gpu) {
    nvmlGpuDynamicPstatesInfo_t info{};
    const unsigned busy = percent(library.monitor().load(gpu).utilisation);
    for (unsigned domain = 0; domain < 2; ++domain)  // GPU and frame buffer
      info.utilization[domain] = {1, busy, 0, 0};
    return info;
  });
}
NVML_API nvmlDeviceGetClkMonStatus(nvmlDevice_t device, nvmlClkMonStatus_t* out) {
  return tell(device, out, [](Library&, const Gpu&) { return nvmlClkMonStatus_t{}; });
}
NVML_API nvmlDeviceGetAdaptiveClockInfoStatus(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu&) { return 1; });
}
NVML_API nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* out) {
  return tell(device, out, clock_reasons);
}
NVML_API nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long* out) {
  return tell(device, out, clock_reasons);
}
NVML_API nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t device, unsigned long long* out) {
  return tell(device, out, [](Library&, const Gpu&) { return kSupportedReasons; });
}
NVML_API nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device, unsigned long long* out) {
  return nvmlDeviceGetSupportedClocksEventReasons(device, out);
}
NVML_API nvmlDeviceGetViolationStatus(nvmlDevice_t device, nvmlPerfPolicyType_t policy,
                                      nvmlViolationTime_t* out) {
  return ask(device, [&](Library& library, const Gpu&) {
    if (out == nullptr || policy < 0 || policy >= NVML_PERF_POLICY_COUNT)
      return NVML_ERROR_INVALID_ARGUMENT;
    *out = {static_cast<unsigned long long>(library.now().ps() / 1'000'000), 0};
    return NVML_SUCCESS;
  });
}

// --- Power and heat ------------------------------------------------------------------

NVML_API nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library& library, const Gpu& gpu) {
    return std::min(milliwatts(library.monitor().load(gpu).watts), power_limit_mw(library, gpu));
  });
}
NVML_API nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long* out) {
  return tell(device, out, [](Library& library, const Gpu& gpu) {
    return std::llround(library.monitor().load(gpu).joules * 1000);
  });
}
NVML_API nvmlDeviceGetPowerManagementMode(nvmlDevice_t device, nvmlEnableState_t* out) {
  return tell(device, out, [](Library&, const Gpu&) { return NVML_FEATURE_ENABLED; });
}
NVML_API nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, power_limit_mw);
}
NVML_API nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, power_limit_mw);
}
NVML_API nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device, unsigned* out) {
  return tell(device, out,
              [](Library&, const Gpu& gpu) { return milliwatts(gpu.board.power_watts); });
}
NVML_API nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned* least,
                                                      unsigned* most) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (least == nullptr || most == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *least = milliwatts(gpu.board.least_power_watts);
    *most = milliwatts(gpu.board.power_watts);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetPowerSource(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu&) { return 0; });  // mains
}
NVML_API nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor,
                                  unsigned* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (out == nullptr || sensor != NVML_TEMPERATURE_GPU) return NVML_ERROR_INVALID_ARGUMENT;
    *out = static_cast<unsigned>(library.monitor().load(gpu).celsius);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_v1_t* out) {
  return tell_versioned(device, out, 1,
                        [](Library& library, const Gpu& gpu, nvmlTemperature_v1_t& to) {
                          if (to.sensorType != NVML_TEMPERATURE_GPU)
                            return NVML_ERROR_INVALID_ARGUMENT;
                          to.temperature = library.monitor().load(gpu).celsius;
                          return NVML_SUCCESS;
                        });
}
NVML_API nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, nvmlTemperatureThresholds_t which,
                                           unsigned* out) {
  return ask(device, [&](Library&, const Gpu&) {
    if (out == nullptr || which < 0 || which >= NVML_TEMPERATURE_THRESHOLD_COUNT)
      return NVML_ERROR_INVALID_ARGUMENT;
    switch (which) {
      case NVML_TEMPERATURE_THRESHOLD_SHUTDOWN: *out = kShutdownCelsius; return NVML_SUCCESS;
      case NVML_TEMPERATURE_THRESHOLD_SLOWDOWN: *out = kSlowdownCelsius; return NVML_SUCCESS;
      case NVML_TEMPERATURE_THRESHOLD_MEM_MAX: *out = kMemoryCelsius; return NVML_SUCCESS;
      case NVML_TEMPERATURE_THRESHOLD_GPU_MAX: *out = kHeldCelsius; return NVML_SUCCESS;
      default: return NVML_ERROR_NOT_SUPPORTED;  // acoustics
    }
  });
}
NVML_API nvmlDeviceGetMarginTemperature(nvmlDevice_t device, nvmlMarginTemperature_v1_t* out) {
  return tell_versioned(
      device, out, 1, [](Library& library, const Gpu& gpu, nvmlMarginTemperature_v1_t& to) {
        if (!has_margins(gpu)) return NVML_ERROR_NOT_SUPPORTED;
        to.marginTemperature = kSlowdownCelsius - library.monitor().load(gpu).celsius;
        return NVML_SUCCESS;
      });
}
NVML_API nvmlDeviceGetThermalSettings(nvmlDevice_t device, unsigned,
                                      nvmlGpuThermalSettings_t* out) {
  return tell(device, out, [](Library& library, const Gpu& gpu) {
    nvmlGpuThermalSettings_t settings{};
    constexpr int of_the_gpu = 1;  // both the controller and what it measures
    settings.count = 1;
    settings.sensor[0] = {of_the_gpu, 0, kSlowdownCelsius, library.monitor().load(gpu).celsius,
                          of_the_gpu};
    return settings;
  });
}
NVML_API nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu& gpu) { return gpu.board.fan ? 1 : 0; });
}
NVML_API nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned* out) {
  return tell_fan(device, 0, out);
}
NVML_API nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned fan, unsigned* out) {
  return tell_fan(device, fan, out);
}
NVML_API nvmlDeviceGetTargetFanSpeed(nvmlDevice_t device, unsigned fan, unsigned* out) {
  return tell_fan(device, fan, out);
}
NVML_API nvmlDeviceGetMinMaxFanSpeed(nvmlDevice_t device, unsigned* least, unsigned* most) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (least == nullptr || most == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!gpu.board.fan) return NVML_ERROR_NOT_SUPPORTED;
    *least = 30;
    *most = 100;
    return NVML_SUCCESS;
  });
}

// --- Utilisation ---------------------------------------------------------------------

NVML_API nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* out) {
  return tell(device, out, [](Library& library, const Gpu& gpu) {
    // Whatever works here copies or reduces, which keeps memory as busy as the GPU.
    const unsigned busy = percent(library.monitor().load(gpu).utilisation);
    return nvmlUtilization_t{busy, busy};
  });
}
NVML_API nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned* share, unsigned* period) {
  return tell_idle_engine(device, share, period);
}
NVML_API nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned* share, unsigned* period) {
  return tell_idle_engine(device, share, period);
}
NVML_API nvmlDeviceGetJpgUtilization(nvmlDevice_t device, unsigned* share, unsigned* period) {
  return tell_idle_engine(device, share, period);
}
NVML_API nvmlDeviceGetOfaUtilization(nvmlDevice_t device, unsigned* share, unsigned* period) {
  return tell_idle_engine(device, share, period);
}
NVML_API nvmlDeviceGetEncoderCapacity(nvmlDevice_t device, int, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu&) { return 100; });
}
NVML_API nvmlDeviceGetEncoderStats(nvmlDevice_t device, unsigned* sessions, unsigned* fps,
                                   unsigned* latency) {
  return ask(device, [&](Library&, const Gpu&) {
    if (sessions == nullptr || fps == nullptr || latency == nullptr)
      return NVML_ERROR_INVALID_ARGUMENT;
    *sessions = *fps = *latency = 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetEncoderSessions(nvmlDevice_t device, unsigned* count, void*) {
  return tell(device, count, [](Library&, const Gpu&) { return 0; });
}
NVML_API nvmlDeviceGetFBCStats(nvmlDevice_t device, nvmlFBCStats_t* out) {
  return tell(device, out, [](Library&, const Gpu&) { return nvmlFBCStats_t{}; });
}
NVML_API nvmlDeviceGetFBCSessions(nvmlDevice_t device, unsigned* count, void*) {
  return tell(device, count, [](Library&, const Gpu&) { return 0; });
}
NVML_API nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type,
                              unsigned long long last_seen, nvmlValueType_t* value_type,
                              unsigned* count, nvmlSample_t* samples) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (count == nullptr || value_type == nullptr || type < 0 || type >= NVML_SAMPLINGTYPE_COUNT)
      return NVML_ERROR_INVALID_ARGUMENT;
    const Load load = library.monitor().load(gpu);
    nvmlSample_t now{};
    now.timeStamp = static_cast<unsigned long long>(library.now().ps() / 1'000'000);
    switch (type) {
      case NVML_TOTAL_POWER_SAMPLES: now.sampleValue.uiVal = milliwatts(load.watts); break;
      case NVML_GPU_UTILIZATION_SAMPLES:
      case NVML_MEMORY_UTILIZATION_SAMPLES:
        now.sampleValue.uiVal = percent(load.utilisation);
        break;
      case NVML_PROCESSOR_CLK_SAMPLES:
        now.sampleValue.uiVal = static_cast<unsigned>(load.sm_clock);
        break;
      case NVML_MEMORY_CLK_SAMPLES:
        now.sampleValue.uiVal = static_cast<unsigned>(load.memory_clock);
        break;
      default: break;  // engines that have nothing to do
    }
    *value_type = NVML_VALUE_TYPE_UNSIGNED_INT;
    if (samples == nullptr) {  // asks only how much room to bring
      *count = 1;
      return NVML_SUCCESS;
    }
    if (last_seen != 0 && now.timeStamp <= last_seen) return NVML_ERROR_NOT_FOUND;
    return copy_list(std::vector{now}, count, samples);
  });
}
