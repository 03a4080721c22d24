#include "fabric/yaml_reader.hpp"
#include "isleway/check/versions.hpp"

namespace isleway::check {
namespace {

/// "12.4" of "12.4.131".
std::string_view major_minor(std::string_view version) {
  const auto first = version.find('.');
  return first == version.npos ? version : version.substr(0, version.find('.', first + 1));
}

std::vector<VersionTable::Least> read_least(YamlFile& file, YamlMap& map, const char* key,
                                            const char* name, const char* version) {
  std::vector<VersionTable::Least> all;
  for (const auto& node : map.list(key)) {
    YamlMap entry(file, node, "an entry");
    all.push_back({entry.required_text(name), entry.required_text(version), entry.text("gains")});
    entry.finish();
  }
  return all;
}

}  // namespace

Result<VersionTable> VersionTable::from_yaml(const std::string& text, const std::string& name) {
  auto file = YamlFile::parse(text, name);
  if (!file) return tl::unexpected(file.error());
  YamlMap map(*file, file->root(), "the file");
  VersionTable table;
  for (const auto& node : map.list("cuda")) {
    YamlMap entry(*file, node, "a CUDA release");
    table.cuda.push_back({entry.required_text("version"), entry.required_text("driver"),
                          entry.required_text("minor")});
    entry.finish();
  }
  table.drivers = read_least(*file, map, "architecture", "name", "driver");
  table.nccl = read_least(*file, map, "nccl", "architecture", "version");
  table.cudnn = read_least(*file, map, "cudnn", "architecture", "version");
  for (const auto& node : map.list("cudnn_cuda")) {
    YamlMap entry(*file, node, "a CUDA release");
    table.cudnn_cuda.push_back(
        {entry.required_text("cuda"), entry.required_text("from"), entry.text("until")});
    entry.finish();
  }
  map.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return table;
}

const VersionTable::Cuda* VersionTable::find_cuda(std::string_view version) const {
  for (const Cuda& entry : cuda)
    if (entry.version == major_minor(version)) return &entry;
  return nullptr;
}

}  // namespace isleway::check
