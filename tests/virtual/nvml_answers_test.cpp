// What libnvidia-ml.so.1 answers about a GPU at rest, function by function: those that give one
// number, by table, and the rest one by one.
#include <cstring>
#include <string>
#include <vector>

#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/call.hpp"
#include "virtual/on_machine.hpp"

namespace {

using isleway::testing::call;
using isleway::testing::on_machine;

constexpr int kNotSupported = NVML_ERROR_NOT_SUPPORTED;

nvmlDevice_t begin() {
  nvmlDevice_t device = nullptr;
  EXPECT_EQ(nvmlInitWithFlags(0), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(1, &device), NVML_SUCCESS);
  return device;
}

/// A function that gives one number, and which: or the error that it must give.
struct Answer {
  const char* function;
  unsigned long long value;
  int error = NVML_SUCCESS;
};

template <class T>
void expect_answers(nvmlDevice_t device, const std::vector<Answer>& answers) {
  for (const Answer& answer : answers) {
    T value = static_cast<T>(~0ull);
    EXPECT_EQ(call(answer.function, device, &value), answer.error) << answer.function;
    if (answer.error != NVML_SUCCESS) continue;
    EXPECT_EQ(value, answer.value) << answer.function;
  }
}

TEST(NvmlAnswers, OneNumber) {
  on_machine("dgx-h100", [] {
    const nvmlDevice_t device = begin();
    expect_answers<unsigned>(device,
                             {{"nvmlDeviceGetIndex", 1},
                              {"nvmlDeviceGetMinorNumber", 1},
                              {"nvmlDeviceGetModuleId", 2},
                              {"nvmlDeviceGetBoardId", 0x200},
                              {"nvmlDeviceGetMultiGpuBoard", 0},
                              {"nvmlDeviceGetBusType", 2},
                              {"nvmlDeviceGetCurrPcieLinkGeneration", 5},
                              {"nvmlDeviceGetCurrPcieLinkWidth", 16},
                              {"nvmlDeviceGetMaxPcieLinkGeneration", 5},
                              {"nvmlDeviceGetGpuMaxPcieLinkGeneration", 5},
                              {"nvmlDeviceGetMaxPcieLinkWidth", 16},
                              {"nvmlDeviceGetPcieLinkMaxSpeed", 5},
                              {"nvmlDeviceGetPcieSpeed", 32000},
                              {"nvmlDeviceGetPcieReplayCounter", 0},
                              {"nvmlDeviceGetMemoryBusWidth", 5120},
                              {"nvmlDeviceGetNumGpuCores", 16896},
                              {"nvmlDeviceGetNumFans", 0},
                              {"nvmlDeviceGetFanSpeed", 0, kNotSupported},
                              {"nvmlDeviceGetPowerManagementDefaultLimit", 700000},
                              {"nvmlDeviceGetPowerSource", 0},
                              {"nvmlDeviceGetAccountingBufferSize", 4000},
                              {"nvmlDeviceGetAdaptiveClockInfoStatus", 1},
                              {"nvmlDeviceGetMaxMigDeviceCount", 7},
                              {"nvmlDeviceIsMigDeviceHandle", 0},
                              {"nvmlDeviceGetComputeInstanceId", 0, NVML_ERROR_INVALID_ARGUMENT},
                              {"nvmlDeviceGetGpuInstanceId", 0, NVML_ERROR_INVALID_ARGUMENT},
                              {"nvmlGpmQueryIfStreamingEnabled", 0},
                              {"nvmlDeviceGetComputeMode", NVML_COMPUTEMODE_DEFAULT},
                              {"nvmlDeviceGetArchitecture", 9},
                              {"nvmlDeviceGetPerformanceState", 0},
                              {"nvmlDeviceGetPowerState", 0},
                              {"nvmlDeviceGetAccountingMode", 0},
                              {"nvmlDeviceGetDefaultEccMode", 1},
                              {"nvmlDeviceGetDisplayActive", 0},
                              {"nvmlDeviceGetDisplayMode", 0},
                              {"nvmlDeviceGetPersistenceMode", 1},
                              {"nvmlDeviceGetPowerManagementMode", 1},
                              {"nvmlDeviceGetRetiredPagesPendingStatus", 0, kNotSupported},
                              {"nvmlDeviceGetVirtualizationMode", 0}});
    expect_answers<unsigned long long>(device, {{"nvmlDeviceGetCurrentClocksEventReasons", 1},
                                                {"nvmlDeviceGetCurrentClocksThrottleReasons", 1},
                                                {"nvmlDeviceGetTotalEnergyConsumption", 0}});
    unsigned long long reasons = 0, throttle = 0, events = 0;
    EXPECT_EQ(nvmlDeviceGetSupportedClocksEventReasons(device, &reasons), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetSupportedClocksThrottleReasons(device, &throttle), NVML_SUCCESS);
    EXPECT_EQ(reasons, throttle);
    EXPECT_EQ(reasons & 1, 1u);
    EXPECT_EQ(nvmlDeviceGetSupportedEventTypes(device, &events), NVML_SUCCESS);
    EXPECT_EQ(events & 8, 8u);  // Xids
    unsigned sum = 0;
    EXPECT_EQ(nvmlDeviceGetInforomConfigurationChecksum(device, &sum), NVML_SUCCESS);
    EXPECT_NE(sum, 0u);
  });
}

TEST(NvmlAnswers, TwoNumbers) {
  on_machine("dgx-h100", [] {
    const nvmlDevice_t device = begin();
    const auto expect_pair = [&](const char* function, unsigned first, unsigned second,
                                 int error = NVML_SUCCESS) {
      unsigned a = 99, b = 99;
      EXPECT_EQ(call(function, device, &a, &b), error) << function;
      if (error != NVML_SUCCESS) return;
      EXPECT_EQ(a, first) << function;
      EXPECT_EQ(b, second) << function;
    };
    expect_pair("nvmlDeviceGetMigMode", 0, 0);
    expect_pair("nvmlDeviceGetEccMode", 1, 1);
    expect_pair("nvmlDeviceGetGspFirmwareMode", 1, 1);
    expect_pair("nvmlDeviceGetCudaComputeCapability", 9, 0);
    expect_pair("nvmlDeviceGetMinMaxFanSpeed", 0, 0, kNotSupported);
    for (const char* name : {"nvmlDeviceGetDecoderUtilization", "nvmlDeviceGetEncoderUtilization",
                             "nvmlDeviceGetJpgUtilization", "nvmlDeviceGetOfaUtilization"}) {
      unsigned share = 99, period = 0;
      EXPECT_EQ(call(name, device, &share, &period), NVML_SUCCESS) << name;
      EXPECT_EQ(share, 0u);
    }
    unsigned sessions = 9, fps = 9, latency = 9;
    EXPECT_EQ(nvmlDeviceGetEncoderStats(device, &sessions, &fps, &latency), NVML_SUCCESS);
    EXPECT_EQ(sessions + fps + latency, 0u);
    unsigned least = 0, most = 0;
    EXPECT_EQ(nvmlDeviceGetMinMaxClockOfPState(device, NVML_CLOCK_SM, NVML_PSTATE_0, &least, &most),
              NVML_SUCCESS);
    EXPECT_LE(least, most);
    EXPECT_EQ(most, 1980u);
  });
}

TEST(NvmlAnswers, NumbersOfSomething) {
  on_machine("dgx-h100", [] {
    const nvmlDevice_t device = begin();
    unsigned value = 0;
    for (const char* name :
         {"nvmlDeviceGetApplicationsClock", "nvmlDeviceGetDefaultApplicationsClock",
          "nvmlDeviceGetMaxCustomerBoostClock"}) {
      EXPECT_EQ(call(name, device, NVML_CLOCK_SM, &value), NVML_SUCCESS) << name;
      EXPECT_EQ(value, 1980u) << name;
    }
    EXPECT_EQ(nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &value), NVML_SUCCESS);
    EXPECT_EQ(value, 345u);  // at rest
    EXPECT_EQ(nvmlDeviceGetClock(device, NVML_CLOCK_SM, NVML_CLOCK_ID_CURRENT, &value),
              NVML_SUCCESS);
    EXPECT_EQ(value, 345u);
    EXPECT_EQ(nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &value), NVML_SUCCESS);
    EXPECT_EQ(value, 30u);
    EXPECT_EQ(call("nvmlDeviceGetTemperatureThreshold", device, 0, &value), NVML_SUCCESS);
    EXPECT_GT(value, 80u);  // shutdown
    EXPECT_EQ(call("nvmlDeviceGetPcieThroughput", device, 0, &value), NVML_SUCCESS);
    EXPECT_EQ(value, 0u);
    EXPECT_EQ(nvmlDeviceGetFanSpeed_v2(device, 0, &value), NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(nvmlDeviceGetTargetFanSpeed(device, 0, &value), NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(call("nvmlDeviceGetEncoderCapacity", device, 0, &value), NVML_SUCCESS);
    EXPECT_EQ(value, 100u);
    EXPECT_EQ(call("nvmlDeviceGetAPIRestriction", device, 0, &value), NVML_SUCCESS);
    EXPECT_EQ(value, 0u);
    unsigned long long errors = 9, received = 9, sent = 9;
    EXPECT_EQ(call("nvmlDeviceGetMemoryErrorCounter", device, 0, 0, 2, &errors), NVML_SUCCESS);
    EXPECT_EQ(errors, 0u);
    EXPECT_EQ(nvmlDeviceGetNvLinkVersion(device, 0, &value), NVML_SUCCESS);
    EXPECT_EQ(value, 6u);  // the number of 4.0
    EXPECT_EQ(call("nvmlDeviceGetNvLinkCapability", device, 0u, 0, &value), NVML_SUCCESS);
    EXPECT_EQ(value, 1u);  // peers
    EXPECT_EQ(call("nvmlDeviceGetNvLinkErrorCounter", device, 0u, 0, &errors), NVML_SUCCESS);
    EXPECT_EQ(errors, 0u);
    EXPECT_EQ(nvmlDeviceGetNvLinkUtilizationCounter(device, 0, 0, &received, &sent), NVML_SUCCESS);
    EXPECT_EQ(received + sent, 0u);
    EXPECT_EQ(nvmlDeviceGetNvLinkVersion(device, 18, &value), NVML_ERROR_INVALID_ARGUMENT);
  });
}

TEST(NvmlAnswers, Texts) {
  on_machine("dgx-h100", [] {
    const nvmlDevice_t device = begin();
    char text[128];
    const auto expect_text = [&](const char* function, const char* wanted) {
      EXPECT_EQ(call(function, device, &text[0], 128u), NVML_SUCCESS) << function;
      EXPECT_STREQ(text, wanted) << function;
    };
    expect_text("nvmlDeviceGetBoardPartNumber", "692-2G330-0200-000");
    expect_text("nvmlDeviceGetVbiosVersion", "96.00.00.00.01");
    expect_text("nvmlDeviceGetInforomImageVersion", "G330.0200.00.01");
    EXPECT_EQ(call("nvmlDeviceGetInforomVersion", device, 1, &text[0], 128u), NVML_SUCCESS);
    EXPECT_STREQ(text, "7.16");
    EXPECT_EQ(nvmlDeviceGetGspFirmwareVersion(device, text), NVML_SUCCESS);
    EXPECT_STREQ(text, "580.95.05");
    EXPECT_EQ(nvmlSystemGetDriverVersion(text, sizeof text), NVML_SUCCESS);
    EXPECT_STREQ(text, "580.95.05");
    EXPECT_EQ(nvmlSystemGetDriverVersion(text, 3), NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_EQ(nvmlSystemGetNVMLVersion(text, sizeof text), NVML_SUCCESS);
    EXPECT_EQ(std::string(text).substr(0, 3), "13.");
    EXPECT_EQ(nvmlSystemGetProcessName(static_cast<unsigned>(::getpid()), text, sizeof text),
              NVML_SUCCESS);
    EXPECT_NE(std::string(text), "");
    nvmlDevice_t found = nullptr;
    EXPECT_NE(std::string(nvmlErrorString(NVML_ERROR_GPU_IS_LOST)).find("lost"), std::string::npos);
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId("0000:02:00.0", &found), NVML_SUCCESS);
    EXPECT_EQ(found, device);
  });
}

TEST(NvmlAnswers, TheSystem) {
  on_machine("dgx-h100", [] {
    begin();
    int version = 0;
    unsigned count = 9;
    for (const char* name :
         {"nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2"}) {
      EXPECT_EQ(call(name, &version), NVML_SUCCESS);
      EXPECT_EQ(version, 13000);
    }
    EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 8u);
    for (const char* name : {"nvmlGetExcludedDeviceCount", "nvmlUnitGetCount"}) {
      EXPECT_EQ(call(name, &count), NVML_SUCCESS) << name;
      EXPECT_EQ(count, 0u);
    }
    nvmlDevice_t gpus[8] = {};
    count = 8;
    EXPECT_EQ(nvmlSystemGetTopologyGpuSet(0, &count, gpus), NVML_SUCCESS);
    EXPECT_EQ(count, 4u);  // those of its socket
    EXPECT_EQ(call("nvmlGetExcludedDeviceInfoByIndex", 0u, static_cast<void*>(gpus)),
              NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(call("nvmlUnitGetHandleByIndex", 0u, static_cast<void*>(gpus)),
              NVML_ERROR_INVALID_ARGUMENT);
    count = 0;
    EXPECT_EQ(call("nvmlSystemGetHicVersion", &count, static_cast<void*>(nullptr)), NVML_SUCCESS);
    EXPECT_EQ(count, 0u);
  });
}

TEST(NvmlAnswers, Settings) {
  on_machine("dgx-h100", [] {
    const nvmlDevice_t device = begin();
    for (const char* name :
         {"nvmlDeviceResetApplicationsClocks", "nvmlDeviceResetGpuLockedClocks",
          "nvmlDeviceResetMemoryLockedClocks", "nvmlDeviceClearCpuAffinity",
          "nvmlDeviceSetCpuAffinity", "nvmlDeviceValidateInforom", "nvmlDeviceClearAccountingPids"})
      EXPECT_EQ(call(name, device), NVML_SUCCESS) << name;
    unsigned value = 0;
    EXPECT_EQ(call("nvmlDeviceSetPersistenceMode", device, 0), NVML_SUCCESS);
    EXPECT_EQ(call("nvmlDeviceGetPersistenceMode", device, &value), NVML_SUCCESS);
    EXPECT_EQ(value, 0u);
    EXPECT_EQ(call("nvmlDeviceSetComputeMode", device, 3), NVML_SUCCESS);
    EXPECT_EQ(call("nvmlDeviceGetComputeMode", device, &value), NVML_SUCCESS);
    EXPECT_EQ(value, 3u);
    EXPECT_EQ(call("nvmlDeviceSetAccountingMode", device, 1), NVML_SUCCESS);
    EXPECT_EQ(call("nvmlDeviceSetEccMode", device, 1), NVML_SUCCESS);
    for (const char* name : {"nvmlDeviceSetGpuLockedClocks", "nvmlDeviceSetMemoryLockedClocks"})
      EXPECT_EQ(call(name, device, 1200u, 1980u), NVML_SUCCESS) << name;
    EXPECT_EQ(call("nvmlDeviceSetApplicationsClocks", device, 2619u, 1200u), NVML_SUCCESS);
    nvmlReturn_t status = NVML_SUCCESS;
    EXPECT_EQ(call("nvmlDeviceSetMigMode", device, 1u, &status), NVML_ERROR_IN_USE);
    EXPECT_EQ(call("nvmlDeviceResetNvLinkErrorCounters", device, 0u), NVML_ERROR_NO_PERMISSION);
    nvmlFieldValue_t field{};
    EXPECT_EQ(call("nvmlDeviceClearFieldValues", device, 1, &field), NVML_SUCCESS);
    EXPECT_EQ(field.nvmlReturn, NVML_ERROR_NO_PERMISSION);
    // Counters belong to the run, at which other processes look as well.
    EXPECT_EQ(call("nvmlDeviceClearEccErrorCounts", device, 0), NVML_ERROR_NO_PERMISSION);
  });
}

TEST(NvmlAnswers, Lists) {
  on_machine("dgx-h100", [] {
    const nvmlDevice_t device = begin();
    for (const char* name :
         {"nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetComputeRunningProcesses_v2",
          "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses",
          "nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses_v3",
          "nvmlDeviceGetMPSComputeRunningProcesses", "nvmlDeviceGetMPSComputeRunningProcesses_v2",
          "nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetEncoderSessions",
          "nvmlDeviceGetFBCSessions", "nvmlDeviceGetAccountingPids"}) {
      unsigned count = 0;
      EXPECT_EQ(call(name, device, &count, static_cast<void*>(nullptr)), NVML_SUCCESS) << name;
      EXPECT_EQ(count, 0u) << name;
    }
    unsigned count = 0;
    EXPECT_EQ(
        call("nvmlDeviceGetSupportedMemoryClocks", device, &count, static_cast<unsigned*>(nullptr)),
        NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_GT(count, 0u);
    nvmlPstates_t states[16] = {};
    EXPECT_EQ(call("nvmlDeviceGetSupportedPerformanceStates", device, &states[0],
                   static_cast<unsigned>(sizeof states)),
              NVML_SUCCESS);
    EXPECT_EQ(states[0], NVML_PSTATE_0);
    unsigned long cpus[4] = {};
    EXPECT_EQ(call("nvmlDeviceGetCpuAffinityWithinScope", device, 4u, &cpus[0], 0u), NVML_SUCCESS);
    EXPECT_NE(cpus[0] | cpus[1] | cpus[2] | cpus[3], 0u);
  });
}

TEST(NvmlAnswers, Structures) {
  on_machine("dgx-h100", [] {
    const nvmlDevice_t device = begin();
    nvmlBAR1Memory_t bar{};
    EXPECT_EQ(nvmlDeviceGetBAR1MemoryInfo(device, &bar), NVML_SUCCESS);
    EXPECT_GT(bar.bar1Total, 0u);
    nvmlPciInfo_t pci{};
    EXPECT_EQ(nvmlDeviceGetPciInfo(device, &pci), NVML_SUCCESS);
    EXPECT_EQ(pci.bus, 2u);
    nvmlDeviceAttributes_t attributes{};
    for (const char* name : {"nvmlDeviceGetAttributes", "nvmlDeviceGetAttributes_v2"}) {
      EXPECT_EQ(call(name, device, &attributes), NVML_SUCCESS);
      EXPECT_EQ(attributes.multiprocessorCount, 132u);
    }
    int same = 9;
    EXPECT_EQ(nvmlDeviceOnSameBoard(device, device, &same), NVML_SUCCESS);
    EXPECT_EQ(same, 1);
    nvmlMemory_t memory{};
    EXPECT_EQ(nvmlDeviceGetConfComputeProtectedMemoryUsage(device, &memory), NVML_SUCCESS);
    EXPECT_EQ(memory.total, 0u);
    nvmlRowRemapperHistogramValues_t rows{};
    EXPECT_EQ(nvmlDeviceGetRowRemapperHistogram(device, &rows), NVML_SUCCESS);
    EXPECT_GT(rows.max, 0u);
    nvmlGpmSample_t sample = nullptr;
    EXPECT_EQ(nvmlGpmSampleAlloc(&sample), NVML_SUCCESS);
    EXPECT_EQ(nvmlGpmSampleGet(device, sample), NVML_SUCCESS);
    EXPECT_EQ(nvmlGpmSampleFree(sample), NVML_SUCCESS);
  });
}

/// Structures that say of which version they are.
template <class T>
T expect_versioned(const char* function, nvmlDevice_t device, int error = NVML_SUCCESS,
                   unsigned version = 1) {
  T out{};
  EXPECT_EQ(call(function, device, &out), NVML_ERROR_ARGUMENT_VERSION_MISMATCH) << function;
  out.version = NVML_STRUCT_VERSION(T, version);
  EXPECT_EQ(call(function, device, &out), error) << function;
  return out;
}

TEST(NvmlAnswers, StructuresWithVersions) {
  on_machine("dgx-h100", [] {
    const nvmlDevice_t device = begin();
    expect_versioned<nvmlDeviceAddressingMode_v1_t>("nvmlDeviceGetAddressingMode", device);
    expect_versioned<nvmlDeviceCapabilities_v1_t>("nvmlDeviceGetCapabilities", device);
    expect_versioned<nvmlEccSramErrorStatus_v1_t>("nvmlDeviceGetSramEccErrorStatus", device);
    expect_versioned<nvmlMarginTemperature_v1_t>("nvmlDeviceGetMarginTemperature", device);
    const auto pci = expect_versioned<nvmlPciInfoExt_v1_t>("nvmlDeviceGetPciInfoExt", device);
    EXPECT_EQ(pci.bus, 2u);
    const auto pdi = expect_versioned<nvmlPdi_v1_t>("nvmlDeviceGetPdi", device);
    EXPECT_NE(pdi.value, 0u);
    expect_versioned<nvmlRepairStatus_v1_t>("nvmlDeviceGetRepairStatus", device);
  });
}

TEST(NvmlAnswers, TheRest) {
  on_machine("dgx-h100", [] {
    const nvmlDevice_t device = begin();
    unsigned char room[8192];
    const auto fresh = [&]() -> void* {
      std::memset(room, 0, sizeof room);
      return room;
    };
    // Structures whose first word is a version that is none.
    for (const char* name : {
             "nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts",
             "nvmlDeviceGetNvlinkBwMode",
             "nvmlDeviceGetNvlinkSupportedBwModes",
             "nvmlDeviceGetRunningProcessDetailList",
             "nvmlDeviceGetProcessesUtilizationInfo",
             "nvmlDeviceGetTemperatureV",
             "nvmlDeviceSetPowerManagementLimit_v2",
             "nvmlDeviceGetNvLinkInfo",
         }) {
      EXPECT_EQ(call(name, device, fresh()), NVML_ERROR_ARGUMENT_VERSION_MISMATCH) << name;
      EXPECT_EQ(call(name, device, static_cast<void*>(nullptr)), NVML_ERROR_INVALID_ARGUMENT)
          << name;
    }
    for (const char* name : {"nvmlSystemGetConfComputeSettings", "nvmlGpmMetricsGet"})
      EXPECT_NE(call(name, fresh()), NVML_SUCCESS) << name;
    EXPECT_EQ(call("nvmlSystemGetDriverBranch", fresh(), 80u),
              NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    EXPECT_EQ(call("nvmlDeviceGetHandleByUUIDV", static_cast<const void*>(fresh()),
                   static_cast<nvmlDevice_t*>(nullptr)),
              NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    EXPECT_NE(call("nvmlDeviceGetDramEncryptionMode", device, fresh(), fresh()), NVML_SUCCESS);
    // Plain ones.
    for (const char* name :
         {"nvmlDeviceGetBrand", "nvmlDeviceGetC2cModeInfoV", "nvmlDeviceGetConfComputeMemSizeInfo",
          "nvmlDeviceGetHostname_v1", "nvmlDeviceGetRemappedRows_v2",
          "nvmlDeviceGetUnrepairableMemoryFlag_v1", "nvmlDeviceGetDynamicPstatesInfo",
          "nvmlDeviceGetFBCStats", "nvmlDeviceGetGpuFabricInfo"})
      EXPECT_EQ(call(name, device, fresh()), NVML_SUCCESS) << name;
    for (const char* name :
         {"nvmlSystemGetConfComputeCapabilities", "nvmlSystemGetConfComputeState"})
      EXPECT_EQ(call(name, fresh()), NVML_SUCCESS) << name;
    EXPECT_EQ(call("nvmlSystemGetConfComputeGpusReadyState", fresh()), NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(call("nvmlDeviceGetViolationStatus", device, 0, fresh()), NVML_SUCCESS);
    EXPECT_EQ(call("nvmlDeviceGetDetailedEccErrors", device, 0, 0, fresh()), NVML_SUCCESS);
    EXPECT_EQ(call("nvmlDeviceGetNvLinkUtilizationControl", device, 0u, 0u, fresh()), NVML_SUCCESS);
    unsigned count = 0, type = 0;
    EXPECT_EQ(call("nvmlDeviceGetSamples", device, 0, 0ull, &type, &count, fresh()),
              NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_NE(call("nvmlDeviceGetProcessUtilization", device, fresh(), &count, 0ull),
              NVML_ERROR_INVALID_ARGUMENT);
    count = 0;
    for (const char* name : {"nvmlDeviceGetRetiredPages", "nvmlDeviceGetRetiredPages_v2"})
      EXPECT_EQ(call(name, device, 0, &count, fresh(), fresh()), NVML_ERROR_NOT_SUPPORTED) << name;
    // Of GPUs that are not divided.
    for (const char* name : {"nvmlDeviceGetMigDeviceHandleByIndex", "nvmlDeviceGetGpuInstanceById"})
      EXPECT_NE(call(name, device, 0u, fresh()), NVML_SUCCESS) << name;
    EXPECT_NE(call("nvmlDeviceGetGpuInstances", device, 0u, fresh(), &count), NVML_ERROR_UNKNOWN);
    EXPECT_NE(call("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", device, fresh()), NVML_SUCCESS);
    EXPECT_EQ(call("nvmlDeviceGetGpuInstanceProfileInfo", device, 0u, fresh()), NVML_SUCCESS);
    for (const char* name :
         {"nvmlDeviceGetGpuInstanceProfileInfoV", "nvmlDeviceGetGpuInstanceProfileInfoByIdV"})
      EXPECT_EQ(call(name, device, 0u, fresh()), NVML_ERROR_ARGUMENT_VERSION_MISMATCH) << name;
    EXPECT_NE(call("nvmlDeviceGetAccountingStats", device, 1u, fresh()), NVML_SUCCESS);
    EXPECT_NE(call("nvmlDeviceGetBridgeChipInfo", device, fresh()), NVML_ERROR_UNKNOWN);
    EXPECT_NE(call("nvmlDeviceGetClkMonStatus", device, fresh()), NVML_ERROR_UNKNOWN);
    EXPECT_NE(call("nvmlDeviceGetThermalSettings", device, 0u, fresh()), NVML_ERROR_UNKNOWN);
    EXPECT_NE(call("nvmlGpmQueryDeviceSupport", device, fresh()), NVML_ERROR_UNKNOWN);
    EXPECT_NE(call("nvmlSystemGetNvlinkBwMode", fresh()), NVML_ERROR_UNKNOWN);
    nvmlEventSet_t set = nullptr;
    nvmlEventData_t event{};
    EXPECT_EQ(nvmlEventSetCreate(&set), NVML_SUCCESS);
    EXPECT_EQ(nvmlEventSetWait(set, &event, 1), NVML_ERROR_TIMEOUT);
    EXPECT_EQ(nvmlEventSetFree(set), NVML_SUCCESS);
  });
}

}  // namespace
