// Reads machines/compute.
#include <fmt/format.h>

#include <cmath>

#include "fabric/parts_reader.hpp"
#include "isleway/core.hpp"
#include "isleway/plan/compute.hpp"

namespace isleway::plan {
namespace {

/// Clock that a power limit leaves. What leaks and what memory and links take stays; the rest
/// goes with the clock and the square of a voltage that follows it.
double clock_of(double power) {
  constexpr double kStill = 0.2;
  return std::cbrt((power - kStill) / (1 - kStill));
}

}  // namespace

class ComputeReader {
 public:
  explicit ComputeReader(ComputeCatalogue& catalogue) : catalogue_(catalogue) {}

  Result<void> read(const std::filesystem::path& path);

 private:
  void read_gpus(YamlMap& root);
  void read_kernels(YamlMap& root);
  void read_gemm(YamlMap& root);
  YamlMap section(const YAML::Node& node, std::string what) { return {*file_, node, what}; }

  ComputeCatalogue& catalogue_;
  YamlFile* file_ = nullptr;
  SourceList sources_;
};

Result<void> ComputeReader::read(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto file = YamlFile::parse(*text, path.string());
  if (!file) return tl::unexpected(file.error());
  file_ = &*file;
  sources_ = SourceList();
  YamlMap root(*file, file->root(), "the file");
  sources_.read(*file, root);
  if (root.has("gpus")) read_gpus(root);
  if (root.has("kernels")) read_kernels(root);
  if (root.has("gemm")) read_gemm(root);
  root.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return {};
}

void ComputeReader::read_gpus(YamlMap& root) {
  constexpr double kMost = 1e6;
  YamlMap gpus = section(root.take("gpus"), "'gpus'");
  for (const std::string& key : gpus.keys()) {
    YamlMap map = section(gpus.take(key), fmt::format("GPU '{}'", key));
    ComputePart part;
    part.key = key;
    part.generation = map.required_text("generation");
    part.bf16 = map.number("bf16", 0, 0, kMost);
    part.fp8 = map.number("fp8", 0, 0, kMost);
    part.fp4 = map.number("fp4", 0, 0, kMost);
    part.int8 = map.number("int8", 0, 0, kMost);
    part.power = map.number("power", 1, 0.3, 2);
    part.extrapolated = map.text("extrapolated");
    part.source = sources_.resolve(*file_, map);
    if (part.bf16 <= 0) file_->fail(map.node(), fmt::format("GPU '{}' lacks a 'bf16' rate", key));
    map.finish();
    catalogue_.gpus_.insert_or_assign(key, std::move(part));
  }
}

void ComputeReader::read_kernels(YamlMap& root) {
  YamlMap all = section(root.take("kernels"), "'kernels'");
  for (const std::string& key : all.keys()) {
    YamlMap map = section(all.take(key), fmt::format("kernels of '{}'", key));
    KernelConstants c;
    c.memory = map.number("memory", 1, 0.01, 1);
    c.launch = map.number("launch_us", 0, 0, 1000);
    c.host_launch = map.number("host_launch_us", 0, 0, 1000);
    c.attention = map.number("attention", 1, 0.01, 1);
    c.attention_backward = map.number("attention_backward", 1, 0.01, 1);
    c.attention_ramp = map.number("attention_ramp", 0, 0, 1e6);
    c.flash2 = map.number("flash2", 1, 0.01, 1);
    c.softmax = map.number("softmax", 0, 0, 1e4);
    if (sources_.resolve(*file_, map).empty())
      file_->fail(map.node(), fmt::format("kernels of '{}' lack 'source'", key));
    map.finish();
    catalogue_.kernels_.insert_or_assign(key, c);
  }
}

void ComputeReader::read_gemm(YamlMap& root) {
  YamlMap generations = section(root.take("gemm"), "'gemm'");
  for (const std::string& generation : generations.keys()) {
    YamlMap formats = section(generations.take(generation), fmt::format("'{}'", generation));
    for (const std::string& format : formats.keys()) {
      YamlMap map =
          section(formats.take(format), fmt::format("products of '{}' in {}", generation, format));
      GemmConstants c;
      c.peak = map.number("peak", 1, 0.01, 1);
      c.memory = map.number("memory", 1, 0.01, 1);
      c.prologue = map.number("prologue", 0, 0, 1e5);
      c.edge = map.number("edge", 0, 0, 1e4);
      c.launch = map.number("launch_us", 0, 0, 1000);
      c.convert_traffic = map.number("convert_traffic", 0, 0, 100);
      sources_.resolve(*file_, map);
      map.finish();
      catalogue_.gemm_[generation].insert_or_assign(format, c);
    }
  }
}

Result<ComputeCatalogue> ComputeCatalogue::open(const std::filesystem::path& folder) {
  ComputeCatalogue catalogue;
  ComputeReader reader(catalogue);
  for (const char* name : {"gpus.yaml", "kernels.yaml", "gemm.yaml"})
    if (auto done = reader.read(folder / name); !done) return tl::unexpected(done.error());
  return catalogue;
}

Result<ComputeModel> ComputeCatalogue::gpu(const Parts& parts, std::string_view key) const {
  const auto found = gpus_.find(key);
  const GpuPart* part = parts.gpu(key);
  if (found == gpus_.end() || part == nullptr) {
    std::vector<std::string> known;
    for (const auto& [name, unused] : gpus_) known.push_back(name);
    return isleway::fail_unknown("GPU whose arithmetic is known", key, known);
  }
  ComputeModel model;
  model.part_ = found->second;
  model.memory_rate_ = part->memory_rate;
  model.clock_ = clock_of(found->second.power);
  model.sms_ = std::max(1, part->sms);
  const std::string& generation = found->second.generation;
  const auto kernels = kernels_.find(generation);
  const auto gemm = gemm_.find(generation);
  if (kernels == kernels_.end() || gemm == gemm_.end() || !gemm->second.contains("bf16"))
    return fail(fmt::format("no constants for GPUs of the generation '{}' ({})", generation, key),
                "an entry in kernels.yaml, and one with 'bf16' in gemm.yaml");
  model.kernels_ = kernels->second;
  const auto constants = [&](const char* format, const GemmConstants& otherwise) {
    const auto entry = gemm->second.find(format);
    return entry == gemm->second.end() ? otherwise : entry->second;
  };
  model.bf16_ = constants("bf16", {});
  model.fp8_ = constants("fp8_current", model.bf16_);
  model.fp8_block_ = constants("fp8_block", model.fp8_);
  model.fp4_ = constants("nvfp4", model.fp8_);
  return model;
}

}  // namespace isleway::plan
