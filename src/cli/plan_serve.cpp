// isleway plan serve: layouts that answer requests.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/machine.hpp"
#include "cli/option_group.hpp"
#include "cli/plan.hpp"
#include "isleway/core.hpp"
#include "isleway/plan.hpp"
#include "isleway/plan/slowest_gpu.hpp"
#include "isleway/report.hpp"

namespace isleway::cli {
namespace {

constexpr double kMostTokens = 1e9;

/// As typed.
struct ServeOptions {
  MachineOptions machine;
  std::string model, precision, kv_precision, software = "trtllm", layout, decode, html;
  double input = 1024, output = 1024, cached = 0, concurrency = 0, rate = 0;
  double ttft_ms = 0, tpot_ms = 0, memory_share = 0.9, imbalance = 1, price = 0;
  int chunk = 8192;
  std::size_t rows = 10;
  bool together = false;
};

Result<model::Precision> precision_of(const std::string& text, model::Precision otherwise) {
  return text.empty() ? otherwise : model::parse_precision(text);
}

Result<plan::ServeGoal> goal_of(const ServeOptions& options) {
  plan::ServeGoal goal;
  goal.concurrency = options.concurrency;
  goal.rate = options.rate;
  goal.most_ttft = options.ttft_ms * 1e-3;
  goal.most_tpot = options.tpot_ms * 1e-3;
  goal.disaggregate = !options.together;
  if (options.concurrency > 0 && options.rate > 0)
    return fail("--concurrency and --rate both say how much load there is", "one of them");
  if (!options.decode.empty() && options.layout.empty())
    return fail("--decode without --layout", "the layout of the workers that prefill",
                "--layout tp=4 --decode tp=8");
  for (const auto& [text, into] :
       {std::pair{&options.layout, &goal.layout}, std::pair{&options.decode, &goal.decode}}) {
    if (text->empty()) continue;
    auto layout = plan::parse_serve_layout(*text);
    if (!layout) return tl::unexpected(layout.error());
    *into = *layout;
  }
  return goal;
}

Result<plan::ServeJob> job_of(const ServeOptions& options, model::Transformer transformer,
                              const plan::ComputeModel& gpu, plan::ServeSoftware software) {
  plan::ServeJob job;
  // Nobody serves in 32 bits what happens to be published in them.
  auto published = model::parse_precision(transformer.weights).value_or(model::Precision::bf16);
  if (model::math_bits(published) > 16) published = model::Precision::bf16;
  const auto precision = precision_of(options.precision, published);
  if (!precision) return tl::unexpected(precision.error());
  job.precision = *precision;
  const bool narrow = model::math_bits(job.precision) < 16 && gpu.part().fp8 > 0;
  const auto kv = precision_of(options.kv_precision,
                               narrow ? model::Precision::fp8_current : model::Precision::bf16);
  if (!kv) return tl::unexpected(kv.error());
  job.kv_precision = *kv;
  job.model = std::move(transformer);
  if (job.model.max_positions > 0 &&
      options.input + options.output > double(job.model.max_positions))
    return fail(
        fmt::format("{:.0f} tokens a request, but {} was made for {}",
                    options.input + options.output, job.model.name, job.model.max_positions),
        fmt::format("--input and --output of at most {} together", job.model.max_positions));
  job.input = options.input;
  job.output = options.output;
  job.cached = options.cached;
  job.imbalance = options.imbalance;
  job.chunk = options.chunk;
  job.memory_share = options.memory_share;
  job.software = std::move(software);
  return job;
}

int run(const ServeOptions& options, Session& session) {
  const auto catalogue = session.catalogue();
  if (!catalogue) return report(catalogue.error());
  const Parts& parts = (*catalogue)->parts();
  const auto& folder = (*catalogue)->folder();
  const auto goal = goal_of(options);
  if (!goal) return report(goal.error());
  auto fabric = resolve_machine(options.machine, session);
  if (!fabric) return report(fabric.error());
  const auto models = model::ModelCatalogue::open(folder.parent_path() / "models");
  if (!models) return report(models.error());
  Notices notices;
  auto transformer = models->find(options.model, notices);
  report(notices, session);
  if (!transformer) return report(transformer.error());
  const auto compute = plan::ComputeCatalogue::open(folder / "compute");
  if (!compute) return report(compute.error());
  const auto gpu = plan::slowest_gpu(*fabric, *compute, parts);
  if (!gpu) return report(gpu.error());
  auto software = plan::serve_software(folder / "compute", options.software);
  if (!software) return report(software.error());
  const auto job = job_of(options, std::move(*transformer), gpu->compute, std::move(*software));
  if (!job) return report(job.error());

  report::ServeHeading heading;
  heading.machine = fabric->name();
  heading.gpus = static_cast<int>(fabric->gpu_count());
  heading.gpu = parts.gpu(gpu->compute.gpu())->title;
  heading.extrapolated = gpu->compute.part().extrapolated;
  heading.model = job->model.name;
  heading.model_id = options.model;
  for (const model::ModelEntry& entry : models->entries())
    if (entry.name == job->model.name) heading.model_id = entry.id;
  heading.price = options.price;
  heading.most_rows = options.rows;

  const plan::Interconnect interconnect(std::move(*fabric), parts);
  const auto plan = plan::plan_serving(*job, *goal, interconnect, gpu->compute, gpu->memory);
  if (!plan) return report(plan.error());
  if (!options.html.empty()) {
    const int status = print_to(options.html, report::serve_html(heading, *job, *plan));
    if (status != Exit::good || options.html == "-") return status;
  }
  return print(session.json ? report::serve_json(heading, *job, *plan)
                            : report::serve_text(heading, *job, *plan));
}

void add_load(CLI::App& app, ServeOptions& options) {
  OptionGroup load(app, "Load");
  const auto tokens = CLI::Range(1.0, kMostTokens);
  load.add_with_default("--input", options.input, "Tokens of a request's input", "N")
      ->check(tokens);
  load.add_with_default("--output", options.output, "Tokens of the answer", "N")->check(tokens);
  load.add("--prefix-hit", options.cached, "Share of the input that a prefix cache holds", "SHARE")
      ->check(CLI::Range(0.0, 0.999));
  load.add("--concurrency", options.concurrency, "Requests at once", "N")->check(tokens);
  load.add("--rate", options.rate, "Requests a second that must be answered", "N")
      ->check(CLI::Range(1e-6, kMostTokens));
  load.add("--ttft", options.ttft_ms, "Most time to the first token, ms", "MS")
      ->check(CLI::PositiveNumber);
  load.add("--tpot", options.tpot_ms, "Most time between tokens, ms", "MS")
      ->check(CLI::PositiveNumber);
}

void add_layout(CLI::App& app, ServeOptions& options) {
  OptionGroup layout(app, "Layout");
  layout.add("--layout", options.layout,
             "Only this one: tp=8,dp=1,ep=1,pp=1,workers=1, what is not named being 1", "LAYOUT");
  layout.add("--decode", options.decode, "Decode on workers of this layout, prefill on --layout",
             "LAYOUT");
  layout.add_flag("--together", options.together, "No GPUs for prefill or decode alone");
  layout.add("--precision", options.precision, "Of the weights; as published if not given", "P");
  layout.add("--kv-precision", options.kv_precision, "Of keys and values", "P");
  layout.add_with_default("--software", options.software, "trtllm, vllm or sglang", "NAME");
  layout.add_with_default("--chunk", options.chunk, "Tokens of prefill in a step at most", "N")
      ->check(CLI::Range(16, 1 << 20));
  layout
      .add_with_default("--memory-share", options.memory_share,
                        "Share of a GPU's memory that may be used", "SHARE")
      ->check(CLI::Range(0.05, 1.0));
  layout
      .add_with_default("--imbalance", options.imbalance,
                        "Tokens of the busiest expert rank over the mean", "X")
      ->check(CLI::Range(1.0, 1000.0));
}

}  // namespace

std::function<int(Session&)> set_up_plan_serve(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  app.add_option("--model", options->model, "A name of models/, a config.json or its folder")
      ->type_name("MODEL")
      ->required();
  add_machine_options(app, options->machine, MachineArgument::option);
  add_load(app, *options);
  add_layout(app, *options);
  OptionGroup output(app, "Output");
  output.add("--price", options->price, "Dollars of a GPU-hour", "DOLLARS")
      ->check(CLI::NonNegativeNumber);
  output.add_with_default("--rows", options->rows, "Rows of a table", "N")
      ->check(CLI::Range(1, 100000));
  output.add("--html", options->html, "Also write a page into this file (- instead of words)",
             "FILE");
  app.footer(
      "Examples:\n"
      "  isleway plan serve --model llama-3.1-70b -m dgx-h100 --precision fp8\n"
      "  isleway plan serve --model deepseek-r1 -m 'dgx-h200*2' --network ndr400-rail --tpot 30\n"
      "  isleway plan serve --model deepseek-r1 -m gb200-nvl72 --precision nvfp4 --input 8192\n"
      "  isleway plan serve --model ./config.json -m dgx-b200 --rate 20 --price 3.5\n"
      "  isleway plan serve --model deepseek-r1 -m 'dgx-h200*2' --layout tp=8 --decode dp=8,ep=8");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace isleway::cli
