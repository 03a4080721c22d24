// NVML: NVLink, one link at a time, and the fabric that the links make.
#include "virtual/nvml/exports/nvlink.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "isleway/fabric/addresses.hpp"
#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/nvml/exports/library.hpp"

using namespace isleway;
using namespace isleway::vgpu;
using namespace isleway::vgpu::nvml;

namespace isleway::vgpu::nvml {

nvmlNvlinkVersion_t nvlink_version(const Gpu& gpu, const Port& port) {
  switch (port.generation) {
    case 1: return NVML_NVLINK_VERSION_1_0;
    case 2: return NVML_NVLINK_VERSION_2_0;
    case 3: return gpu.sm() == 80 ? NVML_NVLINK_VERSION_3_0 : NVML_NVLINK_VERSION_3_1;
    case 4: return NVML_NVLINK_VERSION_4_0;
    case 5: return NVML_NVLINK_VERSION_5_0;
    case 6: return NVML_NVLINK_VERSION_6_0;
    default: return NVML_NVLINK_VERSION_INVALID;
  }
}

nvmlReturn_t port_of(const Gpu& gpu, unsigned link, const Port** out) {
  if (link >= NVML_NVLINK_MAX_LINKS) return NVML_ERROR_INVALID_ARGUMENT;
  if (gpu.ports.empty() || gpu.mig) return NVML_ERROR_NOT_SUPPORTED;
  if (link >= gpu.ports.size()) return NVML_ERROR_INVALID_ARGUMENT;
  *out = &gpu.ports[link];
  return NVML_SUCCESS;
}

}  // namespace isleway::vgpu::nvml

namespace {

/// Runs `answer(library, gpu, port)` for a link that the GPU has.
template <class Answer>
nvmlReturn_t ask_port(nvmlDevice_t device, unsigned link, const void* out, Answer answer) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    const Port* port = nullptr;
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const nvmlReturn_t found = port_of(gpu, link, &port);
    return found == NVML_SUCCESS ? answer(library, gpu, *port) : found;
  });
}

/// `bytes`: what the caller brought memory for.
nvmlReturn_t tell_remote(nvmlDevice_t device, unsigned link, nvmlPciInfo_t* out,
                         std::size_t bytes) {
  return ask_port(device, link, out, [&](Library& library, const Gpu&, const Port& port) {
    const Node& node = library.node();
    nvmlPciInfo_t info{};
    const PciAddress address = peer_address(node, port);
    info.domain = address.domain;
    info.bus = address.bus;
    info.device = address.device;
    info.pciDeviceId =
        pci_device_id(node.healthy().device(port.peer),
                      library.monitor().world().parts().gpu(node.healthy().device(port.peer).part));
    copy_text(address.text(4), info.busIdLegacy, sizeof info.busIdLegacy);
    copy_text(address.text(), info.busId, sizeof info.busId);
    std::memcpy(out, &info, bytes);
    return NVML_SUCCESS;
  });
}

}  // namespace

NVML_API nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link, nvmlEnableState_t* out) {
  return ask_port(device, link, out, [&](Library&, const Gpu&, const Port& port) {
    *out = port.up ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned link, unsigned* out) {
  return ask_port(device, link, out, [&](Library&, const Gpu& gpu, const Port& port) {
    *out = nvlink_version(gpu, port);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned link,
                                       nvmlNvLinkCapability_t capability, unsigned* out) {
  return ask_port(device, link, out, [&](Library& library, const Gpu&, const Port& port) {
    if (capability < 0 || capability >= NVML_NVLINK_CAP_COUNT) return NVML_ERROR_INVALID_ARGUMENT;
    const auto kind = library.node().healthy().device(port.peer).kind;
    const bool to_cpu = kind == DeviceKind::cpu;
    switch (capability) {
      case NVML_NVLINK_CAP_P2P_SUPPORTED:
      case NVML_NVLINK_CAP_P2P_ATOMICS: *out = to_cpu ? 0 : 1; break;
      case NVML_NVLINK_CAP_SLI_BRIDGE: *out = kind == DeviceKind::gpu ? 1 : 0; break;
      default: *out = 1; break;  // memory of the system can be reached, the link is there
    }
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned link, nvmlPciInfo_t* out) {
  return tell_remote(device, link, out, kOldPciInfoBytes);
}
NVML_API nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned link,
                                             nvmlPciInfo_t* out) {
  return tell_remote(device, link, out, sizeof *out);
}
NVML_API nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned link,
                                             nvmlIntNvLinkDeviceType_t* out) {
  return ask_port(device, link, out, [&](Library& library, const Gpu&, const Port& port) {
    switch (library.node().healthy().device(port.peer).kind) {
      case DeviceKind::gpu: *out = NVML_NVLINK_DEVICE_TYPE_GPU; break;
      case DeviceKind::nvswitch: *out = NVML_NVLINK_DEVICE_TYPE_SWITCH; break;
      case DeviceKind::cpu: *out = NVML_NVLINK_DEVICE_TYPE_IBMNPU; break;
      default: *out = NVML_NVLINK_DEVICE_TYPE_UNKNOWN; break;
    }
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned link,
                                         nvmlNvLinkErrorCounter_t counter,
                                         unsigned long long* out) {
  return ask_port(device, link, out, [&](Library&, const Gpu&, const Port& port) {
    switch (counter) {
      case NVML_NVLINK_ERROR_DL_REPLAY: *out = port.replay; return NVML_SUCCESS;
      case NVML_NVLINK_ERROR_DL_RECOVERY: *out = port.recovery; return NVML_SUCCESS;
      case NVML_NVLINK_ERROR_DL_CRC_FLIT: *out = port.crc; return NVML_SUCCESS;
      case NVML_NVLINK_ERROR_DL_CRC_DATA:
      case NVML_NVLINK_ERROR_DL_ECC_DATA: *out = 0; return NVML_SUCCESS;
      default: return NVML_ERROR_INVALID_ARGUMENT;
    }
  });
}
// Counters belong to the run, at which other processes look as well.
NVML_API nvmlDeviceResetNvLinkErrorCounters(nvmlDevice_t device, unsigned link) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    const Port* port = nullptr;
    const nvmlReturn_t there = port_of(gpu, link, &port);
    return there == NVML_SUCCESS ? NVML_ERROR_NO_PERMISSION : there;
  });
}
NVML_API nvmlDeviceGetNvLinkUtilizationCounter(nvmlDevice_t device, unsigned link, unsigned counter,
                                               unsigned long long* received,
                                               unsigned long long* sent) {
  return ask_port(device, link, received, [&](Library& library, const Gpu&, const Port& port) {
    if (sent == nullptr || counter > 1) return NVML_ERROR_INVALID_ARGUMENT;
    const Traffic traffic = library.monitor().traffic(port);
    *received = traffic.received;
    *sent = traffic.sent;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetNvLinkUtilizationControl(nvmlDevice_t device, unsigned link, unsigned counter,
                                               nvmlNvLinkUtilizationControl_t* out) {
  return ask_port(device, link, out, [&](Library&, const Gpu&, const Port&) {
    if (counter > 1) return NVML_ERROR_INVALID_ARGUMENT;
    constexpr int in_bytes = 2, all_packets = 0xff;
    *out = {in_bytes, all_packets};
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetNvLinkInfo(nvmlDevice_t device, void* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (gpu.ports.empty()) return NVML_ERROR_NOT_SUPPORTED;
    unsigned version = 0;
    std::memcpy(&version, out, sizeof version);
    const unsigned encrypted = library.node().confidential() == Confidential::blackwell ? 1 : 0;
    if (version == NVML_STRUCT_VERSION(nvmlNvLinkInfo_v1_t, 1)) {
      static_cast<nvmlNvLinkInfo_v1_t*>(out)->isNvleEnabled = encrypted;
      return NVML_SUCCESS;
    }
    if (version == NVML_STRUCT_VERSION(nvmlNvLinkInfo_v2_t, 2)) {
      auto& info = *static_cast<nvmlNvLinkInfo_v2_t*>(out);
      info.isNvleEnabled = encrypted;
      info.firmwareInfo.numValidEntries = 0;
      return NVML_SUCCESS;
    }
    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  });
}

// --- Bandwidth modes: links run at full width, and nothing else -------------------------

NVML_API nvmlSystemGetNvlinkBwMode(unsigned* out) {
  return ask([&](Library&) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *out = 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetNvlinkSupportedBwModes(nvmlDevice_t device,
                                             nvmlNvlinkSupportedBwModes_v1_t* out) {
  return tell_versioned(device, out, 1,
                        [](Library&, const Gpu& gpu, nvmlNvlinkSupportedBwModes_v1_t& to) {
                          if (gpu.ports.empty() || gpu.sm() < 100) return NVML_ERROR_NOT_SUPPORTED;
                          to.bwModes[0] = 0;
                          to.totalBwModes = 1;
                          return NVML_SUCCESS;
                        });
}
NVML_API nvmlDeviceGetNvlinkBwMode(nvmlDevice_t device, nvmlNvlinkGetBwMode_v1_t* out) {
  return tell_versioned(device, out, 1, [](Library&, const Gpu& gpu, nvmlNvlinkGetBwMode_v1_t& to) {
    if (gpu.ports.empty() || gpu.sm() < 100) return NVML_ERROR_NOT_SUPPORTED;
    to.bIsBest = 1;
    to.bwMode = 0;
    return NVML_SUCCESS;
  });
}
