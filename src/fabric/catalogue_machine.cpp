// The blocks of a machine file that say what is in it. How it is wired: catalogue_pcie.cpp
// and catalogue_nvlink.cpp.
#include "fabric/catalogue_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fabric/yaml_units.hpp"

namespace isleway {
namespace {

// Far above what exists, and low enough that no file makes a unit that fills the memory.
constexpr int kMaxHosts = 256;
constexpr int kMaxPerHost = 256;
constexpr int kMaxNumaNodes = 32;
constexpr int kMaxGpus = 4096;

/// "0-55,112-167": the cores of NUMA node `numa`, then their second threads, as Linux
/// numbers them.
std::string default_affinity(int numa, int numa_nodes, int cores, int threads) {
  std::string list;
  for (int thread = 0; thread < threads; ++thread) {
    const int first = thread * numa_nodes * cores + numa * cores;
    list += fmt::format("{}{}-{}", list.empty() ? "" : ",", first, first + cores - 1);
  }
  return list;
}

}  // namespace

UnitParts MachineReader::read() {
  YamlMap root(file_, file_.root(), "the machine");
  read_header(root);
  read_cpus(root);
  read_gpus(root);
  read_nics(root);
  read_c2c(root);
  const YAML::Node tree = root.require("pcie");
  for (int host = 0; host < unit_.hosts && file_.ok(); ++host) add_host(host, tree);
  if (file_.ok()) read_nvlink(root);
  else root.take("nvlink");
  root.finish();
  if (file_.ok()) assign_bus_ids();
  return std::move(unit_);
}

void MachineReader::read_header(YamlMap& root) {
  sources_.read(file_, root);
  unit_.name = root.required_text("name");
  unit_.title = root.text("title", unit_.name);
  root.texts("aliases");
  const std::string status = root.text("status", "released");
  if (status != "released" && status != "announced")
    file_.fail(root.key_node("status"), fmt::format("status '{}' is not known", status),
               "released or announced");
  unit_.announced = status == "announced";
  unit_.source = sources_.resolve(file_, root);
  unit_.hosts = root.integer("hosts", 1, 1, kMaxHosts);
  unit_.modes.iommu = root.flag("iommu", false);
}

/// Every block may say where its own numbers come from.
void MachineReader::check_source(YamlMap& block) { sources_.resolve(file_, block); }

void MachineReader::read_cpus(YamlMap& root) {
  const YAML::Node node = root.require("cpus");
  if (!node.IsDefined()) return;
  YamlMap map(file_, node, "'cpus'");
  check_source(map);
  cpu_ = require_part(map, "CPU", parts_.cpus());
  sockets_ = map.integer("sockets", 1, 1, 64);
  numa_per_socket_ = map.integer("numa_per_socket", 1, 1, 64);
  if (sockets_ * numa_per_socket_ > kMaxNumaNodes)
    file_.fail(map.node(), fmt::format("{} NUMA nodes", sockets_ * numa_per_socket_),
               fmt::format("at most {}", kMaxNumaNodes));
  const int cores = map.integer("cores", 0, 1, 1024);
  const int threads = map.integer("threads", 2, 1, 8);
  const int numa_nodes = sockets_ * numa_per_socket_;
  std::vector<std::string> lists = map.texts("affinity");
  if (lists.empty() && cores > 0) {
    const int per_node = std::max(1, cores / numa_per_socket_);
    for (int numa = 0; numa < numa_nodes; ++numa)
      lists.push_back(default_affinity(numa, numa_nodes, per_node, threads));
  }
  if (!lists.empty() && lists.size() != std::size_t(numa_nodes))
    file_.fail(map.node(),
               fmt::format("{} affinities for {} NUMA nodes", lists.size(), numa_nodes));
  for (const std::string& list : lists) {
    const auto mask = cpu_list_to_mask(list);
    if (!mask)
      file_.fail(map.take("affinity"), fmt::format("'{}' is no list of CPUs", list),
                 R"(such as "0-55,112-167")");
    affinity_.push_back(mask.value_or(""));
  }
  map.finish();
}

void MachineReader::read_gpus(YamlMap& root) {
  const YAML::Node node = root.require("gpus");
  if (!node.IsDefined()) return;
  YamlMap map(file_, node, "'gpus'");
  check_source(map);
  gpu_ = require_part(map, "GPU", parts_.gpus());
  gpus_per_host_ = map.integer("count", 1, 1, kMaxPerHost);
  if (gpus_per_host_ * unit_.hosts > kMaxGpus)
    file_.fail(node, fmt::format("{} GPUs in one unit", gpus_per_host_ * unit_.hosts),
               fmt::format("at most {}", kMaxGpus),
               "describe one server, and repeat it by my-machine*100");
  map.finish();
}

void MachineReader::read_nics(YamlMap& root) {
  const YAML::Node node = root.take("nics");
  if (!node.IsDefined()) return;
  const auto read_one = [&](const YAML::Node& item) {
    YamlMap map(file_, item, "'nics'");
    check_source(map);
    const NicPart* part = require_part(map, "NIC", parts_.nics());
    map.require("names");
    for (const std::string& text : map.texts("names")) {
      const auto names = expand_range(text, kMaxPerHost);
      if (!names)
        file_.fail(map.take("names"), fmt::format("'{}' is no range of names", text),
                   "such as mlx5_0..7");
      else
        for (const std::string& name : *names) nics_.push_back({part, name});
    }
    map.finish();
  };
  if (node.IsSequence())
    for (const auto& item : node) read_one(item);
  else read_one(node);
  if (nics_.size() > std::size_t(kMaxPerHost))
    file_.fail(node, fmt::format("{} NICs in one host", nics_.size()),
               fmt::format("at most {}", kMaxPerHost));
}

void MachineReader::read_c2c(YamlMap& root) {
  const YAML::Node node = root.take("c2c");
  if (!node.IsDefined()) return;
  YamlMap map(file_, node, "'c2c'");
  check_source(map);
  c2c_ = require_part(map, "link", parts_.links());
  c2c_links_ = map.integer("links", 1, 1, 255);
  map.finish();
}

DeviceIndex MachineReader::add_device(Device device, const YAML::Node& at) {
  const std::size_t index = unit_.devices.size();
  if (index >= std::numeric_limits<DeviceIndex>::max())
    file_.fail(at, "the machine has more devices than a unit can hold", "at most 65535",
               "describe one server and repeat it: my-machine*100");
  unit_.devices.push_back(std::move(device));
  return static_cast<DeviceIndex>(index);
}

void MachineReader::assign_bus_ids() {
  // Machines differ in their bus numbers; what tools rely on is that the order of GPUs is
  // that of their bus ids. NVSwitches and PCIe switches come after the devices.
  static constexpr DeviceKind kOrder[] = {DeviceKind::gpu, DeviceKind::nic, DeviceKind::nvswitch,
                                          DeviceKind::pcie_switch};
  std::map<int, int> next;
  for (const DeviceKind kind : kOrder) {
    for (Device& device : unit_.devices) {
      if (device.kind != kind || device.host < 0) continue;
      const int number = ++next[device.host];
      device.pci.bus_id = fmt::format("{:04x}:{:02x}:00.0", number / 256, number % 256);
    }
  }
}

}  // namespace isleway
