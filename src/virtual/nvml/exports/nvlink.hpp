// What NVML's functions on links and its field values both tell of a link.
#pragma once

#include "virtual/nvml/exports/library.hpp"

namespace isleway::vgpu::nvml {

nvmlNvlinkVersion_t nvlink_version(const Gpu& gpu, const Port& port);
/// Error: the GPU has no NVLink, or none of that number.
nvmlReturn_t port_of(const Gpu& gpu, unsigned link, const Port** out);

}  // namespace isleway::vgpu::nvml
