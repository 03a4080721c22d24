// The two kinds of plan; each sets up a subcommand of `isleway plan`.
#pragma once

#include "cli/command.hpp"

namespace isleway::cli {

std::function<int(Session&)> set_up_plan_serve(CLI::App& app);
std::function<int(Session&)> set_up_plan_train(CLI::App& app);

}  // namespace isleway::cli
