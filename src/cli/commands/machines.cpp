// isleway machines: the catalogue.
#include <fmt/format.h>

#include "cli/command.hpp"

namespace isleway::cli {
namespace {

int run(Session& session) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return report(catalogue.error());
  for (const CatalogueEntry& entry : (*catalogue)->machines())
    fmt::print("{:<24} {}\n", entry.name, entry.title);
  return Exit::good;
}

}  // namespace

extern const Command machines_command;
const Command machines_command = {"machines", "Lists the machines of the catalogue",
                                  [](CLI::App&) { return std::function<int(Session&)>(run); }};

}  // namespace isleway::cli
