// What a run on virtual GPUs is set up with.
#pragma once

#include <string>
#include <string_view>

#include "isleway/formats/machine_request.hpp"

namespace isleway::vgpu {

/// What the programs of a run take for the time of day.
enum class TimeMode : std::uint8_t {
  simulated,  ///< what the machine would have needed
  real,       ///< the clock on the wall; device work still takes its simulated time
  scaled,     ///< the clock on the wall, faster or slower
};

/// What happens to kernels that are not known by name.
enum class UnknownKernels : std::uint8_t { stop, skip };

struct RunPlan {
  formats::MachineRequest machine;
  std::string data_folder;  ///< that holds the machines; empty: the program's own
  TimeMode time = TimeMode::simulated;
  double scale = 1;      ///< simulated seconds in a real one; of TimeMode::scaled
  bool by_tray = false;  ///< a process sees its own host of an NVLink domain, not all of it
  bool data = true;      ///< false: nothing is copied or reduced, only timed
  UnknownKernels kernels = UnknownKernels::stop;
};

/// One line of JSON, which the processes of a run hand on to one another.
std::string plan_text(const RunPlan& plan);
/// Error: what is missing or of the wrong kind.
Result<RunPlan> parse_plan(std::string_view text);

/// "simulated", "real", or "scaled=10". Error: what is none of these.
Result<void> parse_time_mode(std::string_view text, RunPlan& plan);

/// From ISLEWAY_MACHINE, ISLEWAY_NETWORK, ISLEWAY_TIME: for programs that are started without
/// `isleway run`. Error: no machine is named.
Result<RunPlan> plan_from_environment();

}  // namespace isleway::vgpu
