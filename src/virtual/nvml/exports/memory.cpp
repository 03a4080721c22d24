// NVML: memory, and what goes wrong in it.
#include <algorithm>

#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/nvml/exports/library.hpp"

using namespace isleway;
using namespace isleway::vgpu::nvml;

namespace {

using Count = unsigned long long;

FrameBuffer now(Library& library, const Gpu& gpu) {
  return frame_buffer(gpu, library.monitor().load(gpu).memory_used);
}

Count ecc_errors(const Gpu& gpu, nvmlMemoryErrorType_t type) {
  return type == NVML_MEMORY_ERROR_TYPE_CORRECTED ? gpu.ecc_corrected : gpu.ecc_uncorrected;
}

bool known(nvmlMemoryErrorType_t type, nvmlEccCounterType_t counter) {
  return type >= 0 && type <= NVML_MEMORY_ERROR_TYPE_UNCORRECTED && counter >= 0 &&
         counter <= NVML_AGGREGATE_ECC;
}

}  // namespace

NVML_API nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* out) {
  return tell(device, out, [](Library& library, const Gpu& gpu) {
    // The first version counts what is reserved as used.
    const FrameBuffer memory = now(library, gpu);
    return nvmlMemory_t{memory.total, memory.free, memory.used + memory.reserved};
  });
}
NVML_API nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* out) {
  return tell_versioned(device, out, 2, [](Library& library, const Gpu& gpu, nvmlMemory_v2_t& to) {
    const FrameBuffer memory = now(library, gpu);
    to = {to.version, memory.total, memory.reserved, memory.free, memory.used};
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t* out) {
  return tell(device, out, [](Library&, const Gpu& gpu) {
    const Count total = bar1_bytes(gpu);
    constexpr Count used = Count{1} << 20;
    return nvmlBAR1Memory_t{total, total - used, used};
  });
}
NVML_API nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (gpu.board.bus_bits == 0) return NVML_ERROR_NOT_SUPPORTED;
    *out = static_cast<unsigned>(gpu.board.bus_bits);
    return NVML_SUCCESS;
  });
}

// --- ECC -----------------------------------------------------------------------------

NVML_API nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t* current,
                              nvmlEnableState_t* pending) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (current == nullptr || pending == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!gpu.board.ecc) return NVML_ERROR_NOT_SUPPORTED;
    *current = NVML_FEATURE_ENABLED;
    *pending = library.settings(gpu).ecc_pending;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetDefaultEccMode(nvmlDevice_t device, nvmlEnableState_t* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!gpu.board.ecc) return NVML_ERROR_NOT_SUPPORTED;
    *out = NVML_FEATURE_ENABLED;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceSetEccMode(nvmlDevice_t device, nvmlEnableState_t mode) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (!gpu.board.ecc) return NVML_ERROR_NOT_SUPPORTED;
    library.settings(gpu).ecc_pending = mode;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t type,
                                     nvmlEccCounterType_t counter, unsigned long long* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr || !known(type, counter)) return NVML_ERROR_INVALID_ARGUMENT;
    if (!gpu.board.ecc) return NVML_ERROR_NOT_SUPPORTED;
    *out = ecc_errors(gpu, type);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t type,
                                         nvmlEccCounterType_t counter, nvmlMemoryLocation_t place,
                                         unsigned long long* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr || !known(type, counter) || place < 0 || place >= NVML_MEMORY_LOCATION_COUNT)
      return NVML_ERROR_INVALID_ARGUMENT;
    const bool dram = place == NVML_MEMORY_LOCATION_DEVICE_MEMORY;
    const bool counted = dram || place == NVML_MEMORY_LOCATION_SRAM;
    if (!gpu.board.ecc || (gpu.sm() >= 80 && !counted)) return NVML_ERROR_NOT_SUPPORTED;
    *out = dram ? ecc_errors(gpu, type) : 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetDetailedEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t type,
                                        nvmlEccCounterType_t counter, nvmlEccErrorCounts_t* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr || !known(type, counter)) return NVML_ERROR_INVALID_ARGUMENT;
    if (!gpu.board.ecc) return NVML_ERROR_NOT_SUPPORTED;
    *out = {0, 0, ecc_errors(gpu, type), 0};
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetSramEccErrorStatus(nvmlDevice_t device, nvmlEccSramErrorStatus_v1_t* out) {
  return tell_versioned(device, out, 1,
                        [](Library&, const Gpu& gpu, nvmlEccSramErrorStatus_v1_t& to) {
                          if (!remaps_rows(gpu)) return NVML_ERROR_NOT_SUPPORTED;
                          to = {};
                          to.version = NVML_STRUCT_VERSION(nvmlEccSramErrorStatus_v1_t, 1);
                          return NVML_SUCCESS;
                        });
}
NVML_API nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts(
    nvmlDevice_t device, nvmlEccSramUniqueUncorrectedErrorCounts_v1_t* out) {
  return tell_versioned(
      device, out, 1,
      [](Library&, const Gpu& gpu, nvmlEccSramUniqueUncorrectedErrorCounts_v1_t& to) {
        if (!remaps_rows(gpu)) return NVML_ERROR_NOT_SUPPORTED;
        to.entryCount = 0;
        return NVML_SUCCESS;
      });
}
NVML_API nvmlDeviceClearEccErrorCounts(nvmlDevice_t device, nvmlEccCounterType_t) {
  // The counts are those of the run's faults, which other processes look at as well.
  return ask(device, [](Library&, const Gpu&) { return NVML_ERROR_NO_PERMISSION; });
}

// --- Rows and pages taken out of use ---------------------------------------------------

NVML_API nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned* corrected, unsigned* uncorrected,
                                   unsigned* pending, unsigned* failed) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (corrected == nullptr || uncorrected == nullptr || pending == nullptr || failed == nullptr)
      return NVML_ERROR_INVALID_ARGUMENT;
    if (!remaps_rows(gpu)) return NVML_ERROR_NOT_SUPPORTED;
    *corrected = 0;
    *uncorrected = 0;
    // An uncorrected error marks its row, which is remapped at the next reset.
    *pending = gpu.ecc_uncorrected > 0 ? 1 : 0;
    *failed = 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetRemappedRows_v2(nvmlDevice_t device, nvmlRemappedRowsInfo_v2_t* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!remaps_rows(gpu)) return NVML_ERROR_NOT_SUPPORTED;
    *out = {};
    out->bPending = gpu.ecc_uncorrected > 0 ? 1 : 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device,
                                           nvmlRowRemapperHistogramValues_t* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!remaps_rows(gpu)) return NVML_ERROR_NOT_SUPPORTED;
    *out = {static_cast<unsigned>(remapper_banks(gpu)), 0, 0, 0, 0};
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetRetiredPages(nvmlDevice_t device, int, unsigned* count, unsigned long long*) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!gpu.board.ecc || remaps_rows(gpu)) return NVML_ERROR_NOT_SUPPORTED;
    *count = 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device, int cause, unsigned* count,
                                      unsigned long long* addresses, unsigned long long*) {
  return nvmlDeviceGetRetiredPages(device, cause, count, addresses);
}
NVML_API nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t device, nvmlEnableState_t* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!gpu.board.ecc || remaps_rows(gpu)) return NVML_ERROR_NOT_SUPPORTED;
    *out = NVML_FEATURE_DISABLED;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetRepairStatus(nvmlDevice_t device, nvmlRepairStatus_v1_t* out) {
  return tell_versioned(device, out, 1, [](Library&, const Gpu& gpu, nvmlRepairStatus_v1_t& to) {
    if (!remaps_rows(gpu)) return NVML_ERROR_NOT_SUPPORTED;
    to.bChannelRepairPending = to.bTpcRepairPending = 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetUnrepairableMemoryFlag_v1(nvmlDevice_t device,
                                                nvmlUnrepairableMemoryStatus_v1_t* out) {
  return tell(device, out,
              [](Library&, const Gpu&) { return nvmlUnrepairableMemoryStatus_v1_t{0}; });
}
NVML_API nvmlDeviceGetDramEncryptionMode(nvmlDevice_t device, nvmlDramEncryptionInfo_v1_t* current,
                                         nvmlDramEncryptionInfo_v1_t* pending) {
  return ask(device, [&](Library&, const Gpu&) {
    if (current == nullptr || pending == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    return NVML_ERROR_NOT_SUPPORTED;
  });
}
