// Ways through the host: PCIe trees, C2C to the CPU, and the wires between CPUs.
#pragma once

#include "isleway/fabric/unit.hpp"

namespace isleway {

/// The way between two devices without NVLink between GPUs. With `as_without_c2c`, over
/// PCIe where there is a choice, and named as nvidia-smi does.
Route path_through_host(const Unit& unit, DeviceIndex from, DeviceIndex to,
                        bool as_without_c2c = false);

/// The working C2C (or, on POWER9, NVLink) bundle from a GPU to its CPU.
std::optional<std::uint32_t> link_to_cpu(const Unit& unit, DeviceIndex gpu);

}  // namespace isleway
