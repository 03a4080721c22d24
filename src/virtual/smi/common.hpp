// What the views share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "isleway/virtual/nvml/driver.hpp"
#include "isleway/virtual/smi.hpp"

namespace isleway::vgpu::smi {

/// "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-...)"
inline std::string heading(const nvml::Gpu& gpu) {
  return fmt::format("GPU {}: {} (UUID: {})\n", gpu.index, gpu.name, gpu.uuid_name());
}

inline bool is_chosen(const Selection& selection, const nvml::Gpu& gpu) {
  return selection.empty() ||
         std::find(selection.begin(), selection.end(), gpu.index) != selection.end();
}

/// In place of a GPU that fell off the bus.
inline std::string lost(const nvml::Gpu& gpu) {
  return fmt::format(
      "Unable to determine the device handle for GPU{}: {}: GPU is lost.  Reboot the system to "
      "recover this GPU\n",
      gpu.index, gpu.pci.text());
}

/// "Thu Jan  1 00:00:00 1970": a virtual machine's time begins there.
std::string time_text(Time now);

constexpr std::uint64_t mebibytes(std::uint64_t bytes) { return bytes >> 20; }

}  // namespace isleway::vgpu::smi
