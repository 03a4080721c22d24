// The `nvlink` block, in one of its forms: through switches, a mesh with equal bundles, a
// matrix of link counts, or bridges between pairs.
#include <fmt/format.h>

#include <numeric>

#include "fabric/catalogue_machine.hpp"

namespace isleway {

void MachineReader::read_nvlink(YamlMap& root) {
  const YAML::Node node = root.take("nvlink");
  if (!node.IsDefined()) return;
  YamlMap map(file_, node, "'nvlink'");
  check_source(map);
  nvlink_ =
      map.has("part") ? require_part(map, "link", parts_.links()) : parts_.link(gpu_->nvlink_part);
  if (!nvlink_) {
    file_.fail(node, fmt::format("{} has no NVLink", gpu_->title), {},
               "leave out 'nvlink', or choose another GPU");
    return;
  }
  const YAML::Node switches = map.take("switches"), matrix = map.take("matrix"),
                   bridges = map.take("bridges");
  const int mesh = map.integer("mesh", 0, 1, 255);
  if (switches.IsDefined() + matrix.IsDefined() + bridges.IsDefined() + (mesh > 0) != 1)
    file_.fail(node, "'nvlink' has to say how the GPUs are joined",
               "one of switches, mesh, matrix, bridges");
  map.finish();
  if (!file_.ok()) return;
  if (switches.IsDefined()) read_switches(switches);
  if (matrix.IsDefined()) read_matrix(matrix);
  if (bridges.IsDefined()) read_bridges(bridges);
  if (mesh > 0) add_mesh(node, mesh);
  check_link_counts(node);
}

void MachineReader::read_switches(const YAML::Node& node) {
  YamlMap map(file_, node, "'switches'");
  const NvswitchPart* part = require_part(map, "NVSwitch", parts_.nvswitches());
  const int count = map.integer("count", 1, 1, 1024);
  std::vector<int> links = map.integers("links", 1, 255);
  const int baseboards = map.integer("baseboards", 1, 1, 64);
  const int trunks = map.integer("trunks", 0, 0, 255);
  map.finish();
  if (!file_.ok()) return;
  const auto per_board = std::size_t(count / baseboards);
  if (count % baseboards != 0 || gpus_.size() % std::size_t(baseboards) != 0)
    file_.fail(node, fmt::format("{} switches and {} GPUs do not divide into {} baseboards", count,
                                 gpus_.size(), baseboards));
  if (links.size() == 1) links.resize(per_board, links.front());
  if (links.size() != per_board)
    file_.fail(map.has("links") ? map.take("links") : node,
               fmt::format("{} link counts for {} switches", links.size(), per_board),
               "links of a GPU to each switch of its baseboard, or one number for all");
  if (!file_.ok() || !fits_gpu(node, std::accumulate(links.begin(), links.end(), 0))) return;

  const auto first = unit_.devices.size();
  std::vector<int> ports(std::size_t(count), 0);
  for (int i = 0; i < count; ++i) {
    Device device;
    device.kind = DeviceKind::nvswitch;
    // A rack's switches stand in trays of their own, which no host sees.
    device.host = unit_.hosts == 1 ? 0 : -1;
    device.index = static_cast<std::int16_t>(i);
    device.name = fmt::format("NVSwitch{}", i);
    device.part = part->key;
    device.info = part->info;
    device.pci.class_code = "0x068000";
    device.pci.vendor = "0x10de";
    add_device(std::move(device), node);
  }
  const auto wire = [&](DeviceIndex a, std::size_t nvswitch, int n) {
    Link link = parts_.make_link(*nvlink_, n, 0, true);
    link.a = a;
    link.b = static_cast<DeviceIndex>(first + nvswitch);
    unit_.links.push_back(link);
    ports[nvswitch] += n;
  };
  const std::size_t gpus_per_board = gpus_.size() / std::size_t(baseboards);
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
    for (std::size_t i = 0; i < per_board; ++i)
      wire(gpus_[gpu], gpu / gpus_per_board * per_board + i, links[i]);
  for (std::size_t i = 0; trunks > 0 && i + per_board < ports.size(); ++i) {
    wire(static_cast<DeviceIndex>(first + i), i + per_board, trunks);
    ports[i] += trunks;
  }
  for (const int used : ports) {
    if (part->info.ports > 0 && used > part->info.ports)
      file_.fail(node,
                 fmt::format("{} links into a switch that has {} ports", used, part->info.ports));
  }
}

void MachineReader::join(std::size_t a, std::size_t b, int links) {
  Link link = parts_.make_link(*nvlink_, links, 0, false);
  link.a = gpus_[a];
  link.b = gpus_[b];
  unit_.links.push_back(link);
}

void MachineReader::add_mesh(const YAML::Node& at, int links) {
  if (!fits_gpu(at, links * (int(gpus_.size()) - 1))) return;
  for (std::size_t a = 0; a < gpus_.size(); ++a)
    for (std::size_t b = a + 1; b < gpus_.size(); ++b) join(a, b, links);
}

void MachineReader::read_matrix(const YAML::Node& node) {
  const std::string expected = fmt::format("{} rows of {} link counts, 0 where there is no link",
                                           gpus_.size(), gpus_.size());
  if (!node.IsSequence() || node.size() != gpus_.size()) {
    file_.fail(node, "'matrix' does not fit the number of GPUs", expected);
    return;
  }
  std::vector<std::vector<int>> counts;
  for (const auto& row : node) {
    counts.emplace_back();
    if (row.IsSequence())
      for (const auto& cell : row) counts.back().push_back(yaml_integer(cell, 0, 255).value_or(-1));
    for (const int n : counts.back())
      if (n < 0) file_.fail(row, "a cell of 'matrix' is no link count", expected);
    if (counts.back().size() != gpus_.size())
      file_.fail(row, fmt::format("a row of 'matrix' has {} cells", counts.back().size()),
                 expected);
  }
  if (!file_.ok()) return;
  for (std::size_t a = 0; a < counts.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      if (counts[a][b] != counts[b][a] || (a == b && counts[a][a] != 0))
        file_.fail(node[a],
                   fmt::format("'matrix' says {} links from GPU{} to GPU{} but {} back",
                               counts[a][b], a, b, counts[b][a]),
                   "a symmetric matrix with 0 on its diagonal");
      else if (counts[a][b] > 0) join(b, a, counts[a][b]);
    }
  }
}

void MachineReader::read_bridges(const YAML::Node& node) {
  YamlMap map(file_, node, "'bridges'");
  const int links = map.integer("links", gpu_->info.nvlink_links, 1, 255);
  const YAML::Node pairs = map.require("pairs");
  map.finish();
  if (!file_.ok()) return;
  const std::string expected = fmt::format("two different GPUs of 0 to {}", gpus_.size() - 1);
  if (!pairs.IsSequence()) {
    file_.fail(pairs, "'pairs' is no list", "such as [[0, 1], [2, 3]]");
    return;
  }
  for (const auto& pair : pairs) {
    const bool two = pair.IsSequence() && pair.size() == 2;
    const int most = int(gpus_.size()) - 1;
    const auto a = two ? yaml_integer(pair[0], 0, most) : std::nullopt;
    const auto b = two ? yaml_integer(pair[1], 0, most) : std::nullopt;
    if (a && b && *a != *b) join(std::size_t(*a), std::size_t(*b), links);
    else file_.fail(pair, "a bridge joins two GPUs", expected);
    if (!file_.ok()) return;
  }
}

/// Asked before the links are made: a mesh of thousands would fill the memory.
bool MachineReader::fits_gpu(const YAML::Node& at, int links) {
  if (links <= gpu_->info.nvlink_links) return true;
  file_.fail(at, fmt::format("a GPU would have {} NVLinks", links),
             fmt::format("at most {}, as {} has", gpu_->info.nvlink_links, gpu_->title));
  return false;
}

void MachineReader::check_link_counts(const YAML::Node& at) {
  std::map<DeviceIndex, int> used;
  for (const Link& link : unit_.links) {
    if (link.kind != nvlink_->kind) continue;
    used[link.a] += link.count;
    used[link.b] += link.count;
  }
  for (const DeviceIndex gpu : gpus_)
    if (!fits_gpu(at, used[gpu])) return;
}

}  // namespace isleway
