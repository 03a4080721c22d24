#include "cli/bench_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/option_group.hpp"
#include "isleway/collective/program.hpp"
#include "isleway/core.hpp"

namespace isleway::cli {
namespace {

constexpr int kMostIterations = 1'000'000'000;

/// "8,64K,1M": ascending, as curves are drawn.
Result<nccl::SizeRange> listed_sizes(const std::string& text) {
  nccl::SizeRange range;
  for (const std::string_view piece : split(text, ',')) {
    const auto size = size_option("--sizes", std::string(trim(piece)));
    if (!size) return tl::unexpected(size.error());
    range.list.push_back(*size);
  }
  std::sort(range.list.begin(), range.list.end());
  range.first = range.list.front();
  range.last = range.list.back();
  return range;
}

Result<nccl::SizeRange> sizes(const BenchOptions& options) {
  if (!options.sizes.empty()) return listed_sizes(options.sizes);
  nccl::SizeRange range;
  const auto first = size_option("-b", options.min_bytes);
  const auto last = size_option("-e", options.max_bytes);
  const auto step = size_option("-i", options.step_bytes.empty() ? "0" : options.step_bytes);
  for (const auto* size : {&first, &last, &step})
    if (!*size) return tl::unexpected(size->error());
  range.first = *first;
  range.last = *last;
  range.step = *step;
  // A step asks for equal steps; otherwise sizes double.
  range.factor = options.factor > 0 ? options.factor : options.step_bytes.empty() ? 2 : 1;
  if (auto all = range.sizes(); !all) return tl::unexpected(all.error());
  return range;
}

Result<void> understand_calls(const BenchOptions& options, BenchRequest& request) {
  if (options.collective == "all") {
    for (int i = 0; i < kCollectiveCount; ++i)
      request.collectives.push_back(static_cast<Collective>(i));
  } else if (const auto one = parse_collective(options.collective)) {
    request.collectives = {*one};
  } else {
    return tl::unexpected(one.error());
  }
  if (options.datatype == "all") {
    request.types.assign(nccl::data_types().begin(), nccl::data_types().end());
  } else if (const auto one = nccl::parse_data_type(options.datatype)) {
    request.types = {*one};
  } else {
    return tl::unexpected(one.error());
  }
  if (options.op == "all") {
    request.reductions.assign(nccl::reductions().begin(), nccl::reductions().end());
  } else if (const auto one = nccl::parse_reduction(options.op)) {
    request.reductions = {*one};
  } else {
    return tl::unexpected(one.error());
  }
  const auto root = parse_int(options.root);
  if (options.root != "all" && (!root || *root < 0 || *root > 1 << 30))
    return fail("-r: \"" + options.root + "\" is no rank", "a rank from 0, or all");
  request.root = options.root == "all" ? -1 : static_cast<int>(*root);
  return {};
}

void add_ignored_options(CLI::App& app) {
  struct Ignored {
    const char *flags, *what;
  };
  // One simulated iteration is as long as another, and starts when the last is done.
  for (const auto& [flags, what] : {Ignored{"-t,--nthreads", "threads per process"},
                                    {"-p,--parallel_init", "parallel start"},
                                    {"-z,--blocking", "waiting between iterations"},
                                    {"-a,--average", "average over ranks"},
                                    {"-y,--stream_null", "the null stream"},
                                    {"-T,--timeout", "time limit"},
                                    {"-N,--run_cycles", "cycles"}})
    app.add_option_function<std::string>(
           flags, [](const std::string&) {}, std::string("Accepted, changes nothing here: ") + what)
        ->type_name("N")
        ->group("");
}

}  // namespace

void add_bench_options(CLI::App& app, BenchOptions& options) {
  app.add_option("COLLECTIVE", options.collective,
                 "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, gather, "
                 "scatter, sendrecv, or all")
      ->required()
      ->type_name("");
  add_machine_options(app, options.machine, MachineArgument::option);

  OptionGroup tests(app, "As in nccl-tests");
  tests.add_with_default("-b,--minbytes", options.min_bytes, "Smallest size", "SIZE");
  tests.add_with_default("-e,--maxbytes", options.max_bytes, "Largest size", "SIZE");
  tests.add("-i,--stepbytes", options.step_bytes, "Equal steps of this size", "SIZE");
  tests.add("-f,--stepfactor", options.factor, "Sizes grow by this factor (2 without -i)", "N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  tests.add("-J,--output_file", options.json_file, "Also write nccl-tests' own JSON", "FILE");
  tests
      .add_with_default("-n,--iters", options.iterations,
                        "Iterations; simulated ones are all alike", "N")
      ->check(CLI::Range(1, kMostIterations));
  tests.add_with_default("-w,--warmup_iters", options.warmup, "Iterations that are not timed", "N")
      ->check(CLI::Range(0, kMostIterations));
  tests.add_with_default("-o,--op", options.op, "sum, prod, min, max, avg, mulsum or all", "OP");
  tests.add_with_default("-d,--datatype", options.datatype, "Element type, or all", "TYPE");
  tests.add_with_default("-r,--root", options.root,
                         "Root of broadcast, reduce, gather, scatter, or all", "RANK");
  tests
      .add_with_default("-c,--check", options.check,
                        "1: also run each schedule on numbers and check the result, where memory "
                        "allows",
                        "0|1")
      ->check(CLI::Range(0, 1));
  add_ignored_options(app);

  OptionGroup model(app, "Model");
  model.add_with_default("--engine", options.engine,
                         "analytic (closed form), flow (simulates every message), packet "
                         "(simulates every packet), or all",
                         "ENGINE");
  model.add_with_default("--speed-ups", options.speed_ups,
                         "What flow may use: all, none, or a list of symmetry, memory, period",
                         "LIST");
  add_packet_options(model, options.packet);
  add_nccl_options(app, options.nccl);
  app.add_option("--algo-file", options.algorithm_file,
                 "The algorithm of this file instead of NCCL's choice: MSCCL's XML or an MSCCL++ "
                 "execution plan")
      ->type_name("FILE")
      ->excludes("--algo")
      ->excludes("--proto");
  app.add_option("--sizes", options.sizes, "These sizes instead of -b to -e: 8,64K,1M")
      ->type_name("LIST")
      ->excludes("--minbytes")
      ->excludes("--maxbytes");
  app.add_flag("--nccl-estimate", options.estimate, "One more column: NCCL's own estimate");
  app.add_flag("--plot", options.plot, "Also draw busbw over size");
  app.add_option("--svg", options.svg, "Also draw busbw over size into this file")
      ->type_name("FILE");
  app.add_option("--trace", options.trace,
                 "Also write what each rank and link did: trace events for Perfetto, or link loads "
                 "over time where the name ends in .csv")
      ->type_name("FILE");
}

/// Error: flags that what is asked for cannot heed.
Result<void> check_together(const BenchOptions& options, const BenchRequest& request) {
  const bool packets = std::ranges::find(request.engines, "packet") != request.engines.end();
  if (options.packet.shows_counters() && !packets)
    return fail("--ber and --counters: only the packet engine knows bits", "--engine packet");
  if (options.packet.threads > 0 && !packets)
    return fail("--threads: only the packet engine divides a simulation", "--engine packet");
  if (options.trace.empty()) return {};
  const bool one = request.collectives.size() == 1 && request.engines.size() == 1 &&
                   request.types.size() == 1 && request.settings.range.sizes().value().size() == 1;
  if (!one)
    return fail("--trace shows one call", "one collective, engine, type and size",
                "as in: isleway bench all_reduce -m dgx-h100 --sizes 16M --engine flow --trace "
                "trace.json");
  return {};
}

/// Reads --algo-file, and holds the request to what it is for.
Result<void> understand_program(const BenchOptions& options, BenchRequest& request) {
  const std::string& file = options.algorithm_file;
  if (file.empty()) return {};
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  auto program = formats::read_algorithm(*text, file);
  if (!program) return tl::unexpected(program.error());
  const auto collective = collective_of(*program);
  if (!collective) {
    Error error = collective.error();
    error.where = {file};
    return tl::unexpected(error);
  }
  if (request.collectives != std::vector{*collective})
    return fail(fmt::format("does {}", name_of(*collective)), options.collective,
                fmt::format("isleway bench {} ...", name_of(*collective)), {file});
  if (auto proved = prove_program(*program); !proved) return proved;
  nccl::SizeRange& range = request.settings.range;
  const auto outside = [&](std::int64_t size) {
    return size < program->min_bytes || size > program->max_bytes;
  };
  const bool listed = !range.list.empty();
  std::erase_if(range.list, outside);
  range.first = std::max(range.first, program->min_bytes);
  range.last = std::min(range.last, program->max_bytes);
  if (range.first > range.last || (listed && range.list.empty()))
    return fail(fmt::format("is meant for sizes from {} to {} only", program->min_bytes,
                            program->max_bytes),
                "some of them with -b and -e", {}, {file});
  request.program = *std::move(program);
  return {};
}

Result<BenchRequest> understand(const BenchOptions& options,
                                const std::map<std::string, std::string>& environment) {
  BenchRequest request;
  const auto range = sizes(options);
  if (!range) return tl::unexpected(range.error());
  request.settings = {*range,
                      range->last,
                      options.nccl.gpus_per_process,
                      options.iterations,
                      options.warmup,
                      options.check,
                      options.nccl.graph};
  const auto speed_ups = parse_speed_ups(options.speed_ups);
  if (!speed_ups) return tl::unexpected(speed_ups.error());
  request.speed_ups = *speed_ups;
  if (options.engine == "all") {
    request.engines = {"analytic", "flow", "packet"};
  } else {
    request.engines = {options.engine};
  }
  auto nccl = understand(options.nccl, environment);
  if (!nccl) return tl::unexpected(nccl.error());
  request.nccl = std::move(*nccl);
  return understand_calls(options, request)
      .and_then([&] { return understand_program(options, request); })
      .and_then([&] { return check_together(options, request); })
      .map([&] { return request; });
}

}  // namespace isleway::cli
