// Parts of a machine that a job divides evenly, where the whole does not.
#pragma once

#include <string>
#include <vector>

#include "isleway/fabric.hpp"

namespace isleway::plan {

struct EvenPart {
  std::string what;  ///< "4 GPUs of each host"; empty for the whole
  Fabric fabric;
};

/// The whole machine first. Then, where a GPU is missing somewhere: the hosts that lack none; as
/// many GPUs of each host as the smallest has; and the largest power of two of them.
std::vector<EvenPart> even_parts(const Fabric& fabric);

}  // namespace isleway::plan
