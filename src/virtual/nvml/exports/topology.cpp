// NVML: PCIe, and how near GPUs, CPUs and memory are to one another.
#include <algorithm>
#include <vector>

#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/nvml/exports/library.hpp"

using namespace isleway;
using namespace isleway::vgpu::nvml;

namespace {

constexpr unsigned kBusPcie = 2;

/// What clients of the first two versions brought memory for.
nvmlReturn_t tell_old_pci(nvmlDevice_t device, nvmlPciInfo_t* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const nvmlPciInfo_t info = pci_info(gpu);
    std::memcpy(out, &info, kOldPciInfoBytes);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t tell_pcie(nvmlDevice_t device, unsigned* out, int Pcie::*what) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (gpu.pcie.*what == 0) return NVML_ERROR_NOT_SUPPORTED;
    *out = static_cast<unsigned>(gpu.pcie.*what);
    return NVML_SUCCESS;
  });
}

/// Bits into as many words as the caller has; what does not fit is left out, as the driver does.
nvmlReturn_t copy_mask(const std::vector<std::uint64_t>& mask, unsigned words, unsigned long* out) {
  if (out == nullptr || words == 0) return NVML_ERROR_INVALID_ARGUMENT;
  static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
  std::fill_n(out, words, 0ul);
  std::copy_n(mask.begin(), std::min<std::size_t>(words, mask.size()), out);
  return NVML_SUCCESS;
}

nvmlReturn_t tell_cpus(nvmlDevice_t device, unsigned words, unsigned long* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    return copy_mask(library.node().near_cpus(gpu), words, out);
  });
}

bool has_cpu(const std::vector<std::uint64_t>& mask, unsigned cpu) {
  const std::size_t word = cpu / 64;
  return word < mask.size() && (mask[word] >> (cpu % 64) & 1) != 0;
}

bool is_level(nvmlGpuTopologyLevel_t level) {
  return level >= NVML_TOPOLOGY_INTERNAL && level <= NVML_TOPOLOGY_SYSTEM && level % 10 == 0;
}

}  // namespace

NVML_API nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* out) {
  return tell_old_pci(device, out);
}
NVML_API nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* out) {
  return tell_old_pci(device, out);
}
NVML_API nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* out) {
  return tell(device, out, [](Library&, const Gpu& gpu) { return pci_info(gpu); });
}
NVML_API nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_v1_t* out) {
  return tell_versioned(device, out, 1, [](Library&, const Gpu& gpu, nvmlPciInfoExt_v1_t& to) {
    const nvmlPciInfo_t info = pci_info(gpu);
    constexpr unsigned display = 3, controller_3d = 2;
    to = {to.version,          info.domain, info.bus,      info.device, info.pciDeviceId,
          info.pciSubSystemId, display,     controller_3d, {}};
    std::memcpy(to.busId, info.busId, sizeof to.busId);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned* out) {
  return tell_pcie(device, out, &Pcie::max_generation);
}
NVML_API nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device, unsigned* out) {
  return tell_pcie(device, out, &Pcie::max_generation);
}
NVML_API nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned* out) {
  return tell_pcie(device, out, &Pcie::max_width);
}
NVML_API nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned* out) {
  return tell_pcie(device, out, &Pcie::generation);
}
NVML_API nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned* out) {
  return tell_pcie(device, out, &Pcie::width);
}
/// A code for the generation, which happens to be its number.
NVML_API nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t device, unsigned* out) {
  return tell_pcie(device, out, &Pcie::max_generation);
}
NVML_API nvmlDeviceGetPcieSpeed(nvmlDevice_t device, unsigned* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (gpu.pcie.generation == 0) return NVML_ERROR_NOT_SUPPORTED;
    // Megatransfers a second of a lane: 2500, 5000, 8000, and doubling from there.
    constexpr unsigned first[] = {0, 2500, 5000};
    const auto generation = static_cast<unsigned>(gpu.pcie.generation);
    *out = generation < 3 ? first[generation] : 8000u << (generation - 3);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
                                     unsigned* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (out == nullptr || counter < 0 || counter > NVML_PCIE_UTIL_RX_BYTES)
      return NVML_ERROR_INVALID_ARGUMENT;
    const Traffic rate = library.monitor().pcie_rate(gpu);
    *out = static_cast<unsigned>((counter == NVML_PCIE_UTIL_TX_BYTES ? rate.sent : rate.received) /
                                 1000);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu&) { return 0; });
}
NVML_API nvmlDeviceGetBusType(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu&) { return kBusPcie; });
}
NVML_API nvmlDeviceGetBridgeChipInfo(nvmlDevice_t device, nvmlBridgeChipHierarchy_t*) {
  return ask(device, [](Library&, const Gpu&) { return NVML_ERROR_NOT_SUPPORTED; });
}

// --- Near and far --------------------------------------------------------------------

NVML_API nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t a, nvmlDevice_t b,
                                             nvmlGpuTopologyLevel_t* out) {
  return ask(a, b, [&](Library& library, const Gpu& from, const Gpu& to) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *out = static_cast<nvmlGpuTopologyLevel_t>(library.node().common_ancestor(from, to));
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level,
                                          unsigned* count, nvmlDevice_t* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (!is_level(level)) return NVML_ERROR_INVALID_ARGUMENT;
    std::vector<nvmlDevice_t> near;
    for (const Gpu& other : library.node().gpus()) {
      const auto distance = static_cast<int>(library.node().common_ancestor(gpu, other));
      if (other.index != gpu.index && distance == level)
        near.push_back(library.handle(other.index));
    }
    return copy_list(near, count, out);
  });
}
NVML_API nvmlDeviceGetP2PStatus(nvmlDevice_t a, nvmlDevice_t b, nvmlGpuP2PCapsIndex_t capability,
                                nvmlGpuP2PStatus_t* out) {
  return ask(a, b, [&](Library& library, const Gpu& from, const Gpu& to) {
    if (out == nullptr || capability < 0 || capability > NVML_P2P_CAPS_INDEX_PCI)
      return NVML_ERROR_INVALID_ARGUMENT;
    *out = static_cast<nvmlGpuP2PStatus_t>(
        library.node().peer_status(from, to, static_cast<PeerCapability>(capability)));
    return NVML_SUCCESS;
  });
}
NVML_API nvmlSystemGetTopologyGpuSet(unsigned cpu, unsigned* count, nvmlDevice_t* out) {
  return ask([&](Library& library) {
    std::vector<nvmlDevice_t> near;
    for (const Gpu& gpu : library.node().gpus())
      if (has_cpu(library.node().near_cpus(gpu), cpu)) near.push_back(library.handle(gpu.index));
    return copy_list(near, count, out);
  });
}
NVML_API nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned words, unsigned long* out) {
  return tell_cpus(device, words, out);
}
NVML_API nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned words,
                                             unsigned long* out, nvmlAffinityScope_t scope) {
  if (scope > NVML_AFFINITY_SCOPE_SOCKET) return NVML_ERROR_INVALID_ARGUMENT;
  return tell_cpus(device, words, out);
}
NVML_API nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned words, unsigned long* out,
                                     nvmlAffinityScope_t scope) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (scope > NVML_AFFINITY_SCOPE_SOCKET) return NVML_ERROR_INVALID_ARGUMENT;
    const auto node = library.node().numa_node(gpu);
    std::vector<std::uint64_t> mask;
    if (node) {
      mask.resize(static_cast<std::size_t>(*node) / 64 + 1);
      mask.back() = std::uint64_t{1} << (*node % 64);
    }
    return copy_mask(mask, words, out);
  });
}
// The simulated CPUs are not those that this process runs on: nothing to bind to.
NVML_API nvmlDeviceSetCpuAffinity(nvmlDevice_t device) {
  return ask(device, [](Library&, const Gpu&) { return NVML_SUCCESS; });
}
NVML_API nvmlDeviceClearCpuAffinity(nvmlDevice_t device) {
  return ask(device, [](Library&, const Gpu&) { return NVML_SUCCESS; });
}
NVML_API nvmlDeviceGetNumaNodeId(nvmlDevice_t device, unsigned* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    // Of the GPU's own memory, which is a NUMA node where C2C makes it the CPU's as well.
    const auto node = library.node().own_numa_node(gpu);
    if (!node) return NVML_ERROR_NOT_SUPPORTED;
    *out = static_cast<unsigned>(*node);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetAddressingMode(nvmlDevice_t device, nvmlDeviceAddressingMode_v1_t* out) {
  return tell_versioned(
      device, out, 1, [](Library& library, const Gpu& gpu, nvmlDeviceAddressingMode_v1_t& to) {
        to.value = library.node().c2c(gpu).links > 0 ? NVML_DEVICE_ADDRESSING_MODE_ATS
                                                     : NVML_DEVICE_ADDRESSING_MODE_NONE;
        return NVML_SUCCESS;
      });
}
NVML_API nvmlDeviceGetC2cModeInfoV(nvmlDevice_t device, nvmlC2cModeInfo_v1_t* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (gpu.sm() < 90) return NVML_ERROR_NOT_SUPPORTED;
    out->isC2cEnabled = library.node().c2c(gpu).links > 0 ? 1 : 0;
    return NVML_SUCCESS;
  });
}
