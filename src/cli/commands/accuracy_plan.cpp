// isleway accuracy-plan: the plans' model held against what was measured.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "isleway/core.hpp"
#include "isleway/plan.hpp"

namespace isleway::cli {
namespace {

struct PlanAccuracyOptions {
  bool fit_gemm = false;
  std::string output;
};

int fit_gemm(const Catalogue& catalogue, const std::string& output) {
  const auto root = catalogue.folder().parent_path();
  const auto compute = plan::ComputeCatalogue::open(catalogue.folder() / "compute");
  if (!compute) return report(compute.error());
  const auto tables = plan::load_gemm_tables(root / "measurements/gemm");
  if (!tables) return report(tables.error());
  const auto fit = plan::fit_gemm(*tables, *compute, catalogue.parts());
  if (!fit) return report(fit.error());
  return print_to(output, plan::gemm_yaml(*fit, *tables));
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<PlanAccuracyOptions>();
  app.add_flag("--fit-gemm", options->fit_gemm,
               "fit the constants of matrix multiplies on measurements/gemm, and print them");
  app.add_option("-o,--output", options->output, "file to write instead of standard output");
  return [options](Session& session) {
    const auto catalogue = session.catalogue();
    if (!catalogue) return report(catalogue.error());
    return fit_gemm(**catalogue, options->output);
  };
}

}  // namespace

extern const Command accuracy_plan_command;
const Command accuracy_plan_command{"accuracy-plan", "Hold the plans' model against measured runs",
                                    set_up};

}  // namespace isleway::cli
