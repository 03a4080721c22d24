// Measured training and serving runs with their layouts, from measurements/layouts.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "isleway/fabric/catalogue.hpp"
#include "isleway/model.hpp"
#include "isleway/plan/serve_layout.hpp"

namespace isleway::plan {

/// What was measured on, and what of it was used.
struct RunPlatform {
  std::string machine, network;  ///< of the catalogue
  int gpus = 0;
  int gpus_per_unit = 0;  ///< 0: all of each, or the first `gpus` of one
  std::vector<std::string> faults;
};

struct TrainRun {
  std::string id, model;
  RunPlatform platform;
  std::string layout;  ///< as plan's --layout takes it
  std::string framework;
  std::int64_t sequence = 0, batch = 0;
  model::Precision precision = model::Precision::bf16;
  Time step;
  std::optional<Bytes> memory;  ///< of a GPU, at its peak
  std::string release, note;
  std::string left_out;  ///< why the model is not held against it, or empty
};

struct ServeRun {
  std::string model;
  RunPlatform platform;
  ServeLayout layout;
  std::optional<ServeLayout> decode;
  model::Precision precision = model::Precision::bf16;
  double input = 0, output = 0;
  double cached = 0;       ///< share of the input that a cache held; nearly 1: decode alone
  double concurrency = 0;  ///< 0: all requests queued at once
  std::optional<Time> ttft, tpot;
  double tokens_per_second = 0;  ///< of output; 0: not stated
};

/// One file: one publication.
struct RunSource {
  std::string id, title, url, framework;
  std::map<std::string, std::string> models;  ///< config.json of those not in the catalogue
  std::vector<TrainRun> training;
  std::vector<ServeRun> serving;
};

/// Error: what is missing or wrong, at its line. `file` is for messages and gives the id.
Result<RunSource> run_source_from_yaml(const std::string& text, const std::string& file);
/// Every file of a folder, by name.
Result<std::vector<RunSource>> load_run_sources(const std::filesystem::path& folder);

/// Names the GPUs that took part; equal ones have one key.
std::string platform_key(const RunPlatform& platform);
/// The GPUs that took part.
Result<Fabric> fabric_of(const RunPlatform& platform, const Catalogue& catalogue);
/// The model, from the source's own or the catalogue's.
Result<model::Transformer> model_of(const RunSource& source, const std::string& name,
                                    const model::ModelCatalogue& catalogue);

}  // namespace isleway::plan
