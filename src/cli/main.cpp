// The program: global flags, then one of the commands in src/cli/commands.
#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>

#include "cli/command.hpp"
#include "isleway/core.hpp"

namespace isleway::cli {
namespace {

/// Says which command was meant when the first word is none.
bool names_no_command(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  std::vector<std::string> names;
  for (const Command* command : commands()) {
    if (std::string_view(command->name) == argv[1]) return false;
    names.emplace_back(command->name);
  }
  report(fail_unknown("command", argv[1], names).value());
  return true;
}

/// Where to read on after a mistake on the command line.
std::string help_after(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return (chosen.empty() ? "isleway" : "isleway " + chosen.front()->get_name()) + " --help";
}

int run(int argc, char** argv) {
  CLI::App app{
      "The GPU interconnect in software: fabrics, collectives, and what they should deliver.",
      "isleway"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "isleway 0.1.0");
  app.set_help_all_flag("--help-all", "Help for all commands");
  app.fallthrough();
  app.footer("Exit status: 0 good, 1 warning, 2 critical or unusable input, 3 unknown.");

  Session session;
  app.add_flag("--json", session.json, "Machine-readable output; schemas are in docs/json.md");
  app.add_flag("-q,--quiet", session.quiet, "No notices on stderr");
  app.add_flag("-v,--verbose", session.verbose, "More about what was assumed and done");

  int status = Exit::good;
  for (const Command* command : commands()) {
    CLI::App* sub = app.add_subcommand(command->name, command->summary);
    sub->callback([&session, &status, work = command->set_up(*sub)] { status = work(session); });
  }
  if (names_no_command(argc, argv)) return Exit::critical;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error) == 0 ? Exit::good : Exit::critical;
    return report({{}, error.what(), {}, help_after(app)});
  }
  return status;
}

}  // namespace
}  // namespace isleway::cli

int main(int argc, char** argv) {
  // A closed pipe is seen where it is written to, not by a signal that kills half-way
  // through writing a file.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return isleway::cli::run(argc, argv);
  } catch (const std::exception& error) {
    return isleway::cli::report(isleway::Error{{}, error.what(), {}, {}});
  }
}
