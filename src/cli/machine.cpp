#include "cli/machine.hpp"

#include "cli/option_group.hpp"

namespace isleway::cli {

void add_machine_options(CLI::App& app, MachineOptions& options, MachineArgument argument) {
  const char* what =
      "A catalogue name (dgx-h100), several (dgx-h100*16), or a file that describes "
      "a machine; - reads standard input";
  app.add_option(argument == MachineArgument::positional ? "MACHINE" : "-m,--machine",
                 options.machine, what)
      ->required()
      ->type_name(argument == MachineArgument::positional ? "" : "MACHINE");
  OptionGroup machine(app, "Machine");
  machine.add("--network", options.network, "Network between nodes: a name or a YAML file",
              "NETWORK");
  machine.add("--gpu", options.gpu, "The GPU, for files that do not name it", "PART");
  machine.add("-g,--ngpus", options.first_gpus, "Only the first N GPUs of each node", "N")
      ->check(CLI::Range(1, 4096));
  machine.add("--gpus", options.gpus, "Only these GPUs of each node: 0,1,4 or 0-3", "LIST")
      ->excludes("--ngpus");
  machine.add("--ranks", options.ranks, "Only the first N GPUs of all nodes together", "N")
      ->check(CLI::Range(1, 1 << 24));
  machine
      .add("--nvlink-hosts", options.nvlink_hosts,
           "Every N machines share their NVSwitches, as trays of a rack do", "N")
      ->check(CLI::Range(1, 4096));
  machine.add_repeated("--fail", options.faults,
                       "Something broken, may be repeated: gpu3:nvlink5, nvswitch1, mlx5_0, "
                       "gpu3:pcie:lanes=8",
                       "FAULT");
  machine.add("--mig", options.mig, "MIG mode on these GPUs, or on all", "LIST|all");
  machine.add("--partition", options.partition, "A shared-NVSwitch partition of these GPUs",
              "LIST");
  machine.add("--confidential", options.confidential,
              "Confidential computing: hopper-cc, hopper-ppcie or blackwell", "MODE");
}

Result<Fabric> resolve_machine(const MachineOptions& options, Session& session) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return tl::unexpected(catalogue.error());
  Notices notices;
  auto fabric = formats::make_machine(options, **catalogue, notices);
  report(notices, session);
  return fabric;
}

}  // namespace isleway::cli
