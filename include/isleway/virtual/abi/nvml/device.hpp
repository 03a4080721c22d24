// What NVML tells of a device itself: identity, memory, clocks, power, processes.
#pragma once

#include "isleway/virtual/abi/nvml/base.hpp"

enum nvmlBrandType_t : int {
  NVML_BRAND_UNKNOWN = 0,
  NVML_BRAND_QUADRO = 1,
  NVML_BRAND_TESLA = 2,
  NVML_BRAND_GEFORCE = 5,
  NVML_BRAND_NVIDIA_RTX = 13,
  NVML_BRAND_NVIDIA = 14,
  NVML_BRAND_GEFORCE_RTX = 15,
};
enum nvmlDeviceArchitecture_t : unsigned {
  NVML_DEVICE_ARCH_PASCAL = 4,
  NVML_DEVICE_ARCH_VOLTA = 5,
  NVML_DEVICE_ARCH_TURING = 6,
  NVML_DEVICE_ARCH_AMPERE = 7,
  NVML_DEVICE_ARCH_ADA = 8,
  NVML_DEVICE_ARCH_HOPPER = 9,
  NVML_DEVICE_ARCH_BLACKWELL = 10,
  NVML_DEVICE_ARCH_RUBIN = 13,
  NVML_DEVICE_ARCH_UNKNOWN = 0xffffffff,
};

struct nvmlPciInfo_t {
  char busIdLegacy[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
};
/// What unversioned functions wrote before there was a longer one: a caller's memory may end here.
constexpr std::size_t kOldPciInfoBytes = offsetof(nvmlPciInfo_t, busId);
struct nvmlPciInfoExt_v1_t {
  unsigned version, domain, bus, device, pciDeviceId, pciSubSystemId, baseClass, subClass;
  char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
};
enum nvmlUUIDType_t : unsigned {
  NVML_UUID_TYPE_NONE = 0,
  NVML_UUID_TYPE_ASCII = 1,
  NVML_UUID_TYPE_BINARY = 2,
};
struct nvmlUUID_v1_t {
  unsigned version, type;
  union {
    char str[41];
    unsigned char bytes[16];
  } value;
};
struct nvmlPdi_v1_t {
  unsigned version;
  unsigned long long value;
};
enum nvmlInforomObject_t : int {
  NVML_INFOROM_OEM = 0,
  NVML_INFOROM_ECC = 1,
  NVML_INFOROM_POWER = 2,
  NVML_INFOROM_DEN = 3,
};
struct nvmlDeviceAttributes_t {
  unsigned multiprocessorCount, sharedCopyEngineCount, sharedDecoderCount, sharedEncoderCount,
      sharedJpegCount, sharedOfaCount, gpuInstanceSliceCount, computeInstanceSliceCount;
  unsigned long long memorySizeMB;
};
struct nvmlC2cModeInfo_v1_t {
  unsigned isC2cEnabled;
};
enum nvmlDeviceAddressingModeType_t : unsigned {
  NVML_DEVICE_ADDRESSING_MODE_NONE = 0,
  NVML_DEVICE_ADDRESSING_MODE_HMM = 1,
  NVML_DEVICE_ADDRESSING_MODE_ATS = 2,
};
struct nvmlDeviceAddressingMode_v1_t {
  unsigned version, value;
};
struct nvmlRepairStatus_v1_t {
  unsigned version, bChannelRepairPending, bTpcRepairPending;
};
struct nvmlUnrepairableMemoryStatus_v1_t {
  unsigned bUnrepairableMemory;
};
struct nvmlSystemDriverBranchInfo_v1_t {
  unsigned version;
  char branch[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE];
};
struct nvmlHwbcEntry_t {
  unsigned hwbcId;
  char firmwareVersion[32];
};
struct nvmlExcludedDeviceInfo_t {
  nvmlPciInfo_t pciInfo;
  char uuid[NVML_DEVICE_UUID_BUFFER_SIZE];
};
struct nvmlBridgeChipHierarchy_t {
  unsigned char bridgeCount;
  struct {
    int type;
    unsigned fwVersion;
  } bridgeChipInfo[128];
};
struct nvmlHostname_v1_t {
  char value[64];
};

// --- Memory --------------------------------------------------------------------------

struct nvmlMemory_t {
  unsigned long long total, free, used;
};
struct nvmlMemory_v2_t {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct nvmlBAR1Memory_t {
  unsigned long long bar1Total, bar1Free, bar1Used;
};
enum nvmlMemoryErrorType_t : int {
  NVML_MEMORY_ERROR_TYPE_CORRECTED = 0,
  NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1,
};
enum nvmlEccCounterType_t : int { NVML_VOLATILE_ECC = 0, NVML_AGGREGATE_ECC = 1 };
enum nvmlMemoryLocation_t : int {
  NVML_MEMORY_LOCATION_L1_CACHE = 0,
  NVML_MEMORY_LOCATION_L2_CACHE = 1,
  NVML_MEMORY_LOCATION_DEVICE_MEMORY = 2,
  NVML_MEMORY_LOCATION_REGISTER_FILE = 3,
  NVML_MEMORY_LOCATION_TEXTURE_MEMORY = 4,
  NVML_MEMORY_LOCATION_TEXTURE_SHM = 5,
  NVML_MEMORY_LOCATION_CBU = 6,
  NVML_MEMORY_LOCATION_SRAM = 7,
  NVML_MEMORY_LOCATION_COUNT = 8,
};
struct nvmlEccErrorCounts_t {
  unsigned long long l1Cache, l2Cache, deviceMemory, registerFile;
};
struct nvmlEccSramErrorStatus_v1_t {
  unsigned version;
  unsigned long long aggregateUncParity, aggregateUncSecDed, aggregateCor, volatileUncParity,
      volatileUncSecDed, volatileCor, aggregateUncBucketL2, aggregateUncBucketSm,
      aggregateUncBucketPcie, aggregateUncBucketMcu, aggregateUncBucketOther;
  unsigned bThresholdExceeded;
};
struct nvmlEccSramUniqueUncorrectedErrorCounts_v1_t {
  unsigned version, entryCount;
  void* entries;
};
struct nvmlRowRemapperHistogramValues_t {
  unsigned max, high, partial, low, none;
};
struct nvmlRemappedRowsInfo_v2_t {
  unsigned corrActiveRemaps, corrInactiveRemaps, uncActiveRemaps, uncInactiveRemaps, bPending,
      bFailureOccurred;
};
struct nvmlDramEncryptionInfo_v1_t {
  unsigned version;
  nvmlEnableState_t encryptionState;
};

// --- Clocks, power, heat -------------------------------------------------------------

enum nvmlClockType_t : int {
  NVML_CLOCK_GRAPHICS = 0,
  NVML_CLOCK_SM = 1,
  NVML_CLOCK_MEM = 2,
  NVML_CLOCK_VIDEO = 3,
  NVML_CLOCK_COUNT = 4,
};
enum nvmlClockId_t : int {
  NVML_CLOCK_ID_CURRENT = 0,
  NVML_CLOCK_ID_APP_CLOCK_TARGET = 1,
  NVML_CLOCK_ID_APP_CLOCK_DEFAULT = 2,
  NVML_CLOCK_ID_CUSTOMER_BOOST_MAX = 3,
};
enum nvmlPstates_t : int {
  NVML_PSTATE_0 = 0,
  NVML_PSTATE_15 = 15,
  NVML_PSTATE_UNKNOWN = 32,
};
struct nvmlClkMonStatus_t {
  unsigned bGlobalStatus, clkMonListSize;
  struct {
    unsigned clkApiDomain, clkDomainFaultMask;
  } clkMonList[32];
};
struct nvmlGpuDynamicPstatesInfo_t {
  unsigned flags;
  struct {
    unsigned bIsPresent, percentage, incThreshold, decThreshold;
  } utilization[8];
};
enum nvmlPerfPolicyType_t : int {
  NVML_PERF_POLICY_POWER = 0,
  NVML_PERF_POLICY_TOTAL_BASE_CLOCKS = 11,
  NVML_PERF_POLICY_COUNT = 12,
};
struct nvmlViolationTime_t {
  unsigned long long referenceTime, violationTime;
};
enum nvmlTemperatureSensors_t : int { NVML_TEMPERATURE_GPU = 0 };
enum nvmlTemperatureThresholds_t : int {
  NVML_TEMPERATURE_THRESHOLD_SHUTDOWN = 0,
  NVML_TEMPERATURE_THRESHOLD_SLOWDOWN = 1,
  NVML_TEMPERATURE_THRESHOLD_MEM_MAX = 2,
  NVML_TEMPERATURE_THRESHOLD_GPU_MAX = 3,
  NVML_TEMPERATURE_THRESHOLD_COUNT = 8,
};
struct nvmlTemperature_v1_t {
  unsigned version;
  nvmlTemperatureSensors_t sensorType;
  int temperature;
};
struct nvmlMarginTemperature_v1_t {
  unsigned version;
  int marginTemperature;
};
struct nvmlGpuThermalSettings_t {
  unsigned count;
  struct {
    int controller, defaultMinTemp, defaultMaxTemp, currentTemp, target;
  } sensor[3];
};
struct nvmlPowerValue_v2_t {
  unsigned version;
  unsigned char powerScope;
  unsigned powerValueMw;
};
enum nvmlComputeMode_t : int {
  NVML_COMPUTEMODE_DEFAULT = 0,
  NVML_COMPUTEMODE_PROHIBITED = 2,
  NVML_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
};

// --- Use -----------------------------------------------------------------------------

struct nvmlUtilization_t {
  unsigned gpu, memory;
};
enum nvmlSamplingType_t : int {
  NVML_TOTAL_POWER_SAMPLES = 0,
  NVML_GPU_UTILIZATION_SAMPLES = 1,
  NVML_MEMORY_UTILIZATION_SAMPLES = 2,
  NVML_ENC_UTILIZATION_SAMPLES = 3,
  NVML_DEC_UTILIZATION_SAMPLES = 4,
  NVML_PROCESSOR_CLK_SAMPLES = 5,
  NVML_MEMORY_CLK_SAMPLES = 6,
  NVML_SAMPLINGTYPE_COUNT = 10,
};
struct nvmlSample_t {
  unsigned long long timeStamp;
  nvmlValue_t sampleValue;
};
struct nvmlProcessInfo_v1_t {
  unsigned pid;
  unsigned long long usedGpuMemory;
};
struct nvmlProcessInfo_v2_t {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId, computeInstanceId;
};
struct nvmlProcessDetail_v1_t {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId, computeInstanceId;
  unsigned long long usedGpuCcProtectedMemory;
};
struct nvmlProcessDetailList_v1_t {
  unsigned version, mode, numProcArrayEntries;
  nvmlProcessDetail_v1_t* procArray;
};
struct nvmlProcessUtilizationSample_t {
  unsigned pid;
  unsigned long long timeStamp;
  unsigned smUtil, memUtil, encUtil, decUtil;
};
struct nvmlProcessUtilizationInfo_v1_t {
  unsigned long long timeStamp;
  unsigned pid, smUtil, memUtil, encUtil, decUtil, jpgUtil, ofaUtil;
};
struct nvmlProcessesUtilizationInfo_v1_t {
  unsigned version, processSamplesCount;
  unsigned long long lastSeenTimeStamp;
  nvmlProcessUtilizationInfo_v1_t* procUtilArray;
};
struct nvmlAccountingStats_t {
  unsigned gpuUtilization, memoryUtilization;
  unsigned long long maxMemoryUsage, time, startTime;
  unsigned isRunning, reserved[5];
};
struct nvmlFBCStats_t {
  unsigned sessionsCount, averageFPS, averageLatency;
};
