// Which NIC serves a device.
#pragma once

#include <functional>

#include "isleway/fabric/unit.hpp"

namespace isleway {

/// As nearest_nic(), for any device and only among the NICs that `usable` accepts.
std::optional<DeviceIndex> nearest_nic_among(const Unit& unit, DeviceIndex device,
                                             const std::function<bool(DeviceIndex)>& usable);

}  // namespace isleway
