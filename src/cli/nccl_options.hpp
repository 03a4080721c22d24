// What every command that asks NCCL can be told: version, variables, forced choices, launch.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "isleway/nccl.hpp"

namespace CLI {
class App;
}

namespace isleway::cli {

class OptionGroup;

/// As typed.
struct NcclOptions {
  std::string algorithm, protocol, version;
  int channels = 0, graph = 0, gpus_per_process = 1;
  std::vector<std::string> env;
};

void add_nccl_options(CLI::App& app, NcclOptions& options);
/// Version and variables alone, for what asks for no call.
void add_nccl_version_options(OptionGroup& group, NcclOptions& options);

/// --engine, of commands that time with one engine.
void add_engine_option(CLI::App& app, std::string& engine);

/// As understood.
struct NcclRequest {
  nccl::Options options;
  std::optional<nccl::Algorithm> algorithm;
  std::optional<nccl::Protocol> protocol;
};

/// Error: what is not known, and why. `environment` is where variables are looked up.
Result<NcclRequest> understand(const NcclOptions& options,
                               const std::map<std::string, std::string>& environment);

/// "-b": a size as nccl-tests takes them. Error: names the flag.
Result<std::int64_t> size_option(const char* flag, const std::string& text);

}  // namespace isleway::cli
