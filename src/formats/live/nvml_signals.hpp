// GPUs as NVML sees them.
#pragma once

#include "formats/live/nvml_library.hpp"
#include "isleway/formats/signal.hpp"

namespace isleway::formats {

/// Appends what NVML says. A function that is missing or fails says nothing.
void read_nvml(const NvmlFunctions& nvml, Signals& signals, Notices& notices);

}  // namespace isleway::formats
