// What must hold in a unit's parts before anything is derived from them.
#pragma once

#include "isleway/fabric/unit.hpp"

namespace isleway {

/// Error: the first thing that is inconsistent, with the names of the devices concerned.
Result<void> check_parts(const UnitParts& parts);

}  // namespace isleway
