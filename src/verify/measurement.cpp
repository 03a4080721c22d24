#include "isleway/verify/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/yaml_reader.hpp"
#include "isleway/core.hpp"
#include "isleway/fabric/join.hpp"

namespace isleway::verify {
namespace {

constexpr int kMostRanks = 1 << 20;
constexpr int kMostIterations = 1'000'000;

/// Reads one value of a table with the parser that the command line has for it.
template <class T>
void parse_with(YamlFile& file, YamlMap& map, const char* key, T& into,
                Result<T> (*parse)(std::string_view)) {
  if (!map.has(key)) return;
  const YAML::Node node = map.take(key);
  auto value = parse(node.IsScalar() ? node.Scalar() : "");
  if (value) into = *value;
  else file.fail(node, value.error().what, value.error().expected, value.error().hint);
}

void read_env(YamlFile& file, YamlMap& map, MeasuredTable& table) {
  const YAML::Node node = map.take("env");
  if (!node.IsDefined()) return;
  YamlMap env(file, node, "'env'");
  for (const std::string& name : env.keys()) table.nccl.env[name] = env.required_text(name);
}

std::optional<double> microseconds(const YAML::Node& node) {
  if (!node.IsScalar()) return {};
  const auto value = parse_double(node.Scalar());
  if (!value || !(*value > 0 && *value < 1e12)) return {};
  return value;
}

MeasuredRow read_row(YamlFile& file, const YAML::Node& node) {
  MeasuredRow row;
  if (!node.IsSequence() || node.size() < 2 || node.size() > 3) {
    file.fail(node, "a row has two or three numbers", "[bytes, us out of place, us in place]");
    return row;
  }
  const auto bytes = node[0].IsScalar() ? parse_int(node[0].Scalar()) : std::nullopt;
  const auto time = microseconds(node[1]);
  const auto in_place = node.size() == 3 ? microseconds(node[2]) : std::nullopt;
  if (!bytes || *bytes <= 0 || !time || (node.size() == 3 && !in_place)) {
    file.fail(node, "a row that does not hold bytes and times", "positive numbers");
    return row;
  }
  row.bytes = *bytes;
  row.time = Time::us(*time);
  if (in_place) row.in_place = Time::us(*in_place);
  return row;
}

}  // namespace

bool is_known_release(const MeasuredTable& table) {
  constexpr nccl::Version kFirstKnown{2, 18, 0};
  return table.nccl.version >= kFirstKnown;
}

bool calibrates(const MeasuredTable& table) {
  return table.left_out.empty() && table.set_aside.empty() && is_known_release(table);
}

Result<MeasuredTable> measured_table_from_yaml(const std::string& text, const std::string& name) {
  auto file = YamlFile::parse(text, name);
  if (!file) return tl::unexpected(file.error());
  YamlMap map(*file, file->root(), "the file");
  MeasuredTable table;
  table.id = std::filesystem::path(name).stem().string();
  table.source = map.required_text("source");
  table.measured = map.required_text("measured");
  table.posted = map.text("posted");
  table.note = map.text("note");
  table.left_out = map.text("left_out");
  if (table.left_out.empty()) {
    table.platform = map.required_text("platform");
    table.site = map.required_text("site");
    table.machine = map.required_text("machine");
    table.network = map.text("network");
    table.set_aside = map.text("set_aside");
    table.faults = map.texts("faults");
    table.gpus_per_node = map.integer("gpus_per_node", 0, 1, kMostRanks);
  }
  parse_with(*file, map, "collective", table.collective, &parse_collective);
  table.ranks = map.integer("ranks", 0, 1, kMostRanks);
  parse_with(*file, map, "type", table.type, &nccl::parse_data_type);
  parse_with(*file, map, "nccl", table.nccl.version, &nccl::parse_version);
  read_env(*file, map, table);
  const int gpus = map.integer("gpus_per_process", 1, 1, kMostRanks);
  table.nccl.launch = {gpus, false};
  table.iterations = map.integer("iterations", table.iterations, 1, kMostIterations);
  const YAML::Node rows = map.require("rows");
  if (rows.IsDefined() && rows.IsSequence())
    for (const YAML::Node& row : rows) table.rows.push_back(read_row(*file, row));
  map.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return table;
}

Result<std::vector<MeasuredTable>> load_measured_tables(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  if (error)
    return fail(fmt::format("{} cannot be read: {}", folder.string(), error.message()),
                "a folder of *.yaml files, as measurements/collectives");
  if (files.empty())
    return fail(fmt::format("{} holds no measured tables", folder.string()),
                "a folder of *.yaml files, as measurements/collectives");
  std::sort(files.begin(), files.end());
  std::vector<MeasuredTable> tables;
  for (const auto& file : files) {
    const auto text = read_file(file);
    if (!text) return tl::unexpected(text.error());
    auto table = measured_table_from_yaml(*text, file.string());
    if (!table) return tl::unexpected(table.error());
    tables.push_back(std::move(*table));
  }
  return tables;
}

Result<Fabric> fabric_of(const MeasuredTable& table, const Catalogue& catalogue) {
  auto fabric = catalogue.fabric(table.machine, table.network);
  for (const std::string& fault : table.faults)
    if (fabric) fabric = with_fault(*fabric, fault);
  if (fabric && table.gpus_per_node > 0) fabric = with_first_gpus(*fabric, table.gpus_per_node);
  // Part of a rack; of several, nobody says which.
  const bool one = table.machine.find('*') == table.machine.npos;
  if (fabric && one && table.ranks > 0 && table.ranks < static_cast<int>(fabric->gpu_count()))
    fabric = with_first_ranks(*fabric, table.ranks);
  return fabric;
}

}  // namespace isleway::verify
