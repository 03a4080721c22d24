// isleway plan train: layouts of a training job.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/machine.hpp"
#include "cli/models.hpp"
#include "cli/option_group.hpp"
#include "cli/plan.hpp"
#include "isleway/core.hpp"
#include "isleway/plan/even_parts.hpp"
#include "isleway/plan/slowest_gpu.hpp"
#include "isleway/plan/train_runs.hpp"
#include "isleway/report/train.hpp"

namespace isleway::cli {
namespace {

/// As typed.
struct TrainOptions {
  MachineOptions machine;
  std::string model, precision = "bf16", framework = "megatron", layout, calibrate;
  std::string html, hostfile, slurm, kubernetes;
  std::int64_t batch = 1024, sequence = 4096;
  double imbalance = 1, straggler = 1, price = 0, tokens = 0;
  int tensor = 0, context = 0, expert = 0, pipeline = 0, micro_batch = 0;
  std::size_t rows = 10;
  bool all_schedules = false, no_what_ifs = false, graphs = false, expert_overlap = false;
};

Result<plan::TrainJob> job_of(const TrainOptions& options, Session& session) {
  auto model = resolve_model(options.model, session);
  if (!model) return tl::unexpected(model.error());
  const auto precision = model::parse_precision(options.precision);
  if (!precision) return tl::unexpected(precision.error());
  const auto framework = plan::parse_framework(options.framework);
  if (!framework) return tl::unexpected(framework.error());
  plan::TrainJob job;
  job.model = std::move(*model);
  job.sequence = options.sequence;
  job.global_batch = options.batch;
  job.precision = *precision;
  job.framework = *framework;
  job.framework.graphs = options.graphs;
  job.framework.expert_overlap = options.expert_overlap;
  job.imbalance = options.imbalance;
  job.straggler = options.straggler;
  return job;
}

Result<plan::SearchResult> one_layout(const TrainOptions& options, const plan::TrainModel& model) {
  const auto layout = plan::parse_layout(options.layout, model.interconnect().ranks());
  if (!layout) return tl::unexpected(layout.error());
  auto estimate = model.price(*layout, true);
  if (!estimate) return tl::unexpected(estimate.error());
  plan::SearchResult result;
  result.best.push_back(std::move(*estimate));
  return result;
}

Result<plan::SearchResult> search(const TrainOptions& options, const plan::TrainModel& model) {
  plan::SearchOptions wanted;
  wanted.top = options.rows;
  wanted.all_schedules = options.all_schedules;
  wanted.tensor = options.tensor;
  wanted.context = options.context;
  wanted.expert = options.expert;
  wanted.pipeline = options.pipeline;
  wanted.micro_batch = options.micro_batch;
  return plan::search_layouts(model, wanted);
}

/// Fits `parts` to the user's runs, and says how much closer they are.
Result<void> fit(const TrainOptions& options, const plan::TrainModel& model, Parts& parts) {
  const auto text = read_file(options.calibrate);
  if (!text) return tl::unexpected(text.error());
  const auto runs =
      plan::user_runs_from_yaml(*text, options.calibrate, model.interconnect().ranks());
  if (!runs) return tl::unexpected(runs.error());
  const auto fitted = plan::calibrate(*runs, model, parts);
  if (!fitted) return tl::unexpected(fitted.error());
  fmt::print(stderr,
             "calibrated on {} runs: mean error {:.1f}% before, {:.1f}% after; "
             "train.sustained {:.2f}\n",
             runs->size(), fitted->before * 100, fitted->after * 100, fitted->sustained);
  return {};
}

int write_files(const TrainOptions& options, const report::TrainAnswer& answer) {
  if (!options.html.empty())
    if (const int status = print_to(options.html, report::train_html(answer)); status != Exit::good)
      return status;
  if (answer.search.best.empty()) return Exit::good;
  const plan::Interconnect& interconnect = answer.model.interconnect();
  const plan::TrainLayout& layout = answer.search.best.front().layout;
  const std::pair<const std::string&, std::string> files[] = {
      {options.hostfile, plan::hostfile(interconnect.fabric())},
      {options.slurm, plan::slurm_placement(interconnect, layout)},
      {options.kubernetes, plan::kubernetes_placement(interconnect, layout)}};
  for (const auto& [file, content] : files) {
    if (file.empty()) continue;
    if (const int status = print_to(file, content); status != Exit::good) return status;
  }
  return Exit::good;
}

/// A part of the machine, and what it is best used as.
struct Plan {
  std::unique_ptr<plan::Interconnect> interconnect;
  std::unique_ptr<plan::TrainModel> model;
  plan::SearchResult found;

  bool better_than(const Plan& other) const {
    if (found.best.empty() || other.found.best.empty()) return !found.best.empty();
    return found.best.front().step < other.found.best.front().step;
  }
};

Result<Plan> plan_on(const TrainOptions& options, const plan::TrainJob& job, const Fabric& fabric,
                     const plan::ComputeCatalogue& compute, Parts& parts, bool calibrate) {
  auto gpu = plan::slowest_gpu(fabric, compute, parts);
  if (!gpu) return tl::unexpected(gpu.error());
  Plan made;
  made.interconnect = std::make_unique<plan::Interconnect>(fabric, parts);
  const auto model = [&] {
    return std::make_unique<plan::TrainModel>(job, *made.interconnect, gpu->compute, parts,
                                              gpu->memory, gpu->spread);
  };
  if (calibrate)
    if (const auto fitted = fit(options, *model(), parts); !fitted)
      return tl::unexpected(fitted.error());
  made.model = model();
  auto found =
      options.layout.empty() ? search(options, *made.model) : one_layout(options, *made.model);
  if (!found) return tl::unexpected(found.error());
  made.found = std::move(*found);
  return made;
}

/// On all GPUs, or on a part of them where GPUs are missing and the part is faster.
Result<Plan> best_plan(const TrainOptions& options, const plan::TrainJob& job, const Fabric& fabric,
                       const plan::ComputeCatalogue& compute, Parts& parts,
                       const Session& session) {
  auto best = plan_on(options, job, fabric, compute, parts, !options.calibrate.empty());
  if (!options.layout.empty()) return best;
  std::string what;
  for (const plan::EvenPart& part : plan::even_parts(fabric)) {
    if (part.what.empty()) continue;
    auto other = plan_on(options, job, part.fabric, compute, parts, false);
    if (!other || (best && !other->better_than(*best))) continue;
    best = std::move(other);
    what = fmt::format("{}: {} of {} GPUs", part.what, part.fabric.gpu_count(), fabric.gpu_count());
  }
  if (!what.empty() && !session.quiet)
    fmt::print(stderr, "note: the fastest plan leaves GPUs out. It takes {}\n", what);
  return best;
}

int run(const TrainOptions& options, Session& session) {
  auto job = job_of(options, session);
  if (!job) return report(job.error());
  const auto fabric = resolve_machine(options.machine, session);
  if (!fabric) return report(fabric.error());
  const Catalogue& catalogue = **session.catalogue();
  const auto compute = plan::ComputeCatalogue::open(catalogue.folder() / "compute");
  if (!compute) return report(compute.error());
  Parts parts = catalogue.parts();
  auto best = best_plan(options, *job, *fabric, *compute, parts, session);
  if (!best) return report(best.error());
  const plan::TrainModel& model = *best->model;
  if (!model.spread().speed.empty() && !session.quiet)
    fmt::print(stderr,
               "note: the GPUs differ. Pipeline stages on faster ones get more layers; inside a "
               "stage every GPU does as much as the slowest\n");

  report::TrainAnswer answer{model,         fabric->name(), std::move(best->found), {}, {}, {},
                             options.price, options.tokens, options.layout.empty()};
  if (!options.no_what_ifs && !answer.search.best.empty())
    answer.what_ifs = plan::what_ifs(model, answer.search.best, parts);
  if (session.verbose || session.json || !options.html.empty())
    answer.tensor_steps = plan::tensor_steps(model, 1);
  if (answer.searched)
    answer.smallest = plan::smallest_fit(model.job(), parts, model.capacity(),
                                         model.interconnect().domain_size(), 1 << 17);
  if (const int status = write_files(options, answer); status != Exit::good) return status;
  const int status = print(session.json ? report::train_json(answer)
                                        : report::train_text(answer, session.verbose));
  if (status != Exit::good) return status;
  const bool fits = !answer.search.best.empty() && answer.search.best.front().fits();
  return fits ? Exit::good : Exit::warning;
}

void add_job_options(CLI::App& app, TrainOptions& options) {
  app.add_option("--model", options.model, "A model's name, id on Hugging Face, or config.json")
      ->required()
      ->type_name("MODEL");
  OptionGroup job(app, "Job");
  job.add_with_default("-b,--batch", options.batch, "Sequences of a step", "N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 24));
  job.add_with_default("-s,--sequence", options.sequence, "Tokens of a sequence", "N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 24));
  job.add_with_default("--precision", options.precision, "bf16, fp8, mxfp8, nvfp4, ...", "NAME");
  job.add_with_default("--framework", options.framework,
                       "megatron, megatron-2021, torchtitan, torchtitan-async-tp", "NAME");
  job.add_flag("--cuda-graphs", options.graphs, "Launches are replayed from CUDA graphs");
  job.add_flag("--expert-overlap", options.expert_overlap,
               "Experts' traffic runs beside another micro-batch");
  job.add_with_default("--imbalance", options.imbalance,
                       "Tokens of the busiest rank's experts over the mean", "RATIO")
      ->check(CLI::Range(1.0, 1000.0));
  job.add_with_default("--straggler", options.straggler, "Time of the slowest GPU over the others'",
                       "RATIO")
      ->check(CLI::Range(1.0, 1000.0));
  job.add("--price", options.price, "Dollars of a GPU for an hour", "USD")
      ->check(CLI::Range(0.0, 1e6));
  job.add("--tokens", options.tokens, "Tokens of the whole run, for its cost", "N")
      ->check(CLI::Range(0.0, 1e18));
}

void add_search_options(CLI::App& app, TrainOptions& options) {
  OptionGroup search(app, "Search");
  search.add("--layout", options.layout, "Prices this one: tp=8,pp=4,vp=2,ep=8,mbs=1,...",
             "LAYOUT");
  search.add("--tp", options.tensor, "Only tensor-parallel groups of N", "N");
  search.add("--cp", options.context, "Only context-parallel groups of N", "N");
  search.add("--ep", options.expert, "Only expert-parallel groups of N", "N");
  search.add("--pp", options.pipeline, "Only pipelines of N ranks", "N");
  search.add("--mbs", options.micro_batch, "Only micro-batches of N sequences", "N");
  search.add_flag("--all-schedules", options.all_schedules, "Zero-bubble and DualPipe as well");
  search.add_with_default("--top", options.rows, "Layouts to show", "N")
      ->check(CLI::Range(1, 1000));
  search.add("--calibrate", options.calibrate, "Your measured runs (YAML), to fit to first",
             "FILE");
  search.add_flag("--no-what-ifs", options.no_what_ifs, "Other hardware is not tried");
  OptionGroup output(app, "Output");
  output.add("--html", options.html, "A page with tables", "FILE");
  output.add("--hostfile", options.hostfile, "Hosts in rank order, for mpirun or DeepSpeed",
             "FILE");
  output.add("--slurm", options.slurm, "sbatch lines", "FILE");
  output.add("--kubernetes", options.kubernetes, "An indexed Job", "FILE");
}

}  // namespace

std::function<int(Session&)> set_up_plan_train(CLI::App& app) {
  auto options = std::make_shared<TrainOptions>();
  add_job_options(app, *options);
  add_machine_options(app, options->machine, MachineArgument::option);
  add_search_options(app, *options);
  app.footer(
      "Examples:\n"
      "  isleway plan train --model llama-3.1-70b -m 'dgx-h100*8' --network ndr400-rail "
      "-b 128 -s 8192\n"
      "  isleway plan train --model deepseek-v3 -m 'gb200-nvl72*4' --network ndr400-rail "
      "--precision mxfp8 -b 4096\n"
      "  isleway plan train --model config.json -m dgx-h100 --layout tp=4,mbs=2\n"
      "  isleway plan train --model llama-3.1-8b -m dgx-h100 --price 2.5 --tokens 1e12");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace isleway::cli
