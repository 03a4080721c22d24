// isleway machines: the catalogue.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "isleway/report.hpp"

namespace isleway::cli {
namespace {

int run(Session& session) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return report(catalogue.error());
  return print(session.json ? report::catalogue_json(**catalogue)
                            : report::catalogue_text(**catalogue));
}

std::function<int(Session&)> set_up(CLI::App& app) {
  app.footer("Examples:\n  isleway machines\n  isleway machines --json | jq -r .machines[].name");
  return run;
}

}  // namespace

extern const Command machines_command;
const Command machines_command = {"machines", "Lists the machines and networks of the catalogue",
                                  set_up};

}  // namespace isleway::cli
