// isleway accuracy: the model held against every measured table.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "isleway/report.hpp"

namespace isleway::cli {
namespace {

struct AccuracyOptions {
  int calibrate = 0;
  std::vector<std::string> held;
  std::string folder, engine = "analytic", filter;
};

int run(const AccuracyOptions& options, Session& session) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return report(catalogue.error());
  auto tables = verify::load_measured_tables(
      options.folder.empty() ? (*catalogue)->folder().parent_path() / "measurements/collectives"
                             : std::filesystem::path(options.folder));
  if (!tables) return report(tables.error());
  std::erase_if(*tables, [&](const verify::MeasuredTable& table) {
    return table.id.find(options.filter) == table.id.npos;
  });
  const auto engine = make_engine(options.engine);
  if (!engine) return report(engine.error());
  if (options.calibrate > 0) {
    verify::Calibration calibration(*tables, **catalogue, **engine, options.held);
    const auto factors = calibration.fit(options.calibrate);
    if (!factors) return report(factors.error());
    return print(report::calibration_text((*catalogue)->parts(), *factors, calibration));
  }
  const auto compared = verify::compare_tables(*tables, **catalogue, **engine);
  return print(report::accuracy_json(compared));
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<AccuracyOptions>();
  app.add_option("FOLDER", options->folder,
                 "Measured tables; without it those that came with this program")
      ->type_name("");
  app.add_option("--engine", options->engine, "analytic or flow")
      ->type_name("ENGINE")
      ->capture_default_str();
  app.add_option("--calibrate", options->calibrate,
                 "Fit the timing constants to the tables, in at most N rounds, and print them")
      ->type_name("N")
      ->check(CLI::Range(1, 100));
  app.add_option("--hold", options->held,
                 "With --calibrate: constants whose name holds this stay; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.add_option("--only", options->filter, "Only tables whose name holds this")->type_name("TEXT");
  app.footer("Examples:\n  isleway accuracy\n  isleway accuracy --only h100 --engine flow");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command accuracy_command;
const Command accuracy_command = {"accuracy", "How far the model is from measured tables", set_up};

}  // namespace isleway::cli
