// isleway inject: something breaks in a run that goes on.
#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/command.hpp"
#include "isleway/core.hpp"
#include "isleway/virtual/script.hpp"

namespace isleway::cli {
namespace {

struct Options {
  std::string world;
  std::vector<std::string> words;
};

int run(const Options& options, Session& session) {
  std::string name = options.world;
  if (const char* named = std::getenv("ISLEWAY_WORLD"); name.empty() && named != nullptr)
    name = named;
  if (name.empty())
    return report(Error{{},
                        "which run is meant?",
                        "--world NAME, or ISLEWAY_WORLD in the environment",
                        "isleway run -v prints the name of its run"});
  const auto world = vgpu::World::visit(name);
  if (!world) return report(world.error());
  std::string text;
  for (const std::string& word : options.words) text += word + " ";
  const auto fault = vgpu::parse_injection((*world)->machine(), text, (*world)->now());
  if (!fault) return report(fault.error());
  if (const auto injected = (*world)->inject(*fault); !injected) return report(injected.error());
  if (session.quiet) return Exit::good;
  return print(fault->text + " at " + std::to_string(fault->at.seconds()) + " s\n");
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--world", options->world, "The run, as `isleway run -v` names it")
      ->type_name("NAME");
  app.add_option("FAULT", options->words,
                 "What breaks or is mended, and when: link-down gpu3:nvlink5 at 2s")
      ->required();
  app.footer(
      "Faults are those of --fail, and what only drivers see (docs/nvml.md).\n"
      "Examples:\n"
      "  isleway inject link-down gpu3:nvlink5 at 2s\n"
      "  isleway inject gpu-lost gpu3\n"
      "  isleway inject --world /dev/shm/isleway.1234 ecc gpu2 uncorrected 1\n"
      "  isleway inject nic-up mlx5_0");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command inject_command;
const Command inject_command = {"inject", "Break or mend something in a run that goes on", set_up};

}  // namespace isleway::cli
