// What the machine that Isleway runs on says of itself, in the same facts as pasted outputs.
#pragma once

#include <filesystem>
#include <string>

#include "isleway/formats/read_signals.hpp"

namespace isleway::formats {

struct LiveSources {
  std::filesystem::path root = "/";                ///< above proc, sys, dev and etc
  std::string nvml_library = "libnvidia-ml.so.1";  ///< opened when it is there; empty: not at all
};

/// Reads PCIe links and ACS, NICs and their counters, IOMMU, modules, the kernel's command
/// line, limits and the environment below `root`, and GPUs, NVLinks and the fabric from NVML.
/// What is not there or not readable becomes a notice; nothing is changed and nothing started.
SignalsRead read_live_signals(const LiveSources& sources);

}  // namespace isleway::formats
