// NVML: MIG. A GPU in MIG mode has no peers and no NVLink; it is not cut into instances here.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "isleway/virtual/abi/nvml/functions.hpp"
#include "virtual/nvml/exports/library.hpp"

using namespace isleway;
using namespace isleway::vgpu::nvml;

namespace {

/// Which compute slices a profile takes of seven, which memory slices of eight, and how many fit
/// (https://docs.nvidia.com/datacenter/tesla/mig-user-guide/).
struct Profile {
  unsigned number, id, slices, memory_slices, most;
};
constexpr std::array<Profile, 5> kProfiles = {
    {{0, 19, 1, 1, 7}, {1, 14, 2, 2, 3}, {2, 9, 3, 4, 2}, {3, 5, 4, 4, 1}, {4, 0, 7, 8, 1}}};
constexpr unsigned kSlices = 7, kMemorySlices = 8;

const Profile* profile_of(unsigned number) {
  const auto found = std::find_if(kProfiles.begin(), kProfiles.end(),
                                  [&](const Profile& p) { return p.number == number; });
  return found == kProfiles.end() ? nullptr : &*found;
}

nvmlGpuInstanceProfileInfo_t info_of(const Gpu& gpu, const Profile& profile) {
  const auto sms = gpu.part != nullptr ? static_cast<unsigned>(gpu.part->sms) : 0;
  const auto mib = static_cast<unsigned long long>(gpu.board.frame_buffer.count()) >> 20;
  nvmlGpuInstanceProfileInfo_t info{};
  info.id = profile.id;
  info.sliceCount = profile.slices;
  info.instanceCount = profile.most;
  // Whole pairs of SMs; a full profile has them all.
  info.multiprocessorCount =
      profile.slices == kSlices ? sms : sms / kSlices / 2 * 2 * profile.slices;
  info.copyEngineCount = profile.slices;
  info.memorySizeMB = mib * profile.memory_slices / kMemorySlices;
  return info;
}

nvmlReturn_t answer_v2(const Gpu& gpu, const Profile* profile,
                       nvmlGpuInstanceProfileInfo_v2_t& to) {
  if (!has_mig(gpu)) return NVML_ERROR_NOT_SUPPORTED;
  if (profile == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const nvmlGpuInstanceProfileInfo_t info = info_of(gpu, *profile);
  to = {to.version,
        info.id,
        info.isP2pSupported,
        info.sliceCount,
        info.instanceCount,
        info.multiprocessorCount,
        info.copyEngineCount,
        info.decoderCount,
        info.encoderCount,
        info.jpegCount,
        info.ofaCount,
        info.memorySizeMB,
        {}};
  return copy_text(fmt::format("MIG {}g.{}gb", profile->slices, (info.memorySizeMB + 512) / 1024),
                   to.name, sizeof to.name);
}

/// For functions on MIG devices, of which there are none: no handle can be one.
nvmlReturn_t not_a_mig_device(nvmlDevice_t device) {
  return ask(device, [](Library&, const Gpu&) { return NVML_ERROR_INVALID_ARGUMENT; });
}

nvmlReturn_t no_instance(nvmlDevice_t device, nvmlReturn_t answer) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (!has_mig(gpu) || !gpu.mig) return NVML_ERROR_NOT_SUPPORTED;
    return answer;
  });
}

}  // namespace

NVML_API nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned* current, unsigned* pending) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (current == nullptr || pending == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!has_mig(gpu)) return NVML_ERROR_NOT_SUPPORTED;
    *current = *pending = gpu.mig ? 1 : 0;
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned mode, nvmlReturn_t* status) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    if (status == nullptr || mode > 1) return NVML_ERROR_INVALID_ARGUMENT;
    if (!has_mig(gpu)) return NVML_ERROR_NOT_SUPPORTED;
    // The machine is described before the run; --mig puts GPUs into the mode.
    *status = (gpu.mig ? 1u : 0u) == mode ? NVML_SUCCESS : NVML_ERROR_IN_USE;
    return *status;
  });
}
NVML_API nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu& gpu) { return has_mig(gpu) ? kSlices : 0; });
}
NVML_API nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned* out) {
  return tell(device, out, [](Library&, const Gpu&) { return 0; });
}
NVML_API nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned, nvmlDevice_t*) {
  return no_instance(device, NVML_ERROR_NOT_FOUND);
}
NVML_API nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t device, nvmlDevice_t*) {
  return not_a_mig_device(device);
}
NVML_API nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned*) {
  return not_a_mig_device(device);
}
NVML_API nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned*) {
  return not_a_mig_device(device);
}
NVML_API nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned number,
                                             nvmlGpuInstanceProfileInfo_t* out) {
  return ask(device, [&](Library&, const Gpu& gpu) {
    const Profile* profile = profile_of(number);
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (!has_mig(gpu)) return NVML_ERROR_NOT_SUPPORTED;
    if (profile == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *out = info_of(gpu, *profile);
    return NVML_SUCCESS;
  });
}
NVML_API nvmlDeviceGetGpuInstanceProfileInfoV(nvmlDevice_t device, unsigned number,
                                              nvmlGpuInstanceProfileInfo_v2_t* out) {
  return tell_versioned(device, out, 2,
                        [&](Library&, const Gpu& gpu, nvmlGpuInstanceProfileInfo_v2_t& to) {
                          return answer_v2(gpu, profile_of(number), to);
                        });
}
NVML_API nvmlDeviceGetGpuInstanceProfileInfoByIdV(nvmlDevice_t device, unsigned id,
                                                  nvmlGpuInstanceProfileInfo_v2_t* out) {
  return tell_versioned(
      device, out, 2, [&](Library&, const Gpu& gpu, nvmlGpuInstanceProfileInfo_v2_t& to) {
        const auto found = std::find_if(kProfiles.begin(), kProfiles.end(),
                                        [&](const Profile& profile) { return profile.id == id; });
        return answer_v2(gpu, found == kProfiles.end() ? nullptr : &*found, to);
      });
}
NVML_API nvmlDeviceGetGpuInstances(nvmlDevice_t device, unsigned, nvmlGpuInstance_t*,
                                   unsigned* count) {
  if (count != nullptr) *count = 0;
  return no_instance(device, count != nullptr ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT);
}
NVML_API nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned, nvmlGpuInstance_t*) {
  return no_instance(device, NVML_ERROR_NOT_FOUND);
}
