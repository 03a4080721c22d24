// Changed copies of a fabric's units.
#pragma once

#include <functional>

#include "isleway/fabric/fabric.hpp"

namespace isleway {

/// Changes the parts of a unit, or says why not. The NICs must stay.
using UnitEdit = std::function<Result<void>(UnitParts&)>;

/// A copy in which one unit is changed and all others stay shared.
Result<Fabric> edit_unit(const Fabric& fabric, std::uint32_t unit, const UnitEdit& edit);

/// A copy in which every unit is changed, each template once.
Result<Fabric> edit_all_units(const Fabric& fabric, const UnitEdit& edit);

/// Takes devices out, with the links at them.
void remove_devices(UnitParts& parts, const std::function<bool(const Device&)>& unwanted);

/// Takes down the links that `which` accepts; they stay fitted.
void take_down_links(UnitParts& parts, const std::function<bool(const Link&)>& which);

/// True for links that belong to NVLink or xGMI.
bool is_nvlink(const Link& link);

}  // namespace isleway
