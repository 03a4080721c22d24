// A machine as a user asks for it: by name or by file, and what to change about it.
#pragma once

#include <string>
#include <vector>

#include "isleway/fabric.hpp"

namespace isleway::formats {

struct MachineRequest {
  std::string machine;   ///< catalogue expression, file, or "-"
  std::string network;   ///< name or file; empty: ideal
  std::string gpu;       ///< part key for files that do not name their GPUs
  int first_gpus = 0;    ///< of every node; 0: all
  std::string gpus;      ///< a list, of every node
  int ranks = 0;         ///< of the whole machine; 0: all
  int nvlink_hosts = 1;  ///< machines that share their NVSwitches
  std::vector<std::string> faults;
  std::string mig;        ///< a list, or "all"
  std::string partition;  ///< a list
  std::string confidential;
};

/// The machine, with all changes made; `notices` gets those of its file. Error: what cannot be
/// read, found or done, and what was most likely meant.
Result<Fabric> make_machine(const MachineRequest& request, const Catalogue& catalogue,
                            Notices& notices);

}  // namespace isleway::formats
