// The program: global flags, then one of the commands in src/cli/commands.
#include <fmt/format.h>

#include "cli/command.hpp"

int main(int argc, char** argv) {
  using namespace isleway::cli;
  CLI::App app{"The GPU interconnect in software: fabrics, collectives, and what they should deliver.",
               "isleway"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "isleway 0.1.0");
  app.fallthrough();

  Session session;
  app.add_flag("--json", session.json, "Machine-readable output; schemas are in docs/json.md");
  app.add_flag("-q,--quiet", session.quiet, "No notices on stderr");
  app.add_flag("-v,--verbose", session.verbose, "More about what was assumed and done");

  int status = Exit::good;
  for (const Command* command : commands()) {
    CLI::App* sub = app.add_subcommand(command->name, command->summary);
    sub->callback([&session, &status, run = command->set_up(*sub)] { status = run(session); });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? Exit::good : Exit::critical;
  }
  return status;
}
