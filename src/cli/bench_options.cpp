#include "cli/bench_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "isleway/core.hpp"

namespace isleway::cli {
namespace {

constexpr int kMostIterations = 1'000'000'000;
constexpr int kMostChannels = 64;  // NCCL's MAXCHANNELS

Result<std::int64_t> size_option(const char* flag, const std::string& text) {
  const std::int64_t size = parse_size(text);
  if (size < 0)
    return fail(fmt::format("{}: \"{}\" is no size", flag, text),
                "a number of bytes, as in 8, 64K, 1M, 8G");
  return size;
}

Result<nccl::SizeRange> sizes(const BenchOptions& options) {
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

/// NAME=VALUE; NAME, whose value comes from the environment; or "inherit", all NCCL_*.
Result<std::map<std::string, std::string>> variables(
    const std::vector<std::string>& given, const std::map<std::string, std::string>& environment) {
  std::map<std::string, std::string> all;
  for (const std::string& one : given) {
    if (one == "inherit") {
      all.insert(environment.begin(), environment.end());
      continue;
    }
    const std::size_t equals = one.find('=');
    const std::string name = one.substr(0, equals);
    if (name.substr(0, 5) != "NCCL_")
      return fail("--env: \"" + one + "\" sets no variable of NCCL",
                  "NCCL_NAME=VALUE, NCCL_NAME or inherit");
    if (equals != one.npos) {
      all[name] = one.substr(equals + 1);
    } else if (const auto found = environment.find(name); found != environment.end()) {
      all[name] = found->second;
    } else {
      return fail("--env: " + name + " is not set in this environment", "", name + "=VALUE");
    }
  }
  return all;
}

template <class T>
Result<void> parse_into(std::optional<T>& target, const std::string& text,
                        Result<T> (*parse)(std::string_view)) {
  if (text.empty()) return {};
  auto value = parse(text);
  if (!value) return tl::unexpected(value.error());
  target = *value;
  return {};
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

Result<void> understand_nccl(const BenchOptions& options, BenchRequest& request,
                             const std::map<std::string, std::string>& environment) {
  if (!options.nccl_version.empty()) {
    const auto version = nccl::parse_version(options.nccl_version);
    if (!version) return tl::unexpected(version.error());
    request.nccl.version = *version;
  }
  auto env = variables(options.env, environment);
  if (!env) return tl::unexpected(env.error());
  request.nccl.env = std::move(*env);
  if (options.channels > 0) {
    // As one would force it in NCCL.
    request.nccl.env["NCCL_MIN_NCHANNELS"] = std::to_string(options.channels);
    request.nccl.env["NCCL_MAX_NCHANNELS"] = std::to_string(options.channels);
  }
  request.nccl.launch = {options.gpus_per_process <= 1, options.gpus_per_process,
                         options.graph > 0};
  return parse_into(request.algorithm, options.algorithm, nccl::parse_algorithm).and_then([&] {
    return parse_into(request.protocol, options.protocol, nccl::parse_protocol);
  });
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

  const std::string tests = "As in nccl-tests";
  app.add_option("-b,--minbytes", options.min_bytes, "Smallest size")
      ->type_name("SIZE")
      ->capture_default_str()
      ->group(tests);
  app.add_option("-e,--maxbytes", options.max_bytes, "Largest size")
      ->type_name("SIZE")
      ->capture_default_str()
      ->group(tests);
  app.add_option("-i,--stepbytes", options.step_bytes, "Equal steps of this size")
      ->type_name("SIZE")
      ->group(tests);
  app.add_option("-f,--stepfactor", options.factor, "Sizes grow by this factor (2 without -i)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->group(tests);
  app.add_option("-n,--iters", options.iterations, "Iterations; simulated ones are all alike")
      ->type_name("N")
      ->check(CLI::Range(1, kMostIterations))
      ->capture_default_str()
      ->group(tests);
  app.add_option("-w,--warmup_iters", options.warmup, "Iterations that are not timed")
      ->type_name("N")
      ->check(CLI::Range(0, kMostIterations))
      ->capture_default_str()
      ->group(tests);
  app.add_option("-o,--op", options.op, "sum, prod, min, max, avg, mulsum or all")
      ->type_name("OP")
      ->capture_default_str()
      ->group(tests);
  app.add_option("-d,--datatype", options.datatype, "Element type, or all")
      ->type_name("TYPE")
      ->capture_default_str()
      ->group(tests);
  app.add_option("-r,--root", options.root, "Root of broadcast, reduce, gather, scatter, or all")
      ->type_name("RANK")
      ->capture_default_str()
      ->group(tests);
  app.add_option("-c,--check", options.check,
                 "1: also run each schedule on numbers and check the result, where memory allows")
      ->type_name("0|1")
      ->check(CLI::Range(0, 1))
      ->capture_default_str()
      ->group(tests);
  app.add_option("-G,--cudagraph", options.graph, "Launched as a CUDA graph")
      ->type_name("N")
      ->check(CLI::Range(0, kMostIterations))
      ->capture_default_str()
      ->group(tests);
  add_ignored_options(app);

  const std::string model = "Model";
  app.add_option("--engine", options.engine,
                 "analytic (closed form), flow (simulates every message), or all")
      ->type_name("ENGINE")
      ->capture_default_str()
      ->group(model);
  app.add_option("--algo", options.algorithm, "Force RING, TREE, NVLS, NVLS_TREE, ...")
      ->type_name("ALGO")
      ->group(model);
  app.add_option("--proto", options.protocol, "Force LL, LL128 or SIMPLE")
      ->type_name("PROTO")
      ->group(model);
  app.add_option("--channels", options.channels, "Force the number of channels")
      ->type_name("N")
      ->check(CLI::Range(1, kMostChannels))
      ->group(model);
  app.add_option("--nccl-version", options.nccl_version, "Choose as this NCCL does (2.28.9)")
      ->type_name("VERSION")
      ->group(model);
  app.add_option("--env", options.env,
                 "NCCL_NAME=VALUE; NCCL_NAME takes the value from the environment, inherit takes "
                 "all NCCL_* (without --env none is read)")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false)
      ->group(model);
  app.add_option("--gpus-per-process", options.gpus_per_process,
                 "GPUs that one process drives, launching on one after the other")
      ->type_name("N")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str()
      ->group(model);
  app.add_flag("--nccl-estimate", options.estimate, "One more column: NCCL's own estimate");
  app.add_flag("--plot", options.plot, "Also draw busbw over size");
}

Result<BenchRequest> understand(const BenchOptions& options,
                                const std::map<std::string, std::string>& environment) {
  BenchRequest request;
  const auto range = sizes(options);
  if (!range) return tl::unexpected(range.error());
  request.settings = {
      *range,        range->last,  options.gpus_per_process, options.iterations, options.warmup,
      options.check, options.graph};
  if (options.engine == "all") {
    request.engines = {"analytic", "flow"};
  } else {
    request.engines = {options.engine};
  }
  return understand_calls(options, request)
      .and_then([&] { return understand_nccl(options, request, environment); })
      .map([&] { return request; });
}

std::map<std::string, std::string> nccl_environment() {
  std::map<std::string, std::string> found;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (text.substr(0, 5) == "NCCL_" && equals != text.npos)
      found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

}  // namespace isleway::cli
