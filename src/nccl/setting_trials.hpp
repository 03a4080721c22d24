// The variables that are worth trying on a call.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "isleway/nccl/bench.hpp"

namespace isleway::nccl {

using Setting = std::pair<std::string, std::string>;

/// Values that differ from what is in force; what `options` sets already is left alone.
std::vector<Setting> setting_trials(const Fabric& fabric, const Options& options,
                                    const Communicator& communicator, const BenchCall& call,
                                    const Decision& decision);

}  // namespace isleway::nccl
