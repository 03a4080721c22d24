// The CPU that a device hangs on.
#pragma once

#include <optional>

#include "isleway/fabric/unit.hpp"

namespace isleway {

/// A GPU's link to its CPU over NVLink-C2C, where it has one.
std::optional<std::uint32_t> c2c_link(const Unit& unit, DeviceIndex gpu);

/// The NUMA node at the other end of C2C where there is one, else at the root of the PCIe
/// tree. Nothing when the tree ends elsewhere.
std::optional<DeviceIndex> host_cpu(const Unit& unit, DeviceIndex device);

}  // namespace isleway
