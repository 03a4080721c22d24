// isleway run: a program on virtual GPUs, in virtual time.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/command.hpp"
#include "cli/machine.hpp"
#include "isleway/core.hpp"
#include "isleway/virtual/launch.hpp"
#include "isleway/virtual/script.hpp"

namespace isleway::cli {
namespace {

struct Options {
  MachineOptions machine;
  int nodes = 1;
  bool by_tray = false;
  std::string time = "virtual", data = "real", kernels = "stop";
  std::string script;
  std::vector<std::string> command;
};

Result<vgpu::RunPlan> understand(const Options& options) {
  vgpu::RunPlan plan;
  plan.machine = options.machine;
  if (plan.machine.machine == "-")
    return fail("the machine cannot be read from standard input, which is the program's",
                "a name or a file");
  if (options.nodes > 1) plan.machine.machine += "*" + std::to_string(options.nodes);
  plan.by_tray = options.by_tray;
  plan.data = options.data != "none";
  plan.kernels =
      options.kernels == "skip" ? vgpu::UnknownKernels::skip : vgpu::UnknownKernels::stop;
  if (auto ok = vgpu::parse_time_mode(options.time, plan); !ok) return tl::unexpected(ok.error());
  return plan;
}

/// Faults of a file, which come into force in the run's own time.
Result<void> inject_script(vgpu::World& world, const std::string& file) {
  if (file.empty()) return {};
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  const auto faults = vgpu::parse_script(world.machine(), *text, file);
  if (!faults) return tl::unexpected(faults.error());
  for (const vgpu::TimedFault& fault : *faults)
    if (auto injected = world.inject(fault); !injected) return injected;
  return {};
}

int run(const Options& options, Session& session) {
  const auto plan = understand(options);
  if (!plan) return report(plan.error());
  const auto world = vgpu::World::create(*plan);
  if (!world) return report(world.error());
  if (const auto injected = inject_script(**world, options.script); !injected)
    return report(injected.error());
  if (session.verbose)
    std::fprintf(stderr, "isleway: the run is ISLEWAY_WORLD=%s\n", (*world)->name().c_str());
  const auto end = vgpu::run_program(**world, options.command);
  if (!end) return report(end.error());
  for (const std::string& remark : end->remarks)
    if (!session.quiet) std::fprintf(stderr, "isleway: %s\n", remark.c_str());
  return end->status;
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_machine_options(app, options->machine, MachineArgument::option);
  app.add_option("--nodes", options->nodes, "So many of the machine, joined by --network")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  app.add_option(
         "--time", options->time,
         "What programs take for the time: virtual, real, or scaled=N (N virtual seconds in "
         "a real one)")
      ->type_name("KIND")
      ->capture_default_str();
  app.add_option("--data", options->data, "none: only time calls, move and reduce nothing")
      ->check(CLI::IsMember({"real", "none"}))
      ->capture_default_str();
  app.add_option("--kernels", options->kernels,
                 "Kernels that are not known by name: stop the program, or skip them")
      ->check(CLI::IsMember({"stop", "skip"}))
      ->capture_default_str();
  app.add_option("--script", options->script,
                 "Faults that happen while it runs, one a line: link-down gpu3:nvlink5 at 2s")
      ->type_name("FILE");
  app.add_option("PROGRAM", options->command, "The program and its arguments, after --")
      ->required();
  app.footer(
      "Examples:\n"
      "  isleway run -m dgx-h100 -- ./all_reduce_perf -b 8 -e 1G -f 2 -g 8\n"
      "  isleway run -m gb200-nvl72 --data none -- ./all_reduce_perf -g 72\n"
      "  isleway run -m dgx-h100 --nodes 2 --network ndr400-rail -- mpirun -np 16 ./app\n"
      "  isleway run -m dgx-a100 --fail gpu3:nvlink5 -- ./p2pBandwidthLatencyTest");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command run_command;
const Command run_command = {"run", "Run a program on virtual GPUs, in virtual time", set_up};

}  // namespace isleway::cli
