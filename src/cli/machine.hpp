// The MACHINE that every command takes, and the options that change it.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "isleway/fabric.hpp"

namespace isleway::cli {

struct MachineOptions {
  std::string machine;   ///< catalogue expression, file, or "-"
  std::string network;   ///< name or file; empty: ideal
  std::string gpu;       ///< part key for files that do not name their GPUs
  int first_gpus = 0;    ///< -g: of every node; 0: all
  std::string gpus;      ///< --gpus: a list, of every node
  int ranks = 0;         ///< --ranks: of the whole machine; 0: all
  int nvlink_hosts = 1;  ///< --nvlink-hosts: machines that share their NVSwitches
  std::vector<std::string> faults;
  std::string mig;        ///< a list, or "all"
  std::string partition;  ///< a list
  std::string confidential;
};

/// MACHINE as the positional argument (`show`) or as -m (`bench`).
enum class MachineArgument { positional, option };

void add_machine_options(CLI::App& app, MachineOptions& options, MachineArgument argument);

/// The machine, with all changes made. Notices of its file are printed. Error: what cannot
/// be read, found or done, and what was most likely meant.
Result<Fabric> resolve_machine(const MachineOptions& options, Session& session);

}  // namespace isleway::cli
