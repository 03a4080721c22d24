// isleway accuracy: the model held against every measured table.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "isleway/core.hpp"
#include "isleway/report.hpp"

namespace isleway::cli {
namespace {

struct AccuracyOptions {
  std::string folder, engine = "analytic", filter, page;
  bool validate = false;
  int calibrate = 0;
  std::vector<std::string> held;
};

Result<std::vector<verify::MeasuredTable>> chosen_tables(const AccuracyOptions& options,
                                                         const Catalogue& catalogue) {
  auto tables = verify::load_measured_tables(
      options.folder.empty() ? catalogue.folder().parent_path() / "measurements/collectives"
                             : std::filesystem::path(options.folder));
  if (!tables) return tables;
  std::erase_if(*tables, [&](const verify::MeasuredTable& table) {
    return table.id.find(options.filter) == table.id.npos;
  });
  if (tables->empty())
    return fail("no table's name holds \"" + options.filter + "\"", "a part of a file's name");
  return tables;
}

int calibrate(const AccuracyOptions& options, const Catalogue& catalogue, const Engine& engine,
              std::span<const verify::MeasuredTable> tables) {
  verify::Calibration calibration(tables, catalogue, engine, options.held);
  const auto factors = calibration.fit(options.calibrate);
  if (!factors) return report(factors.error());
  return print(report::calibration_text(catalogue.parts(), *factors, calibration));
}

Result<std::vector<report::Validation>> validate(const Catalogue& catalogue, const Engine& engine,
                                                 std::span<const verify::MeasuredTable> tables) {
  verify::Calibration calibration(tables, catalogue, engine);
  if (auto ready = calibration.linearise({}); !ready) return tl::unexpected(ready.error());
  return std::vector<report::Validation>{
      {"site",
       verify::cross_validate(calibration, [](const verify::MeasuredTable& t) { return t.site; })},
      {"platform", verify::cross_validate(
                       calibration, [](const verify::MeasuredTable& t) { return t.platform; })}};
}

int write_page(const std::filesystem::path& folder, std::span<const verify::ComparedTable> compared,
               std::span<const report::Validation> validations) {
  const std::string beside = "accuracy";
  std::error_code error;
  std::filesystem::create_directories(folder / beside, error);
  if (error)
    return report(Error{{(folder / beside).string()},
                        "cannot be made: " + error.message(),
                        "a folder that may be written to",
                        {}});
  const auto pictures = report::accuracy_pictures(compared);
  for (const report::Picture& picture : pictures)
    if (print_to((folder / beside / picture.file).string(), picture.svg) != Exit::good)
      return Exit::critical;
  return print_to((folder / "accuracy.md").string(),
                  report::accuracy_page(compared, validations, pictures, beside));
}

int run(const AccuracyOptions& options, Session& session) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return report(catalogue.error());
  const auto tables = chosen_tables(options, **catalogue);
  if (!tables) return report(tables.error());
  const auto engine = make_engine(options.engine);
  if (!engine) return report(engine.error());
  if (options.calibrate > 0) return calibrate(options, **catalogue, **engine, *tables);

  const auto compared = verify::compare_tables(*tables, **catalogue, **engine);
  if (session.json) return print(report::accuracy_json(compared));
  std::vector<report::Validation> validations;
  if (options.validate) {
    auto validated = validate(**catalogue, **engine, *tables);
    if (!validated) return report(validated.error());
    validations = std::move(*validated);
  }
  if (!options.page.empty()) return write_page(options.page, compared, validations);
  std::string text = report::accuracy_text(compared);
  for (const report::Validation& validation : validations)
    text += report::validation_text(validation);
  return print(text);
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<AccuracyOptions>();
  app.add_option("FOLDER", options->folder,
                 "Measured tables; without it those that came with this program")
      ->type_name("");
  app.add_option("--only", options->filter, "Only tables whose name holds this")->type_name("TEXT");
  app.add_option("--engine", options->engine, "analytic or flow")
      ->type_name("ENGINE")
      ->capture_default_str();
  app.add_flag("--cross-validate", options->validate,
               "Also leave out one site, one platform after the other, and refit without it");
  app.add_option("--page", options->page,
                 "Write accuracy.md and its pictures into this folder instead of printing")
      ->type_name("FOLDER");
  app.add_option("--calibrate", options->calibrate,
                 "Fit the timing constants to the tables, in at most N rounds, and print them")
      ->type_name("N")
      ->check(CLI::Range(1, 100));
  app.add_option("--hold", options->held,
                 "With --calibrate: constants whose name holds this stay; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.footer(
      "Examples:\n"
      "  isleway accuracy\n"
      "  isleway accuracy --only h100x8 --json\n"
      "  isleway accuracy --page docs --cross-validate\n"
      "  isleway accuracy --calibrate 3 --hold nccl.nvls");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command accuracy_command;
const Command accuracy_command = {"accuracy", "How far the model is from measured tables", set_up};

}  // namespace isleway::cli
