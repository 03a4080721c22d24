// NVML: what the fabric manager has told a GPU, and where it sits in a rack.
#include <algorithm>

#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/nvml/exports/library.hpp"

using namespace isleway;
using namespace isleway::vgpu;
using namespace isleway::vgpu::nvml;

namespace {

unsigned health_mask(const FabricHealth& health) {
  const auto field = [](Health value, unsigned shift) {
    return static_cast<unsigned>(value) << shift;
  };
  unsigned configuration = 0;
  if (health.configuration == Health::good)
    configuration = NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NONE;
  if (health.configuration == Health::bad)
    configuration = NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NO_PARTITION;
  return field(health.bandwidth, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW) |
         field(health.recovering, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_RECOVERY) |
         field(health.route, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_UNHEALTHY) |
         field(health.timeout, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ACCESS_TIMEOUT_RECOVERY) |
         configuration << NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_INCORRECT_CONFIGURATION;
}

unsigned char health_summary(const FabricState& fabric) {
  if (!fabric.spans_hosts) return NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED;
  if (!fabric.resources) return NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY;
  return fabric.degraded ? NVML_GPU_FABRIC_HEALTH_SUMMARY_LIMITED_CAPACITY
                         : NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY;
}

/// The part that all versions share.
template <class Info>
void fill(const FabricState& fabric, Info& info) {
  std::copy(fabric.cluster.begin(), fabric.cluster.end(), info.clusterUuid);
  info.status = fabric.resources ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_RESOURCES;
  if (fabric.state == FabricState::not_supported) info.status = NVML_ERROR_NOT_SUPPORTED;
  info.cliqueId = fabric.clique;
  info.state = fabric.state;
  if constexpr (requires { info.healthMask; }) info.healthMask = health_mask(fabric_health(fabric));
  if constexpr (requires { info.healthSummary; }) info.healthSummary = health_summary(fabric);
}

}  // namespace

NVML_API nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (gpu.sm() < 90) return NVML_ERROR_NOT_SUPPORTED;
    fill(gpu.fabric, *out);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, void* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (gpu.sm() < 90) return NVML_ERROR_NOT_SUPPORTED;
    unsigned version = 0;
    std::memcpy(&version, out, sizeof version);
    if (version == NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v2_t, 2))
      fill(gpu.fabric, *static_cast<nvmlGpuFabricInfo_v2_t*>(out));
    else if (version == NVML_STRUCT_VERSION(nvmlGpuFabricInfo_v3_t, 3))
      fill(gpu.fabric, *static_cast<nvmlGpuFabricInfo_v3_t*>(out));
    else return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    return NVML_SUCCESS;
  });
}

NVML_API nvmlDeviceGetPlatformInfo(nvmlDevice_t device, void* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!gpu.fabric.spans_hosts) return NVML_ERROR_NOT_SUPPORTED;
    unsigned version = 0;
    std::memcpy(&version, out, sizeof version);
    const auto tray = static_cast<unsigned char>(gpu.device->host);
    const auto module = static_cast<unsigned char>(gpu.device->index + 1);
    constexpr unsigned char switch_connected = 1;
    // Chassis are named by the rack's cluster, so that trays of one rack agree.
    const Uuid chassis = cluster_uuid(library.node().healthy(), gpu.ref.unit);
    if (version == NVML_STRUCT_VERSION(nvmlPlatformInfo_v1_t, 1)) {
      auto& info = *static_cast<nvmlPlatformInfo_v1_t*>(out);
      info = {version, {}, {}, tray, tray, 0, switch_connected, module};
      std::copy(gpu.uuid.begin(), gpu.uuid.end(), info.ibGuid);
      std::copy(chassis.begin(), chassis.end(), info.rackGuid);
      return NVML_SUCCESS;
    }
    if (version == NVML_STRUCT_VERSION(nvmlPlatformInfo_v2_t, 2)) {
      auto& info = *static_cast<nvmlPlatformInfo_v2_t*>(out);
      info = {version, {}, {}, tray, tray, 0, switch_connected, module};
      std::copy(gpu.uuid.begin(), gpu.uuid.end(), info.ibGuid);
      const std::string serial = serial_number(chassis);
      std::copy(serial.begin(), serial.end(), info.chassisSerialNumber);
      return NVML_SUCCESS;
    }
    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  });
}
