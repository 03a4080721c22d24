// isleway p2p: bandwidth and latency of copies between every two GPUs.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/machine.hpp"
#include "isleway/report.hpp"

namespace isleway::cli {
namespace {

struct Options {
  MachineOptions machine;
  std::string format = "p2pBandwidthLatencyTest";
  CopyOptions copies;
};

int run(const Options& options, Session& session) {
  const auto fabric = resolve_machine(options.machine, session);
  if (!fabric) return report(fabric.error());
  const Parts& parts = (*session.catalogue())->parts();
  const auto copies = copy_matrices(*fabric, parts, options.copies);
  if (!copies) return report(copies.error());
  if (!session.json && options.format == "p2pBandwidthLatencyTest")
    return print(report::p2p_test_text(*fabric, parts, *copies));
  const auto host = host_copies(*fabric, parts);
  if (!host) return report(host.error());
  return print(session.json ? report::copies_json(*fabric, *copies, *host)
                            : report::nvbandwidth_text(*fabric, parts, *copies, *host));
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_machine_options(app, options->machine, MachineArgument::option);
  app.add_option("--format", options->format, "Which tool's output to print")
      ->check(CLI::IsMember({"p2pBandwidthLatencyTest", "nvbandwidth"}))
      ->capture_default_str();
  app.add_flag("--full-clock", options->copies.full_clock,
               "GPUs at their full clock, as under load; copies alone mostly leave it lower");
  app.footer(
      "Examples:\n"
      "  isleway p2p -m dgx-h100\n"
      "  isleway p2p -m dgx-h100 --format nvbandwidth\n"
      "  isleway p2p -m topo.txt --gpu a100-pcie-80 --json\n"
      "  isleway p2p -m dgx-a100 --fail gpu3:nvlink5");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command p2p_command;
const Command p2p_command = {"p2p", "Bandwidth and latency between every two GPUs", set_up};

}  // namespace isleway::cli
