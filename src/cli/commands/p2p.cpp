// isleway p2p: bandwidth and latency of copies between every two GPUs.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/engine_options.hpp"
#include "cli/machine.hpp"
#include "cli/option_group.hpp"
#include "isleway/report.hpp"

namespace isleway::cli {
namespace {

struct Options {
  MachineOptions machine;
  std::string format = "p2pBandwidthLatencyTest";
  CopyOptions copies;
  std::string engine = "analytic", trace;
  PacketFlags packet;
};

/// What the first two GPUs' copies to one another do.
int write_exchange(const Options& options, const Fabric& fabric, const Parts& parts) {
  if (fabric.gpu_count() < 2)
    return report(Error{{}, "--trace shows copies between two GPUs", "two GPUs or more", ""});
  report::Trace trace;
  auto engine = choose_engine(options.engine, options.packet, SpeedUps{}, parts, &trace);
  if (!engine) return report(engine.error());
  CopyOptions copies = options.copies;
  copies.engine = *std::move(engine);
  const auto rate = exchange_rate(fabric, parts, 0, 1, copies);
  if (!rate) return report(rate.error());
  return write_trace(options.trace, fabric, trace, 2);
}

int run(const Options& given, Session& session) {
  Options options = given;
  const auto fabric = resolve_machine(options.machine, session);
  if (!fabric) return report(fabric.error());
  const Parts& parts = (*session.catalogue())->parts();
  if (options.packet.bit_error_rate > 0 && options.engine != "packet")
    return report(Error{{}, "--ber: only the packet engine knows bits", "--engine packet", ""});
  if (!options.trace.empty()) {
    if (const int status = write_exchange(options, *fabric, parts); status != Exit::good)
      return status;
  }
  auto engine = choose_engine(options.engine, options.packet, SpeedUps{}, parts);
  if (!engine) return report(engine.error());
  options.copies.engine = *std::move(engine);
  const auto copies = copy_matrices(*fabric, parts, options.copies);
  if (!copies) return report(copies.error());
  if (!session.json && options.format == "p2pBandwidthLatencyTest")
    return print(report::p2p_test_text(*fabric, parts, *copies));
  const auto host = host_copies(*fabric, parts, options.copies);
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
  OptionGroup model(app, "Model");
  model.add_with_default("--engine", options->engine,
                         "analytic (closed form), flow (simulates every message), or packet "
                         "(simulates every packet)",
                         "ENGINE");
  model
      .add("--ber", options->packet.bit_error_rate,
           "With --engine packet: wrong bits per bit on NVLinks", "RATE")
      ->check(CLI::Range(0.0, 0.5));
  model.add_with_default("--seed", options->packet.seed, "Of the wrong bits", "N");
  model.add("--trace", options->trace,
            "Also write what the first two GPUs' copies to one another do: trace events for "
            "Perfetto, or link loads over time where the name ends in .csv",
            "FILE");
  app.footer(
      "Examples:\n"
      "  isleway p2p -m dgx-h100\n"
      "  isleway p2p -m dgx-h100 --format nvbandwidth\n"
      "  isleway p2p -m topo.txt --gpu a100-pcie-80 --json\n"
      "  isleway p2p -m dgx-a100 --fail gpu3:nvlink5\n"
      "  isleway p2p -m dgx-a100 --gpus 2,5 --engine flow --trace copies.json");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command p2p_command;
const Command p2p_command = {"p2p", "Bandwidth and latency between every two GPUs", set_up};

}  // namespace isleway::cli
