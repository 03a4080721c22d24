// Faults with their times, as people write them: one at a time, or a file of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isleway/fabric/fabric.hpp"
#include "isleway/virtual/world.hpp"

namespace isleway::vgpu {

/// "gpu3:nvlink5 at 2s", "link-down gpu3:nvlink5 at 1500ms", "nic-up mlx5_0", "xid gpu2 94",
/// "ecc gpu2 uncorrected 1", "fabric-manager-down at 3s". Without "at": at `now`. Error: words
/// that say nothing, a fault that this machine cannot have.
Result<TimedFault> parse_injection(const Fabric& machine, std::string_view text, Time now);

/// One injection a line; what follows a # is for people. Times count from the run's start.
/// Error: the first line that is none, with its number.
Result<std::vector<TimedFault>> parse_script(const Fabric& machine, std::string_view text,
                                             const std::string& file);

/// The words before faults, for messages and help.
std::vector<std::string> injection_verbs();

}  // namespace isleway::vgpu
