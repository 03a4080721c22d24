// What the tuning model looks at, out of what was found about all nodes.
#pragma once

#include "nccl/graphs.hpp"

namespace isleway::nccl {

TunerInput tuner_input(const Graphs& graphs);

}  // namespace isleway::nccl
