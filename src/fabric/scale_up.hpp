// Ways over NVLink (or xGMI) alone: direct, through switch planes, through one GPU.
#pragma once

#include "isleway/fabric/unit.hpp"

namespace isleway {

/// True for a working NVLink between GPUs and switches; one to a CPU (POWER9) is a way to
/// the host's memory instead, and a GPU in MIG mode has none.
bool is_scale_up(const Unit& unit, std::uint32_t link);

/// All shortest ways over NVLink at once.
struct Spray {
  int width = 0;  ///< links at the narrowest step, summed over the planes; 0: no way. Planes
                  ///< that share a trunk count it each.
  Time latency;   ///< of the slowest plane
  std::vector<Hop> hops;
};

/// Between GPUs or switches, directly or through switches.
Spray spray_over_nvlink(const Unit& unit, DeviceIndex from, DeviceIndex to);

/// Over the GPU beside both ends with the widest bundles (the first of equals).
Spray spray_through_gpu(const Unit& unit, DeviceIndex from, DeviceIndex to);

}  // namespace isleway
