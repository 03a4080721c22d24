// What `isleway bench` is asked for: nccl-tests' own flags, and what only a simulator has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/engine_options.hpp"
#include "cli/machine.hpp"
#include "cli/nccl_options.hpp"
#include "isleway/formats/algorithm.hpp"
#include "isleway/report.hpp"

namespace isleway::cli {

/// As typed.
struct BenchOptions {
  MachineOptions machine;
  std::string collective;
  std::string min_bytes = "8", max_bytes = "8G", step_bytes, sizes, datatype = "float", op = "sum",
              root = "0";
  std::int64_t factor = 0;
  int iterations = 20, warmup = 1, check = 0;
  std::string engine = "analytic", speed_ups = "all";
  NcclOptions nccl;
  bool estimate = false, plot = false;
  std::string svg, json_file, trace, algorithm_file;
  PacketFlags packet;
};

void add_bench_options(CLI::App& app, BenchOptions& options);

/// As understood.
struct BenchRequest {
  std::vector<Collective> collectives;
  std::vector<std::string> engines;
  SpeedUps speed_ups;
  std::vector<nccl::DataType> types;
  std::vector<std::string> reductions;
  int root = 0;  ///< -1: every rank in turn
  report::NcclTestsSettings settings;
  NcclRequest nccl;
  std::optional<formats::Algorithm> program;  ///< --algo-file; proved to do its collective
};

/// Error: what is out of range or not known, and why. `environment` looks a variable up.
Result<BenchRequest> understand(const BenchOptions& options,
                                const std::map<std::string, std::string>& environment);

}  // namespace isleway::cli
