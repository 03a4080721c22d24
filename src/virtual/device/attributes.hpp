// What a GPU of a compute capability can do, as the CUDA programming guide's tables have it.
#pragma once

#include <optional>

#include "virtual/device/process.hpp"

namespace isleway::vgpu {

struct Capability {
  int major = 0, minor = 0;
  int threads_per_sm = 2048, blocks_per_sm = 32;
  int shared_per_sm = 0, shared_per_block_optin = 0;  ///< bytes
  int registers_per_sm = 65536;
};
Capability capability_of(const isleway::Device& gpu);

/// cudaDeviceAttr and CUdevice_attribute share their numbers. 0 for what the hardware has not;
/// nothing for numbers that mean nothing.
std::optional<int> device_attribute(Process& process, int device, int attribute);

/// "NVIDIA H100 80GB HBM3"
std::string device_title(Process& process, int device);

}  // namespace isleway::vgpu
