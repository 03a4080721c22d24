// Which machine of the catalogue a measurement was made on.
#pragma once

#include <string>
#include <vector>

#include "isleway/formats.hpp"

namespace isleway::verify {

struct MachineGuess {
  Fabric fabric;
  std::vector<std::string> names;  ///< that fit, the one taken first
};

/// From the GPUs' titles, and the hosts they are on (may be empty: one host). Error: nothing
/// fits; or several hosts, whose network no list of GPUs shows; with what could be given.
Result<MachineGuess> guess_machine(const Catalogue& catalogue,
                                   const std::vector<std::string>& devices,
                                   const std::vector<std::string>& hosts);

}  // namespace isleway::verify
