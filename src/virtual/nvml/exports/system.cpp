// NVML: the library itself, and the system as a whole.
#include <fmt/format.h>

#include <fstream>

#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/nvml/exports/library.hpp"

using namespace isleway;
using namespace isleway::vgpu::nvml;

namespace {

nvmlReturn_t start_library() {
  Library& library = Library::of_process();
  const std::lock_guard lock(library.mutex());
  return library.start();
}

/// NVML's words, in ours (the interface promises only that there is a text).
const char* words(nvmlReturn_t result) {
  switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NO_PERMISSION: return "Insufficient Permissions";
    case NVML_ERROR_ALREADY_INITIALIZED: return "Already Initialized";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    case NVML_ERROR_INSUFFICIENT_POWER: return "Insufficient External Power";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case NVML_ERROR_TIMEOUT: return "Timeout";
    case NVML_ERROR_IRQ_ISSUE: return "Interrupt Request Issue";
    case NVML_ERROR_LIBRARY_NOT_FOUND: return "NVML Shared Library Not Found";
    case NVML_ERROR_FUNCTION_NOT_FOUND: return "Function Not Found";
    case NVML_ERROR_CORRUPTED_INFOROM: return "Corrupted infoROM";
    case NVML_ERROR_GPU_IS_LOST: return "GPU is lost";
    case NVML_ERROR_RESET_REQUIRED: return "GPU requires reset";
    case NVML_ERROR_OPERATING_SYSTEM: return "The operating system has blocked the request";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH: return "RM has detected an NVML/RM version mismatch";
    case NVML_ERROR_IN_USE: return "In use by another client";
    case NVML_ERROR_MEMORY: return "Insufficient Memory";
    case NVML_ERROR_NO_DATA: return "No data";
    case NVML_ERROR_VGPU_ECC_NOT_SUPPORTED: return "vGPU ECC is not supported";
    case NVML_ERROR_INSUFFICIENT_RESOURCES: return "Insufficient resources";
    case NVML_ERROR_FREQ_NOT_SUPPORTED: return "Frequency not supported";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH: return "Argument version mismatch";
    case NVML_ERROR_DEPRECATED: return "Deprecated";
    case NVML_ERROR_NOT_READY: return "Not ready";
    case NVML_ERROR_GPU_NOT_FOUND: return "GPU not found";
    case NVML_ERROR_INVALID_STATE: return "Invalid state";
    case NVML_ERROR_RESET_TYPE_NOT_SUPPORTED: return "Reset type not supported";
    case NVML_ERROR_UNKNOWN: break;
  }
  return "Unknown Error";
}

template <class T>
nvmlReturn_t tell_system(T* out, T value) {
  return ask([&](Library&) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *out = value;
    return NVML_SUCCESS;
  });
}

/// Of /proc; of a process of another machine's pid space there is none.
nvmlReturn_t process_name(unsigned pid, char* name, unsigned length) {
  if (name == nullptr || length == 0) return NVML_ERROR_INVALID_ARGUMENT;
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid));
  std::string text;
  if (!file || !std::getline(file, text, '\0')) return NVML_ERROR_NOT_FOUND;
  return copy_text(std::string_view(text).substr(0, length - 1), name, length);
}

}  // namespace

NVML_API nvmlInit() { return start_library(); }
NVML_API nvmlInit_v2() { return start_library(); }
NVML_API nvmlInitWithFlags(unsigned) { return start_library(); }
NVML_API nvmlShutdown() {
  Library& library = Library::of_process();
  const std::lock_guard lock(library.mutex());
  return library.stop();
}
extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(nvmlReturn_t result) {
  return words(result);
}

NVML_API nvmlSystemGetDriverVersion(char* out, unsigned length) {
  return ask([&](Library&) { return copy_text(kDriverVersion, out, length); });
}
NVML_API nvmlSystemGetNVMLVersion(char* out, unsigned length) {
  return ask([&](Library&) { return copy_text(kNvmlVersion, out, length); });
}
// Asked before nvmlInit, too: it is about the library alone.
NVML_API nvmlSystemGetCudaDriverVersion(int* out) {
  if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *out = kCudaVersion;
  return NVML_SUCCESS;
}
NVML_API nvmlSystemGetCudaDriverVersion_v2(int* out) { return nvmlSystemGetCudaDriverVersion(out); }
NVML_API nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_v1_t* out, unsigned length) {
  return ask([&](Library&) {
    if (const nvmlReturn_t checked = check_version(out, 1); checked != NVML_SUCCESS) return checked;
    return copy_text(kDriverBranch, out->branch, std::min<unsigned>(length, sizeof out->branch));
  });
}
NVML_API nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  return ask([&](Library&) { return process_name(pid, name, length); });
}
NVML_API nvmlSystemGetHicVersion(unsigned* count, nvmlHwbcEntry_t*) {
  return tell_system(count, 0u);
}

// --- Units (S-class chassis) and excluded devices: there are none ---------------------

NVML_API nvmlUnitGetCount(unsigned* count) { return tell_system(count, 0u); }
NVML_API nvmlUnitGetHandleByIndex(unsigned, nvmlUnit_t*) {
  return ask([](Library&) { return NVML_ERROR_INVALID_ARGUMENT; });
}
NVML_API nvmlGetExcludedDeviceCount(unsigned* count) { return tell_system(count, 0u); }
NVML_API nvmlGetExcludedDeviceInfoByIndex(unsigned, nvmlExcludedDeviceInfo_t*) {
  return ask([](Library&) { return NVML_ERROR_INVALID_ARGUMENT; });
}

// --- Confidential computing ----------------------------------------------------------

namespace {

enum : unsigned { kOff = 0, kOn = 1, kProduction = 2, kProtectedPcie = 1, kNvlinkEncryption = 2 };

unsigned multi_gpu_mode(Confidential mode) {
  switch (mode) {
    case Confidential::hopper_ppcie: return kProtectedPcie;
    case Confidential::blackwell: return kNvlinkEncryption;
    default: return kOff;
  }
}

/// Hopper and Blackwell can; nobody asks what CPU the machine has.
bool can_be_confidential(const Node& node) {
  const int sm = node.gpus().empty() ? 0 : node.gpus().front().sm();
  return sm >= 90 && sm < 120;
}

}  // namespace

NVML_API nvmlSystemGetConfComputeCapabilities(nvmlConfComputeSystemCaps_t* out) {
  return ask([&](Library& library) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const bool on = library.node().confidential() != Confidential::off;
    *out = {on ? 1u : 0u, can_be_confidential(library.node()) ? 1u : 0u};
    return NVML_SUCCESS;
  });
}
NVML_API nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t* out) {
  return ask([&](Library& library) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const bool on = library.node().confidential() != Confidential::off;
    *out = {on ? kProduction : kOff, on ? kOn : kOff, kOff};
    return NVML_SUCCESS;
  });
}
NVML_API nvmlSystemGetConfComputeSettings(nvmlSystemConfComputeSettings_v1_t* out) {
  return ask([&](Library& library) {
    if (const nvmlReturn_t checked = check_version(out, 1); checked != NVML_SUCCESS) return checked;
    const Confidential mode = library.node().confidential();
    const bool on = mode != Confidential::off;
    out->environment = on ? kProduction : kOff;
    out->ccFeature = on ? kOn : kOff;
    out->devToolsMode = kOff;
    out->multiGpuMode = multi_gpu_mode(mode);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlSystemGetConfComputeGpusReadyState(unsigned* out) {
  return ask([&](Library& library) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (library.node().confidential() == Confidential::off) return NVML_ERROR_NOT_SUPPORTED;
    *out = kOn;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t device,
                                             nvmlConfComputeMemSizeInfo_t* out) {
  return tell(device, out, [](Library& library, const Gpu& gpu) {
    const auto kib = static_cast<unsigned long long>(gpu.board.frame_buffer.count() >> 10);
    const bool on = library.node().confidential() != Confidential::off;
    return nvmlConfComputeMemSizeInfo_t{on ? kib : 0, on ? 0 : kib};
  });
}
NVML_API nvmlDeviceGetConfComputeProtectedMemoryUsage(nvmlDevice_t device, nvmlMemory_t* out) {
  return tell(device, out, [](Library& library, const Gpu& gpu) {
    if (library.node().confidential() == Confidential::off) return nvmlMemory_t{};
    const auto total = static_cast<unsigned long long>(gpu.board.frame_buffer.count());
    const auto used =
        static_cast<unsigned long long>(library.monitor().load(gpu).memory_used.count());
    return nvmlMemory_t{total, total - std::min(used, total), used};
  });
}
