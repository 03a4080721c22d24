// isleway plan: layouts of a model on a machine.
#include "cli/plan.hpp"

#include <CLI/CLI.hpp>

namespace isleway::cli {
namespace {

struct Kind {
  const char* name;
  const char* summary;
  std::function<int(Session&)> (*set_up)(CLI::App& app);
};
constexpr Kind kKinds[] = {
    {"serve", "Answer requests: latency, throughput, memory, what limits it", set_up_plan_serve},
    {"train", "Train: time of a step, memory, the ceiling, runnable flags", set_up_plan_train},
};

std::function<int(Session&)> set_up(CLI::App& app) {
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, std::function<int(Session&)>>> kinds;
  for (const Kind& kind : kKinds) {
    CLI::App* sub = app.add_subcommand(kind.name, kind.summary);
    sub->fallthrough();  // --json and the like belong to all commands
    kinds.emplace_back(sub, kind.set_up(*sub));
  }
  return [kinds](Session& session) -> int {
    for (const auto& [sub, run] : kinds)
      if (sub->parsed()) return run(session);
    return Exit::unknown;
  };
}

}  // namespace

extern const Command plan_command;
const Command plan_command = {"plan", "Layouts of a model on a machine, ranked", set_up};

}  // namespace isleway::cli
