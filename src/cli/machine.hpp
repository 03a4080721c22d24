// The MACHINE that every command takes, and the options that change it.
#pragma once

#include "cli/command.hpp"
#include "isleway/fabric.hpp"
#include "isleway/formats/machine_request.hpp"

namespace isleway::cli {

using MachineOptions = formats::MachineRequest;

/// MACHINE as the positional argument (`show`) or as -m (`bench`).
enum class MachineArgument { positional, option };

void add_machine_options(CLI::App& app, MachineOptions& options, MachineArgument argument);

/// The machine, with all changes made. Notices of its file are printed. Error: what cannot
/// be read, found or done, and what was most likely meant.
Result<Fabric> resolve_machine(const MachineOptions& options, Session& session);

}  // namespace isleway::cli
