// What a replayed execution trace came to.
#pragma once

#include <string>

#include "isleway/fabric.hpp"
#include "isleway/nccl/replay.hpp"

namespace isleway::report {

std::string replay_text(const Fabric& fabric, const nccl::Replay& replay);
std::string replay_json(const Fabric& fabric, const nccl::Replay& replay);

}  // namespace isleway::report
