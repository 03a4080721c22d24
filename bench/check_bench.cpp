// What it costs to judge the outputs of many nodes: `nvidia-smi -q` and `topo -m` of each.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <stdexcept>

#include "isleway/check.hpp"
#include "isleway/core.hpp"
#include "isleway/formats/read_signals.hpp"

namespace isleway {
namespace {

constexpr int kGpus = 8;

/// Headings and keys of one GPU, about as many as a driver prints.
std::string query_of_gpu(int gpu) {
  std::string text = fmt::format("GPU 00000000:{:02X}:00.0\n", 0x19 + gpu * 0x11);
  const auto key = [&](int indent, std::string_view name, std::string_view value) {
    text += fmt::format("{:{}}{:<{}}: {}\n", "", indent, name, 42 - indent, value);
  };
  const auto heading = [&](std::string_view name) { text += fmt::format("    {}\n", name); };
  key(4, "Product Name", "NVIDIA H100 80GB HBM3");
  key(4, "Persistence Mode", "Enabled");
  heading("MIG Mode");
  key(8, "Current", "Disabled");
  heading("ECC Mode");
  key(8, "Current", "Enabled");
  heading("Fabric");
  for (const auto& [name, value] :
       {std::pair{"State", "Completed"}, std::pair{"Status", "Success"}, std::pair{"CliqueId", "0"},
        std::pair{"ClusterUUID", "00000000-0000-0000-0000-000000000000"}})
    key(8, name, value);
  heading("Remapped Rows");
  for (const char* name : {"Correctable Error", "Uncorrectable Error"}) key(8, name, "0");
  for (const char* name : {"Pending", "Remapping Failure Occurred"}) key(8, name, "No");
  // What is read past: clocks, power, encoders, sessions.
  for (int group = 0; group < 30; ++group) {
    heading(fmt::format("Group {} of Readings", group));
    for (int reading = 0; reading < 5; ++reading)
      key(8, fmt::format("Reading {} of Group {}", reading, group), "1980 MHz");
  }
  return text;
}

std::string outputs_of_node() {
  std::string text =
      "==============NVSMI LOG==============\n\n"
      "Driver Version                            : 580.82.07\n"
      "CUDA Version                              : 13.0\n\n"
      "Attached GPUs                             : 8\n";
  for (int gpu = 0; gpu < kGpus; ++gpu) text += query_of_gpu(gpu);
  text += "$ nvidia-smi topo -m\n";
  for (int gpu = 0; gpu < kGpus; ++gpu) text += fmt::format("\tGPU{}", gpu);
  text += "\tCPU Affinity\tNUMA Affinity\n";
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    text += fmt::format("GPU{}", gpu);
    for (int peer = 0; peer < kGpus; ++peer) text += gpu == peer ? "\t X " : "\tNV18";
    text += fmt::format("\t{}\t{}\n", gpu < 4 ? "0-55" : "56-111", gpu < 4 ? 0 : 1);
  }
  return text;
}

class Rules {
 public:
  Rules()
      : catalogue(Catalogue::open(ISLEWAY_SOURCE_DIR "/machines").value()),
        book(check::RuleBook::load(ISLEWAY_SOURCE_DIR "/rules").value()) {}
  Catalogue catalogue;
  check::RuleBook book;
};

void read_outputs(benchmark::State& state) {
  const std::string text = outputs_of_node();
  for (auto _ : state)
    for (std::int64_t node = 0; node < state.range(0); ++node)
      benchmark::DoNotOptimize(formats::read_signals(text, fmt::format("node{}.txt", node)));
  state.SetBytesProcessed(state.iterations() * state.range(0) *
                          static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_outputs)->Arg(100)->Unit(benchmark::kMillisecond);

void judge(benchmark::State& state) {
  const Rules rules;
  const std::string text = outputs_of_node();
  check::Input input;
  for (std::int64_t node = 0; node < state.range(0); ++node) {
    auto read = formats::read_signals(text, fmt::format("node{}.txt", node));
    std::move(read.signals.begin(), read.signals.end(), std::back_inserter(input.signals));
  }
  check::name_nodes(input.signals);
  for (auto _ : state)
    benchmark::DoNotOptimize(check::check(input, {rules.catalogue, rules.book, {}, {}, {}}));
}
BENCHMARK(judge)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

void load_rules(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(check::RuleBook::load(ISLEWAY_SOURCE_DIR "/rules"));
}
BENCHMARK(load_rules)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace isleway
