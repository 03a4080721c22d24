// NVML: which devices there are, and what they are.
#include <fmt/format.h>

#include <algorithm>

#include "isleway/core/text.hpp"
#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/nvml/exports/library.hpp"

using namespace isleway;
using namespace isleway::vgpu;
using namespace isleway::vgpu::nvml;

namespace {

/// The handle of the first GPU that `is_it` accepts.
template <class IsIt>
nvmlReturn_t find_gpu(nvmlDevice_t* out, IsIt is_it) {
  return ask([&](Library& library) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    for (const Gpu& gpu : library.node().gpus()) {
      if (!is_it(gpu)) continue;
      if (gpu.lost) return NVML_ERROR_GPU_IS_LOST;
      *out = library.handle(gpu.index);
      return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
  });
}

nvmlReturn_t count_gpus(unsigned* out) {
  return ask([&](Library& library) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *out = static_cast<unsigned>(library.node().gpus().size());
    return NVML_SUCCESS;
  });
}

nvmlReturn_t by_index(unsigned index, nvmlDevice_t* out) {
  const nvmlReturn_t found =
      find_gpu(out, [&](const Gpu& gpu) { return static_cast<unsigned>(gpu.index) == index; });
  return found == NVML_ERROR_NOT_FOUND ? NVML_ERROR_INVALID_ARGUMENT : found;
}

nvmlReturn_t by_address(const char* text, nvmlDevice_t* out) {
  if (text == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const auto address = parse_pci_address(text);
  if (!address) return NVML_ERROR_INVALID_ARGUMENT;
  return find_gpu(out, [&](const Gpu& gpu) { return gpu.pci == *address; });
}

nvmlDeviceArchitecture_t architecture(int sm) {
  switch (sm / 10) {
    case 6: return NVML_DEVICE_ARCH_PASCAL;
    case 7: return sm == 75 ? NVML_DEVICE_ARCH_TURING : NVML_DEVICE_ARCH_VOLTA;
    case 8: return sm == 89 ? NVML_DEVICE_ARCH_ADA : NVML_DEVICE_ARCH_AMPERE;
    case 9: return NVML_DEVICE_ARCH_HOPPER;
    case 10: return sm >= 107 ? NVML_DEVICE_ARCH_RUBIN : NVML_DEVICE_ARCH_BLACKWELL;
    case 12: return NVML_DEVICE_ARCH_BLACKWELL;
    default: return NVML_DEVICE_ARCH_UNKNOWN;
  }
}

nvmlBrandType_t brand(const Gpu& gpu) {
  if (gpu.name.find("GeForce RTX") != std::string::npos) return NVML_BRAND_GEFORCE_RTX;
  if (gpu.name.find("GeForce") != std::string::npos) return NVML_BRAND_GEFORCE;
  if (gpu.name.find("RTX") != std::string::npos) return NVML_BRAND_NVIDIA_RTX;
  return gpu.sm() < 80 ? NVML_BRAND_TESLA : NVML_BRAND_NVIDIA;
}

/// CUDA cores of an SM (CUDA C++ programming guide, throughput of 32-bit floating point).
unsigned cores_per_sm(int sm) { return sm / 10 == 8 && sm != 80 ? 128 : sm >= 90 ? 128 : 64; }

}  // namespace

NVML_API nvmlDeviceGetCount(unsigned* out) { return count_gpus(out); }
NVML_API nvmlDeviceGetCount_v2(unsigned* out) { return count_gpus(out); }
NVML_API nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* out) {
  return by_index(index, out);
}
NVML_API nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* out) {
  return by_index(index, out);
}
NVML_API nvmlDeviceGetHandleByPciBusId(const char* text, nvmlDevice_t* out) {
  return by_address(text, out);
}
NVML_API nvmlDeviceGetHandleByPciBusId_v2(const char* text, nvmlDevice_t* out) {
  return by_address(text, out);
}
NVML_API nvmlDeviceGetHandleBySerial(const char* serial, nvmlDevice_t* out) {
  if (serial == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return find_gpu(out, [&](const Gpu& gpu) { return serial_number(gpu.uuid) == serial; });
}
NVML_API nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* out) {
  if (uuid == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return find_gpu(out, [&](const Gpu& gpu) { return equal_ignoring_case(gpu.uuid_name(), uuid); });
}
NVML_API nvmlDeviceGetHandleByUUIDV(const nvmlUUID_v1_t* uuid, nvmlDevice_t* out) {
  if (const nvmlReturn_t checked = check_version(uuid, 1); checked != NVML_SUCCESS) return checked;
  return find_gpu(out, [&](const Gpu& gpu) {
    if (uuid->type == NVML_UUID_TYPE_BINARY)
      return std::equal(gpu.uuid.begin(), gpu.uuid.end(), uuid->value.bytes);
    const std::string_view text(uuid->value.str, strnlen(uuid->value.str, sizeof uuid->value.str));
    return uuid->type == NVML_UUID_TYPE_ASCII && equal_ignoring_case(gpu.uuid_name(), text);
  });
}

NVML_API nvmlDeviceGetName(nvmlDevice_t device, char* out, unsigned length) {
  return tell_text(device, out, length, [](Library&, const Gpu& gpu) { return gpu.name; });
}
NVML_API nvmlDeviceGetUUID(nvmlDevice_t device, char* out, unsigned length) {
  return tell_text(device, out, length, [](Library&, const Gpu& gpu) { return gpu.uuid_name(); });
}
NVML_API nvmlDeviceGetSerial(nvmlDevice_t device, char* out, unsigned length) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    // Boards for workstations keep theirs to themselves.
    return gpu.board.fan ? NVML_ERROR_NOT_SUPPORTED
                         : copy_text(serial_number(gpu.uuid), out, length);
  });
}
NVML_API nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t* out) {
  return tell(device, out, [](Library&, const Gpu& gpu) { return brand(gpu); });
}
NVML_API nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu& gpu) { return gpu.index; });
}
NVML_API nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu& gpu) { return gpu.device->index; });
}
NVML_API nvmlDeviceGetModuleId(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu& gpu) { return gpu.device->index + 1; });
}
NVML_API nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t* out) {
  return tell(device, out, [](Library&, const Gpu& gpu) { return architecture(gpu.sm()); });
}
NVML_API nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (major == nullptr || minor == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *major = gpu.sm() / 10;
    *minor = gpu.sm() % 10;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (gpu.part == nullptr || gpu.part->sms == 0) return NVML_ERROR_NOT_SUPPORTED;
    *out = static_cast<unsigned>(gpu.part->sms) * cores_per_sm(gpu.sm());
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu& gpu) { return board_id(gpu); });
}
NVML_API nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu&) { return 0; });
}
NVML_API nvmlDeviceOnSameBoard(nvmlDevice_t a, nvmlDevice_t b, int* out) {
  return ask(a, b, [&](Library&, const Gpu& from, const Gpu& to) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *out = from.index == to.index ? 1 : 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetBoardPartNumber(nvmlDevice_t device, char* out, unsigned length) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (gpu.sm() < 70) return NVML_ERROR_NOT_SUPPORTED;
    return copy_text(board_part_number(gpu), out, length);
  });
}
NVML_API nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char* out, unsigned length) {
  return tell_text(device, out, length,
                   [](Library&, const Gpu& gpu) { return vbios_version(gpu); });
}
NVML_API nvmlDeviceGetInforomVersion(nvmlDevice_t device, nvmlInforomObject_t object, char* out,
                                     unsigned length) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    switch (object) {
      case NVML_INFOROM_OEM: return copy_text("2.1", out, length);
      case NVML_INFOROM_ECC:
        return gpu.board.ecc ? copy_text("7.16", out, length) : NVML_ERROR_NOT_SUPPORTED;
      case NVML_INFOROM_POWER:
      case NVML_INFOROM_DEN: return NVML_ERROR_NOT_SUPPORTED;
    }
    return NVML_ERROR_INVALID_ARGUMENT;
  });
}
NVML_API nvmlDeviceGetInforomImageVersion(nvmlDevice_t device, char* out, unsigned length) {
  return tell_text(device, out, length,
                   [](Library&, const Gpu& gpu) { return inforom_image(gpu); });
}
NVML_API nvmlDeviceGetInforomConfigurationChecksum(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu& gpu) {
    return static_cast<unsigned>(gpu.uuid[0]) << 24 | static_cast<unsigned>(gpu.uuid[1]) << 16 |
           static_cast<unsigned>(gpu.uuid[2]) << 8 | gpu.uuid[3];
  });
}
NVML_API nvmlDeviceValidateInforom(nvmlDevice_t device) {
  return ask(device, [](Library&, const Gpu&) { return NVML_SUCCESS; });
}
NVML_API nvmlDeviceGetPdi(nvmlDevice_t device, nvmlPdi_v1_t* out) {
  return tell_versioned(device, out, 1, [](Library&, const Gpu& gpu, nvmlPdi_v1_t& pdi) {
    pdi.value = device_identifier(gpu);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetGspFirmwareVersion(nvmlDevice_t device, char* out) {
  return tell_text(device, out, NVML_GSP_FIRMWARE_VERSION_BUF_SIZE,
                   [](Library&, const Gpu&) { return kDriverVersion; });
}
NVML_API nvmlDeviceGetGspFirmwareMode(nvmlDevice_t device, unsigned* enabled,
                                      unsigned* by_default) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (enabled == nullptr || by_default == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *enabled = *by_default = gpu.sm() >= 75 ? 1 : 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t* out) {
  return tell(device, out, [](Library&, const Gpu& gpu) {
    nvmlDeviceAttributes_t attributes{};
    if (gpu.part != nullptr) attributes.multiprocessorCount = static_cast<unsigned>(gpu.part->sms);
    attributes.memorySizeMB = static_cast<unsigned long long>(gpu.board.frame_buffer.count()) >> 20;
    return attributes;
  });
}
NVML_API nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t* out) {
  return nvmlDeviceGetAttributes(device, out);
}
NVML_API nvmlDeviceGetCapabilities(nvmlDevice_t device, nvmlDeviceCapabilities_v1_t* out) {
  return tell_versioned(device, out, 1,
                        [](Library&, const Gpu&, nvmlDeviceCapabilities_v1_t& caps) {
                          caps.capMask = 0;
                          return NVML_SUCCESS;
                        });
}
NVML_API nvmlDeviceGetHostname_v1(nvmlDevice_t device, nvmlHostname_v1_t* out) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const auto host = library.node().healthy().host_of(gpu.ref);
    return copy_text(fmt::format("node{}", host), out->value, sizeof out->value);
  });
}
