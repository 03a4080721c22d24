#include "cli/nccl_options.hpp"

#include <fmt/format.h>

#include "cli/option_group.hpp"
#include "isleway/core.hpp"

namespace isleway::cli {
namespace {

constexpr int kMostChannels = 64;  // NCCL's MAXCHANNELS
constexpr int kMostGraphs = 1'000'000'000;

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

}  // namespace

void add_nccl_version_options(OptionGroup& group, NcclOptions& options) {
  group.add("--nccl-version", options.version, "Choose as this NCCL does (2.28.9)", "VERSION");
  group.add_repeated(
      "--env", options.env,
      "NCCL_NAME=VALUE; NCCL_NAME takes the value from the environment, inherit takes "
      "all NCCL_* (without --env none is read)",
      "NAME[=VALUE]");
}

void add_nccl_options(CLI::App& app, NcclOptions& options) {
  OptionGroup tests(app, "As in nccl-tests");
  tests.add_with_default("-G,--cudagraph", options.graph, "Launched as a CUDA graph", "N")
      ->check(CLI::Range(0, kMostGraphs));

  OptionGroup model(app, "Model");
  model.add("--algo", options.algorithm, "Force RING, TREE, NVLS, NVLS_TREE, ...", "ALGO");
  model.add("--proto", options.protocol, "Force LL, LL128 or SIMPLE", "PROTO");
  model.add("--channels", options.channels, "Force the number of channels", "N")
      ->check(CLI::Range(1, kMostChannels));
  add_nccl_version_options(model, options);
  model
      .add_with_default("--gpus-per-process", options.gpus_per_process,
                        "GPUs that one process drives, launching on one after the other", "N")
      ->check(CLI::Range(1, 4096));
}

Result<NcclRequest> understand(const NcclOptions& options,
                               const std::map<std::string, std::string>& environment) {
  NcclRequest request;
  if (!options.version.empty()) {
    const auto version = nccl::parse_version(options.version);
    if (!version) return tl::unexpected(version.error());
    request.options.version = *version;
  }
  auto env = variables(options.env, environment);
  if (!env) return tl::unexpected(env.error());
  request.options.env = std::move(*env);
  if (options.channels > 0) {
    // As one would force it in NCCL.
    request.options.env["NCCL_MIN_NCHANNELS"] = std::to_string(options.channels);
    request.options.env["NCCL_MAX_NCHANNELS"] = std::to_string(options.channels);
  }
  request.options.launch = {options.gpus_per_process, options.graph > 0};
  return parse_into(request.algorithm, options.algorithm, nccl::parse_algorithm)
      .and_then(
          [&] { return parse_into(request.protocol, options.protocol, nccl::parse_protocol); })
      .map([&] { return request; });
}

void add_engine_option(CLI::App& app, std::string& engine) {
  OptionGroup(app, "Model")
      .add_with_default("--engine", engine,
                        "analytic (closed form) or flow (simulates every message)", "ENGINE");
}

Result<std::int64_t> size_option(const char* flag, const std::string& text) {
  const std::int64_t size = parse_size(text);
  if (size < 0)
    return fail(fmt::format("{}: \"{}\" is no size", flag, text),
                "a number of bytes, as in 8, 64K, 1M, 8G");
  return size;
}

}  // namespace isleway::cli
