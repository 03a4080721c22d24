// isleway replay: a recorded execution on another machine.
#include "isleway/report/replay.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/machine.hpp"
#include "cli/nccl_options.hpp"
#include "cli/option_group.hpp"
#include "isleway/core.hpp"
#include "isleway/nccl/environment.hpp"

namespace isleway::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMostTraces = 100'000;

struct Options {
  MachineOptions machine;
  std::vector<std::string> inputs;
  std::string groups, speed_ups = "all";
  double tflops = 0, memory_GBs = 0;
  NcclOptions nccl;
};

/// The number in "et.12.et" that comes last before the ending.
std::optional<std::int64_t> rank_in(const fs::path& path) {
  const std::string stem = path.stem().string();
  const std::size_t end = stem.find_last_of("0123456789");
  if (end == std::string::npos) return std::nullopt;
  const std::size_t before = stem.find_last_not_of("0123456789", end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return parse_int(stem.substr(begin, end - begin + 1));
}

/// The files, by rank: those given, all of a folder, or all that begin like a name.
Result<std::vector<fs::path>> find_files(const std::vector<std::string>& inputs) {
  std::vector<fs::path> files(inputs.begin(), inputs.end());
  std::error_code error;
  if (inputs.size() == 1 && !fs::is_regular_file(inputs[0], error)) {
    files.clear();
    const bool is_folder = fs::is_directory(inputs[0], error);
    const fs::path given = inputs[0];
    const fs::path folder = is_folder ? given : given.has_parent_path() ? given.parent_path() : ".";
    const std::string start = is_folder ? "" : given.filename().string();
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const fs::path& path = entry->path();
      if (path.extension() == ".et" && path.filename().string().starts_with(start))
        files.push_back(path);
      if (files.size() > kMostTraces) break;
    }
    if (files.empty())
      return fail("there is no trace", "files like NAME.0.et, NAME.1.et, ...", {}, {inputs[0]});
  }
  if (files.size() > kMostTraces)
    return fail("too many traces", fmt::format("at most {}", kMostTraces));
  std::vector<fs::path> by_rank(files.size());
  for (const fs::path& file : files) {
    const auto rank = files.size() == 1 ? 0 : rank_in(file);
    if (!rank || *rank < 0 || *rank >= static_cast<std::int64_t>(files.size()))
      return fail("no rank in the file's name",
                  fmt::format("a number from 0 to {} before .et", files.size() - 1), {},
                  {file.string()});
    fs::path& place = by_rank[static_cast<std::size_t>(*rank)];
    if (!place.empty())
      return fail(fmt::format("a second trace of rank {}", *rank), {}, place.string(),
                  {file.string()});
    place = file;
  }
  return by_rank;
}

Result<std::vector<formats::ExecutionTrace>> read_traces(const std::vector<fs::path>& files) {
  std::vector<formats::ExecutionTrace> traces;
  for (const fs::path& file : files) {
    const auto data = read_file(file);
    if (!data) return tl::unexpected(data.error());
    auto trace = formats::read_execution_trace(*data, file.string());
    if (!trace) return tl::unexpected(trace.error());
    traces.push_back(*std::move(trace));
  }
  return traces;
}

/// {"name": [0, 1], ...}
Result<std::map<std::string, std::vector<int>>> read_groups(const std::string& file) {
  std::map<std::string, std::vector<int>> groups;
  if (file.empty()) return groups;
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const auto wrong = [&] {
    return fail("does not say which ranks are in which group", R"({"name": [0, 1], ...})", {},
                {file});
  };
  if (!json.is_object()) return wrong();
  for (const auto& [name, ranks] : json.items()) {
    if (!ranks.is_array()) return wrong();
    for (const auto& rank : ranks) {
      if (!rank.is_number_integer()) return wrong();
      const auto value = rank.get<std::int64_t>();
      groups[name].push_back(value >= 0 && value < INT32_MAX ? static_cast<int>(value) : -1);
    }
  }
  return groups;
}

/// What the GPU's memory gives, unless it is said.
Rate memory_rate(const Options& options, const Fabric& fabric, const Parts& parts) {
  if (options.memory_GBs > 0) return Rate::GBs(options.memory_GBs);
  if (fabric.gpu_count() == 0) return {};
  const GpuPart* part = parts.gpu(fabric.device(fabric.gpu(0)).part);
  return part != nullptr ? part->memory_rate : Rate();
}

int run(const Options& options, Session& session) {
  const auto nccl = understand(options.nccl, nccl::environment());
  if (!nccl) return report(nccl.error());
  const auto speed_ups = parse_speed_ups(options.speed_ups);
  if (!speed_ups) return report(speed_ups.error());
  const auto files = find_files(options.inputs);
  if (!files) return report(files.error());
  const auto traces = read_traces(*files);
  if (!traces) return report(traces.error());
  auto groups = read_groups(options.groups);
  if (!groups) return report(groups.error());
  const auto fabric = resolve_machine(options.machine, session);
  if (!fabric) return report(fabric.error());
  const Parts& parts = (*session.catalogue())->parts();
  const nccl::ReplayOptions how{nccl->options, *speed_ups, *std::move(groups),
                                options.tflops * 1e12, memory_rate(options, *fabric, parts)};
  Notices notices;
  const auto replay = nccl::replay(*fabric, parts, *traces, how, notices);
  report(notices, session);
  if (!replay) return report(replay.error());
  return print(session.json ? report::replay_json(*fabric, *replay)
                            : report::replay_text(*fabric, *replay));
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("TRACES", options->inputs,
                 "Chakra execution traces, one a rank: files, a folder, or what their names begin "
                 "with")
      ->required()
      ->type_name("");
  add_machine_options(app, options->machine, MachineArgument::option);
  OptionGroup model(app, "Model");
  model.add("--groups", options->groups,
            "Which ranks a process group has, as JSON: {\"name\": [0, 1], ...}; else those that "
            "name it",
            "FILE");
  model.add("--tflops", options->tflops, "Of a GPU, for compute nodes that were not measured", "N")
      ->check(CLI::Range(0.0, 1e9));
  model
      .add("--memory", options->memory_GBs,
           "GB/s of a GPU's memory, for the same; else the catalogue's", "N")
      ->check(CLI::Range(0.0, 1e9));
  model.add_with_default("--speed-ups", options->speed_ups,
                         "all, none, or a list of symmetry, memory, period", "LIST");
  add_nccl_version_options(model, options->nccl);
  app.footer(
      "Examples:\n"
      "  isleway replay traces/ -m dgx-h100\n"
      "  isleway replay traces/gpt -m 'dgx-h100*4' --network ndr400-rail --ranks 32\n"
      "  isleway replay a.0.et a.1.et -m dgx-a100 --ranks 2 --tflops 400 --json");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command replay_command;
const Command replay_command = {
    "replay", "A recorded execution (Chakra traces) again, on another machine", set_up};

}  // namespace isleway::cli
