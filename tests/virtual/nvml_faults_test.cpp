// What a client of NVML sees when something breaks while it runs.
#include "isleway/virtual/abi/nvml/fields.hpp"
#include "isleway/virtual/abi/nvml/functions.hpp"
#include "isleway/virtual/world.hpp"
#include "virtual/on_machine.hpp"

using namespace isleway;
using vgpu::World;

namespace {

/// A client in a run of which it holds the other end as well.
void in_run(const char* machine, const std::function<void(World&)>& client) {
  isleway::testing::on_machine(machine, [&] {
    vgpu::RunPlan plan;
    plan.machine.machine = machine;
    const auto world = World::create(plan);
    ASSERT_TRUE(world) << world.error().text();
    ::setenv("ISLEWAY_WORLD", (*world)->name().c_str(), 1);
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    client(**world);
  });
}

void inject(World& world, double seconds, const char* fault) {
  ASSERT_TRUE(world.inject({Time::seconds(seconds), fault}));
}

nvmlDevice_t gpu(unsigned index) {
  nvmlDevice_t device = nullptr;
  nvmlDeviceGetHandleByIndex_v2(index, &device);
  return device;
}

int links_up(nvmlDevice_t device) {
  int up = 0;
  for (unsigned link = 0; link < NVML_NVLINK_MAX_LINKS; ++link) {
    nvmlEnableState_t state = NVML_FEATURE_DISABLED;
    nvmlDeviceGetNvLinkState(device, link, &state);
    up += state == NVML_FEATURE_ENABLED ? 1 : 0;
  }
  return up;
}

nvmlEventSet_t listen() {
  nvmlEventSet_t set = nullptr;
  EXPECT_EQ(nvmlEventSetCreate(&set), NVML_SUCCESS);
  for (unsigned i = 0; i < 8; ++i)
    EXPECT_EQ(
        nvmlDeviceRegisterEvents(gpu(i),
                                 nvmlEventTypeXidCriticalError | nvmlEventTypeDoubleBitEccError |
                                     nvmlEventTypeSingleBitEccError,
                                 set),
        NVML_SUCCESS);
  return set;
}

TEST(NvmlFaults, ALinkGoesDownAndComesBack) {
  in_run("dgx-h100", [](World& world) {
    const nvmlEventSet_t set = listen();
    const nvmlDevice_t device = gpu(3);
    EXPECT_EQ(links_up(device), 18);
    inject(world, 2, "gpu3:nvlink5");
    EXPECT_EQ(links_up(device), 18);  // not yet
    nvmlEventData_t event{};
    EXPECT_EQ(nvmlEventSetWait_v2(set, &event, 1000), NVML_ERROR_TIMEOUT);
    EXPECT_EQ(nvmlEventSetWait_v2(set, &event, 5000), NVML_SUCCESS);
    EXPECT_EQ(event.device, device);
    EXPECT_EQ(event.eventType, nvmlEventTypeXidCriticalError);
    EXPECT_EQ(event.eventData, 74u);
    EXPECT_EQ(links_up(device), 17);
    nvmlEnableState_t state{};
    EXPECT_EQ(nvmlDeviceGetNvLinkState(device, 5, &state), NVML_SUCCESS);
    EXPECT_EQ(state, NVML_FEATURE_DISABLED);
    inject(world, 0, "repair gpu3:nvlink5");
    EXPECT_EQ(links_up(device), 18);
    EXPECT_EQ(nvmlEventSetFree(set), NVML_SUCCESS);
  });
}

TEST(NvmlFaults, AGpuFallsOffTheBus) {
  in_run("dgx-h100", [](World& world) {
    const nvmlEventSet_t set = listen();
    const nvmlDevice_t device = gpu(5);
    inject(world, 0, "gpu5:xid=79");
    nvmlEventData_t event{};
    EXPECT_EQ(nvmlEventSetWait_v2(set, &event, 100), NVML_SUCCESS);
    EXPECT_EQ(event.device, device);
    EXPECT_EQ(event.eventData, 79u);
    unsigned power = 0, count = 0;
    EXPECT_EQ(nvmlDeviceGetPowerUsage(device, &power), NVML_ERROR_GPU_IS_LOST);
    EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 8u);
    nvmlDevice_t again = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(5, &again), NVML_ERROR_GPU_IS_LOST);
    EXPECT_EQ(nvmlDeviceGetPowerUsage(gpu(4), &power), NVML_SUCCESS);
    EXPECT_EQ(links_up(gpu(4)), 18);  // into switches, which are well
  });
}

TEST(NvmlFaults, MemoryErrorsAreCountedAndTold) {
  in_run("dgx-h100", [](World& world) {
    const nvmlEventSet_t set = listen();
    inject(world, 0, "gpu2:ecc:corrected=7");
    inject(world, 0, "gpu2:ecc:uncorrected=1");
    nvmlEventData_t event{};
    EXPECT_EQ(nvmlEventSetWait_v2(set, &event, 10), NVML_SUCCESS);
    EXPECT_EQ(event.eventType, nvmlEventTypeSingleBitEccError);
    EXPECT_EQ(nvmlEventSetWait_v2(set, &event, 10), NVML_SUCCESS);
    EXPECT_EQ(event.eventType, nvmlEventTypeDoubleBitEccError);
    EXPECT_EQ(nvmlEventSetWait_v2(set, &event, 10), NVML_SUCCESS);
    EXPECT_EQ(event.eventData, 48u);
    EXPECT_EQ(nvmlEventSetWait_v2(set, &event, 10), NVML_ERROR_TIMEOUT);
    unsigned long long count = 0;
    EXPECT_EQ(nvmlDeviceGetTotalEccErrors(gpu(2), NVML_MEMORY_ERROR_TYPE_CORRECTED,
                                          NVML_VOLATILE_ECC, &count),
              NVML_SUCCESS);
    EXPECT_EQ(count, 7u);
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    EXPECT_EQ(nvmlDeviceGetRemappedRows(gpu(2), &corrected, &uncorrected, &pending, &failed),
              NVML_SUCCESS);
    EXPECT_EQ(pending, 1u);
  });
}

TEST(NvmlFaults, FabricsBreak) {
  in_run("gb200-nvl72", [](World& world) {
    nvmlGpuFabricInfo_v3_t info{};
    info.version = NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v3_t, 3);
    inject(world, 0, "gpu1:clique");
    EXPECT_EQ(nvmlDeviceGetGpuFabricInfoV(gpu(1), &info), NVML_SUCCESS);
    EXPECT_EQ(info.state, 3);
    EXPECT_EQ(info.status, NVML_ERROR_INSUFFICIENT_RESOURCES);
    EXPECT_EQ(info.healthSummary, NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY);
    inject(world, 0, "gpu2:nvlink0");
    EXPECT_EQ(nvmlDeviceGetGpuFabricInfoV(gpu(2), &info), NVML_SUCCESS);
    EXPECT_EQ(info.healthSummary, NVML_GPU_FABRIC_HEALTH_SUMMARY_LIMITED_CAPACITY);
    EXPECT_EQ(info.healthMask & 3, 1u);
    inject(world, 0, "fabricmanager");
    EXPECT_EQ(nvmlDeviceGetGpuFabricInfoV(gpu(0), &info), NVML_SUCCESS);
    EXPECT_EQ(info.state, 2);
  });
}

TEST(NvmlFaults, CountersMoveWithTheTrafficOfTheRun) {
  in_run("dgx-h100", [](World& world) {
    const Fabric& machine = world.machine();
    const Unit& unit = machine.unit(0);
    const DeviceIndex device = unit.gpus()[0];
    std::uint32_t bundle = 0;
    while (unit.link(bundle).kind != LinkKind::nvlink ||
           (unit.link(bundle).a != device && unit.link(bundle).b != device))
      ++bundle;
    const bool forward = unit.link(bundle).a == device;
    const auto sent = [](unsigned link) {
      nvmlFieldValue_t value{};
      value.fieldId = NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX;
      value.scopeId = link;
      EXPECT_EQ(nvmlDeviceGetFieldValues(gpu(0), 1, &value), NVML_SUCCESS);
      EXPECT_EQ(value.nvmlReturn, NVML_SUCCESS);
      return value.value.ullVal;
    };
    EXPECT_EQ(sent(0), 0u);
    world.count_link_bytes(machine.link_id(0, bundle), forward, 500u << 10);
    EXPECT_EQ(sent(0), 100u);  // five links share it
    EXPECT_EQ(sent(0xffffffff), 500u);
    EXPECT_EQ(sent(17), 0u);
    world.count_busy(machine.gpu_id({0, device}), Time::seconds(0.25));
    world.set_clock(Time::seconds(1));
    nvmlUtilization_t use{};
    EXPECT_EQ(nvmlDeviceGetUtilizationRates(gpu(0), &use), NVML_SUCCESS);
    EXPECT_EQ(use.gpu, 25u);
  });
}

}  // namespace
