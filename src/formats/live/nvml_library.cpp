#include "formats/live/nvml_library.hpp"

#include <dlfcn.h>

namespace isleway::formats {
namespace {

template <class Function>
void load(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
}

}  // namespace

void NvmlLibrary::Close::operator()(void* handle) const { dlclose(handle); }

Result<NvmlLibrary> NvmlLibrary::open(const std::string& name) {
  NvmlLibrary library;
  library.handle_.reset(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
  void* handle = library.handle_.get();
  if (!handle)
    return fail(name + " is not there: GPUs, NVLinks and the fabric are not read",
                "NVIDIA's driver");
  NvmlFunctions& f = library.functions_;
  load(handle, "nvmlInit_v2", f.init);
  load(handle, "nvmlShutdown", f.shutdown);
  load(handle, "nvmlSystemGetDriverVersion", f.driver_version);
  load(handle, "nvmlDeviceGetCount_v2", f.count);
  load(handle, "nvmlDeviceGetHandleByIndex_v2", f.device);
  load(handle, "nvmlDeviceGetName", f.name);
  load(handle, "nvmlDeviceGetUUID", f.uuid);
  load(handle, "nvmlDeviceGetPciInfo_v3", f.pci_info);
  load(handle, "nvmlDeviceGetCurrPcieLinkGeneration", f.pcie_generation);
  load(handle, "nvmlDeviceGetCurrPcieLinkWidth", f.pcie_width);
  load(handle, "nvmlDeviceGetMaxPcieLinkGeneration", f.pcie_generation_max);
  load(handle, "nvmlDeviceGetMaxPcieLinkWidth", f.pcie_width_max);
  load(handle, "nvmlDeviceGetPcieReplayCounter", f.pcie_replays);
  load(handle, "nvmlDeviceGetMigMode", f.mig_mode);
  load(handle, "nvmlDeviceGetNvLinkState", f.nvlink_state);
  load(handle, "nvmlDeviceGetNvLinkErrorCounter", f.nvlink_errors);
  load(handle, "nvmlDeviceGetGpuFabricInfo", f.fabric_info);
  load(handle, "nvmlDeviceGetP2PStatus", f.p2p_status);
  if (!f.init || !f.shutdown || !f.count || !f.device)
    return fail(name + " lacks NVML's first functions", "NVML of driver 340 or later");
  return library;
}

}  // namespace isleway::formats
