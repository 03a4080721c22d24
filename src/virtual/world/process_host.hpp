// On which host of the machine a process of a run is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace isleway::vgpu {

/// What a launcher told this process: MPI, Slurm, torchrun.
struct LaunchedRank {
  int rank = 0, ranks = 1;
};
std::optional<LaunchedRank> launched_rank();

/// ISLEWAY_HOST where it is set; else, with a launcher, ranks fill the places evenly; else the
/// first of them.
std::uint32_t launched_place(std::uint32_t places);

/// When the process was started, in the kernel's ticks; 0 when it is gone.
std::uint64_t start_ticks(int pid);

}  // namespace isleway::vgpu
