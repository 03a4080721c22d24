// isleway accuracy-plan: the plans' model held against what was measured.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "isleway/core.hpp"
#include "isleway/plan.hpp"
#include "isleway/report/plan_accuracy.hpp"

namespace isleway::cli {
namespace {

struct PlanAccuracyOptions {
  bool fit_gemm = false, fit_serving = false, runs = false, rank = false;
  int fit_training = 0;
  std::string page;
};

/// What all of it is made from.
struct PlanData {
  const Catalogue& catalogue;
  plan::ComputeCatalogue compute;
  model::ModelCatalogue models;
  std::vector<plan::RunSource> sources;
  std::vector<plan::GemmTable> gemm;
  std::map<std::string, plan::ServeSoftware> software;

  std::filesystem::path measurements() const {
    return catalogue.folder().parent_path() / "measurements";
  }
};

Result<PlanData> load(const Catalogue& catalogue) {
  const auto root = catalogue.folder().parent_path();
  auto compute = plan::ComputeCatalogue::open(catalogue.folder() / "compute");
  if (!compute) return tl::unexpected(compute.error());
  auto models = model::ModelCatalogue::open(root / "models");
  if (!models) return tl::unexpected(models.error());
  auto sources = plan::load_run_sources(root / "measurements/layouts");
  if (!sources) return tl::unexpected(sources.error());
  auto gemm = plan::load_gemm_tables(root / "measurements/gemm");
  if (!gemm) return tl::unexpected(gemm.error());
  auto software = plan::all_serve_software(catalogue.folder() / "compute");
  if (!software) return tl::unexpected(software.error());
  return PlanData{catalogue,           std::move(*compute), std::move(*models),
                  std::move(*sources), std::move(*gemm),    std::move(*software)};
}

/// One in so many runs: enough to fit six constants, and soon done.
constexpr std::size_t kFitEvery = 10;

int fit(const PlanAccuracyOptions& options, const PlanData& data) {
  const Parts& parts = data.catalogue.parts();
  if (options.fit_gemm) {
    const auto fit = plan::fit_gemm(data.gemm, data.compute, parts);
    return fit ? print(plan::gemm_yaml(*fit, data.gemm)) : report(fit.error());
  }
  if (options.fit_serving) {
    plan::ServeScorer scorer(data.catalogue, data.compute, data.models);
    const auto fit = plan::fit_serving(data.sources, data.software, scorer, kFitEvery);
    return fit ? print(plan::serving_yaml(*fit)) : report(fit.error());
  }
  plan::TrainScorer scorer(data.catalogue, data.compute, data.models);
  const auto fit = plan::fit_training(data.sources, scorer, parts, options.fit_training);
  std::string text = fmt::format("# mean error {:.4f}, was {:.4f}\n", fit.after, fit.before);
  for (const auto& [name, value] : fit.constants) text += fmt::format("{}: {:.6g}\n", name, value);
  return print(text);
}

Result<report::PlanAccuracy> measure(const PlanData& data, bool rank) {
  const Parts& parts = data.catalogue.parts();
  report::PlanAccuracy accuracy;
  accuracy.sources = data.sources;
  plan::TrainScorer training(data.catalogue, data.compute, data.models);
  accuracy.training = plan::score_training(data.sources, training, parts);
  const plan::TrainCalibration calibration(data.sources, training, parts);
  for (const plan::RunSource& source : data.sources) {
    if (source.training.empty()) continue;
    plan::SourceErrors errors;
    errors.source = source.id;
    errors.model = calibration.errors(source.id, calibration.improve(source.id));
    if (errors.model.count > 0) accuracy.left_out.push_back(std::move(errors));
  }
  plan::ServeScorer serving(data.catalogue, data.compute, data.models);
  for (const plan::RunSource& source : data.sources)
    for (const plan::ServeRun& run : source.serving) {
      const auto software = data.software.find(source.framework);
      if (software == data.software.end())
        return fail(fmt::format("{} serves with '{}'", source.id, source.framework),
                    "software of machines/compute/serving.yaml");
      accuracy.serving.push_back(serving.score(source, run, software->second));
    }
  const auto software = data.software.find("trtllm");
  if (software != data.software.end()) {
    auto orders = plan::score_orders(data.measurements() / "orders.yaml", data.sources, training,
                                     serving, software->second, parts);
    if (!orders) return tl::unexpected(orders.error());
    accuracy.orders = std::move(*orders);
  }
  if (rank) {
    auto ranks = plan::rank_layouts(data.measurements() / "chosen-layouts.yaml", data.sources,
                                    data.catalogue, data.compute, data.models);
    if (!ranks) return tl::unexpected(ranks.error());
    accuracy.ranks = std::move(*ranks);
  }
  auto gemm = plan::gemm_errors(data.gemm, data.compute, parts);
  if (!gemm) return tl::unexpected(gemm.error());
  accuracy.gemm = std::move(*gemm);
  return accuracy;
}

int run(const PlanAccuracyOptions& options, Session& session) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return report(catalogue.error());
  const auto data = load(**catalogue);
  if (!data) return report(data.error());
  if (options.fit_gemm || options.fit_serving || options.fit_training > 0)
    return fit(options, *data);
  const auto accuracy = measure(*data, options.rank);
  if (!accuracy) return report(accuracy.error());
  return print_to(options.page, options.runs ? report::plan_accuracy_runs(*accuracy)
                                             : report::plan_accuracy_page(*accuracy));
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<PlanAccuracyOptions>();
  app.add_option("--page", options->page, "Write the page into this file instead of printing it")
      ->type_name("FILE");
  app.add_flag("--runs", options->runs, "One line a training run instead of the page");
  app.add_flag("--rank", options->rank,
               "Also search the jobs of layouts that vendors chose: takes minutes");
  app.add_flag("--fit-gemm", options->fit_gemm,
               "Fit the constants of matrix multiplies, and print machines/compute/gemm.yaml");
  app.add_flag("--fit-serving", options->fit_serving,
               "Fit those of serving software, and print machines/compute/serving.yaml");
  app.add_option("--fit-training", options->fit_training,
                 "Fit those of training in at most N rounds, and print them")
      ->type_name("N")
      ->check(CLI::Range(1, 100));
  app.footer(
      "Examples:\n"
      "  isleway accuracy-plan --rank --page docs/accuracy-plan.md\n"
      "  isleway accuracy-plan --fit-gemm > machines/compute/gemm.yaml");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command accuracy_plan_command;
const Command accuracy_plan_command = {"accuracy-plan", "How far plans are from measured runs",
                                       set_up};

}  // namespace isleway::cli
