// Clients of libnvidia-ml.so.1, through our header alone.
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "isleway/virtual/abi/nvml/fields.hpp"
#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/on_machine.hpp"

using isleway::testing::on_machine;

namespace {

nvmlDevice_t gpu(unsigned index) {
  nvmlDevice_t device = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(index, &device), NVML_SUCCESS);
  return device;
}

std::string name_of(nvmlDevice_t device) {
  char text[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
  EXPECT_EQ(nvmlDeviceGetName(device, text, sizeof text), NVML_SUCCESS);
  return text;
}

nvmlFieldValue_t field(nvmlDevice_t device, unsigned id, unsigned scope = 0) {
  nvmlFieldValue_t value{};
  value.fieldId = id;
  value.scopeId = scope;
  EXPECT_EQ(nvmlDeviceGetFieldValues(device, 1, &value), NVML_SUCCESS);
  return value;
}

TEST(NvmlClient, NothingAnswersBeforeInit) {
  on_machine("dgx-h100", [] {
    unsigned count = 0;
    EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
    EXPECT_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 8u);
    EXPECT_EQ(nvmlDeviceGetCount_v2(nullptr), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
  });
}

TEST(NvmlClient, NoMachineIsNoDriver) {
  on_machine("no-such-machine", [] { EXPECT_EQ(nvmlInit_v2(), NVML_ERROR_DRIVER_NOT_LOADED); });
  on_machine("mi300x-8", [] { EXPECT_EQ(nvmlInit_v2(), NVML_ERROR_DRIVER_NOT_LOADED); });
}

TEST(NvmlClient, HandlesAreFoundByEveryName) {
  on_machine("dgx-h100", [] {
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    std::set<std::string> uuids;
    for (unsigned i = 0; i < 8; ++i) {
      const nvmlDevice_t device = gpu(i);
      EXPECT_EQ(name_of(device), "NVIDIA H100 80GB HBM3");
      char uuid[NVML_DEVICE_UUID_BUFFER_SIZE], serial[NVML_DEVICE_SERIAL_BUFFER_SIZE];
      ASSERT_EQ(nvmlDeviceGetUUID(device, uuid, sizeof uuid), NVML_SUCCESS);
      ASSERT_EQ(nvmlDeviceGetSerial(device, serial, sizeof serial), NVML_SUCCESS);
      uuids.insert(uuid);
      nvmlPciInfo_t pci{};
      ASSERT_EQ(nvmlDeviceGetPciInfo_v3(device, &pci), NVML_SUCCESS);
      EXPECT_EQ(pci.pciDeviceId, 0x233010deu);
      nvmlDevice_t found = nullptr;
      EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid, &found), NVML_SUCCESS);
      EXPECT_EQ(found, device);
      EXPECT_EQ(nvmlDeviceGetHandleBySerial(serial, &found), NVML_SUCCESS);
      EXPECT_EQ(found, device);
      EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(pci.busId, &found), NVML_SUCCESS);
      EXPECT_EQ(found, device);
      EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(pci.busIdLegacy, &found), NVML_SUCCESS);
      EXPECT_EQ(found, device);
    }
    EXPECT_EQ(uuids.size(), 8u);
    nvmlDevice_t none = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(8, &none), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("0000:ff:00.0", &none), NVML_ERROR_NOT_FOUND);
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("a bus", &none), NVML_ERROR_INVALID_ARGUMENT);
    char small[4];
    EXPECT_EQ(nvmlDeviceGetName(gpu(0), small, sizeof small), NVML_ERROR_INSUFFICIENT_SIZE);
    const auto stray = reinterpret_cast<nvmlDevice_t>(0x1234);
    EXPECT_EQ(nvmlDeviceGetName(stray, small, sizeof small), NVML_ERROR_INVALID_ARGUMENT);
  });
}

TEST(NvmlClient, OldRemotePciInfoStaysInsideTheOldStructure) {
  on_machine("dgx-h100", [] {
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    nvmlPciInfo_t info;
    std::memset(&info, 0x5a, sizeof info);
    ASSERT_EQ(nvmlDeviceGetNvLinkRemotePciInfo(gpu(0), 3, &info), NVML_SUCCESS);
    for (const char c : info.busId) EXPECT_EQ(c, 0x5a);
    nvmlPciInfo_t whole{};
    ASSERT_EQ(nvmlDeviceGetNvLinkRemotePciInfo_v2(gpu(0), 3, &whole), NVML_SUCCESS);
    EXPECT_STREQ(whole.busIdLegacy, info.busIdLegacy);
    EXPECT_EQ(std::string(whole.busId), "0000" + std::string(info.busIdLegacy));
    std::memset(&info, 0x5a, sizeof info);
    ASSERT_EQ(nvmlDeviceGetPciInfo_v2(gpu(0), &info), NVML_SUCCESS);
    for (const char c : info.busId) EXPECT_EQ(c, 0x5a);
  });
}

TEST(NvmlClient, LinksOfASwitchedMachine) {
  on_machine("dgx-h100", [] {
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    std::set<std::string> switches;
    for (unsigned link = 0; link < 18; ++link) {
      nvmlEnableState_t up = NVML_FEATURE_DISABLED;
      EXPECT_EQ(nvmlDeviceGetNvLinkState(gpu(2), link, &up), NVML_SUCCESS);
      EXPECT_EQ(up, NVML_FEATURE_ENABLED);
      nvmlIntNvLinkDeviceType_t type{};
      EXPECT_EQ(nvmlDeviceGetNvLinkRemoteDeviceType(gpu(2), link, &type), NVML_SUCCESS);
      EXPECT_EQ(type, NVML_NVLINK_DEVICE_TYPE_SWITCH);
      nvmlPciInfo_t remote{};
      EXPECT_EQ(nvmlDeviceGetNvLinkRemotePciInfo_v2(gpu(2), link, &remote), NVML_SUCCESS);
      switches.insert(remote.busId);
      EXPECT_EQ(field(gpu(2), NVML_FI_DEV_NVLINK_GET_SPEED, link).value.uiVal, 26562u);
      EXPECT_EQ(field(gpu(2), NVML_FI_DEV_NVLINK_GET_STATE, link).value.uiVal, 1u);
    }
    EXPECT_EQ(switches.size(), 4u);
    nvmlEnableState_t up{};
    EXPECT_EQ(nvmlDeviceGetNvLinkState(gpu(2), 18, &up), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(field(gpu(2), NVML_FI_DEV_NVLINK_LINK_COUNT).value.uiVal, 18u);
    EXPECT_EQ(field(gpu(2), NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT).value.uiVal, 18u);
    EXPECT_EQ(field(gpu(2), NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_BER, 0).nvmlReturn,
              NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(field(gpu(2), 9999).nvmlReturn, NVML_ERROR_INVALID_ARGUMENT);
  });
  on_machine("rtx-4090-8", [] {
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    nvmlEnableState_t up{};
    EXPECT_EQ(nvmlDeviceGetNvLinkState(gpu(0), 0, &up), NVML_ERROR_NOT_SUPPORTED);
  });
}

TEST(NvmlClient, ARackTellsItsFabric) {
  on_machine("gb200-nvl72", [] {
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    unsigned count = 0;
    EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 4u);  // of its tray
    nvmlGpuFabricInfo_v3_t info{};
    info.version = NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v3_t, 3);
    ASSERT_EQ(nvmlDeviceGetGpuFabricInfoV(gpu(0), &info), NVML_SUCCESS);
    EXPECT_EQ(info.state, 3);
    EXPECT_EQ(info.status, NVML_SUCCESS);
    EXPECT_EQ(info.healthSummary, NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY);
    const unsigned char zero[16] = {};
    EXPECT_NE(std::memcmp(info.clusterUuid, zero, sizeof zero), 0);
    nvmlGpuFabricInfo_v2_t older{};
    older.version = NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v2_t, 2);
    EXPECT_EQ(nvmlDeviceGetGpuFabricInfoV(gpu(0), &older), NVML_SUCCESS);
    EXPECT_EQ(older.healthMask, info.healthMask);
    older.version = NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v2_t, 7);
    EXPECT_EQ(nvmlDeviceGetGpuFabricInfoV(gpu(0), &older), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    nvmlPlatformInfo_v2_t platform{};
    platform.version = NVML_STRUCT_VERSION(nvmlPlatformInfo_v2_t, 2);
    EXPECT_EQ(nvmlDeviceGetPlatformInfo(gpu(1), &platform), NVML_SUCCESS);
    EXPECT_EQ(platform.moduleId, 2);
    EXPECT_EQ(field(gpu(0), NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_BER, 0).value.uiVal, 15u << 8 | 255);
    EXPECT_EQ(field(gpu(0), NVML_FI_DEV_C2C_LINK_COUNT).value.uiVal, 5u);
    unsigned node = 0;
    EXPECT_EQ(nvmlDeviceGetNumaNodeId(gpu(1), &node), NVML_SUCCESS);
    EXPECT_EQ(node, 10u);
  });
}

TEST(NvmlClient, NearAndFar) {
  on_machine("dgx-h100", [] {
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    nvmlGpuTopologyLevel_t level{};
    EXPECT_EQ(nvmlDeviceGetTopologyCommonAncestor(gpu(0), gpu(1), &level), NVML_SUCCESS);
    EXPECT_EQ(level, NVML_TOPOLOGY_NODE);
    EXPECT_EQ(nvmlDeviceGetTopologyCommonAncestor(gpu(0), gpu(4), &level), NVML_SUCCESS);
    EXPECT_EQ(level, NVML_TOPOLOGY_SYSTEM);
    nvmlDevice_t near[8];
    unsigned count = 8;
    EXPECT_EQ(nvmlDeviceGetTopologyNearestGpus(gpu(0), NVML_TOPOLOGY_NODE, &count, near),
              NVML_SUCCESS);
    EXPECT_EQ(count, 3u);
    count = 1;
    EXPECT_EQ(nvmlDeviceGetTopologyNearestGpus(gpu(0), NVML_TOPOLOGY_NODE, &count, near),
              NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_EQ(count, 3u);
    unsigned long cpus[4] = {};
    EXPECT_EQ(nvmlDeviceGetCpuAffinity(gpu(0), 4, cpus), NVML_SUCCESS);
    EXPECT_NE(cpus[0] & 1, 0u);
    unsigned long nodes[1] = {};
    EXPECT_EQ(nvmlDeviceGetMemoryAffinity(gpu(7), 1, nodes, NVML_AFFINITY_SCOPE_NODE),
              NVML_SUCCESS);
    EXPECT_EQ(nodes[0], 2u);
    nvmlGpuP2PStatus_t status{};
    EXPECT_EQ(nvmlDeviceGetP2PStatus(gpu(0), gpu(7), NVML_P2P_CAPS_INDEX_NVLINK, &status),
              NVML_SUCCESS);
    EXPECT_EQ(status, NVML_P2P_STATUS_OK);
  });
}

TEST(NvmlClient, MemoryPowerAndClocksFitTogether) {
  on_machine("dgx-h100", [] {
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    nvmlMemory_t memory{};
    ASSERT_EQ(nvmlDeviceGetMemoryInfo(gpu(0), &memory), NVML_SUCCESS);
    EXPECT_EQ(memory.total >> 20, 81559u);
    EXPECT_EQ(memory.used + memory.free, memory.total);
    nvmlMemory_v2_t finer{};
    finer.version = NVML_STRUCT_VERSION(nvmlMemory_v2_t, 2);
    ASSERT_EQ(nvmlDeviceGetMemoryInfo_v2(gpu(0), &finer), NVML_SUCCESS);
    EXPECT_EQ(finer.used + finer.free + finer.reserved, finer.total);
    unsigned power = 0, limit = 0, least = 0, most = 0;
    EXPECT_EQ(nvmlDeviceGetPowerUsage(gpu(0), &power), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetPowerManagementLimit(gpu(0), &limit), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetPowerManagementLimitConstraints(gpu(0), &least, &most), NVML_SUCCESS);
    EXPECT_LT(power, limit);
    EXPECT_EQ(limit, 700'000u);
    EXPECT_EQ(most, limit);
    EXPECT_EQ(nvmlDeviceSetPowerManagementLimit(gpu(0), 500'000), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetEnforcedPowerLimit(gpu(0), &limit), NVML_SUCCESS);
    EXPECT_EQ(limit, 500'000u);
    EXPECT_EQ(nvmlDeviceSetPowerManagementLimit(gpu(0), most + 1), NVML_ERROR_INVALID_ARGUMENT);
    unsigned clocks[256], count = 256, top = 0;
    EXPECT_EQ(nvmlDeviceGetSupportedGraphicsClocks(gpu(0), 2619, &count, clocks), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetMaxClockInfo(gpu(0), NVML_CLOCK_SM, &top), NVML_SUCCESS);
    EXPECT_EQ(clocks[0], top);
  });
}

}  // namespace
