// Where the model would stand on machines that it was not calibrated on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "isleway/verify/calibration.hpp"

namespace isleway::verify {

/// The tables of one group, predicted with constants refitted without them.
struct LeftOut {
  std::string group;
  std::vector<ComparedTable> with;     ///< as the catalogue predicts them
  std::vector<ComparedTable> without;  ///< refitted without this group
};

/// Leaves out one group after the other ("site" or "platform" of a table) of those that take
/// part in calibration. The refit is one step of the linearised model from the catalogue's
/// constants, which is where the fit over all tables ended: `calibration` was linearised there.
std::vector<LeftOut> cross_validate(
    Calibration& calibration, const std::function<std::string(const MeasuredTable&)>& group_of);

}  // namespace isleway::verify
