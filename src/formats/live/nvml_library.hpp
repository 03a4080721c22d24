// NVIDIA's management library, found at run time. Never needed to build or to run.
#pragma once

#include <memory>
#include <string>

#include "isleway/core/error.hpp"

namespace isleway::formats {

/// The functions that are used, and the types of NVML's C interface that they take. Layouts:
/// https://docs.nvidia.com/deploy/nvml-api/.
struct NvmlFunctions {
  using Device = void*;
  struct PciInfo {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
  };
  struct FabricInfo {
    unsigned char cluster_uuid[16];
    int status;
    unsigned clique_id;
    unsigned char state;
  };
  static constexpr int kSuccess = 0;

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*pci_info)(Device, PciInfo*) = nullptr;
  int (*pcie_generation)(Device, unsigned*) = nullptr;
  int (*pcie_width)(Device, unsigned*) = nullptr;
  int (*pcie_generation_max)(Device, unsigned*) = nullptr;
  int (*pcie_width_max)(Device, unsigned*) = nullptr;
  int (*pcie_replays)(Device, unsigned*) = nullptr;
  int (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;
  int (*nvlink_state)(Device, unsigned, unsigned*) = nullptr;
  int (*nvlink_errors)(Device, unsigned, unsigned, unsigned long long*) = nullptr;
  int (*fabric_info)(Device, FabricInfo*) = nullptr;
  int (*p2p_status)(Device, Device, unsigned, unsigned*) = nullptr;
};

/// The library, open as long as this lives.
class NvmlLibrary {
 public:
  /// Error: it is not there, or lacks what everything else needs.
  static Result<NvmlLibrary> open(const std::string& name);
  const NvmlFunctions& functions() const { return functions_; }

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> handle_;
  NvmlFunctions functions_;
};

}  // namespace isleway::formats
