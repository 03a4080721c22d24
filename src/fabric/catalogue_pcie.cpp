// A host's devices and its PCIe tree:
//   pcie:
//     cpu0: [[gpu0, mlx5_0], [gpu1, mlx5_1]]
// A word is a device on a root port or below a switch; a list is a PCIe switch.
#include <fmt/format.h>

#include <algorithm>

#include "fabric/catalogue_machine.hpp"
#include "fabric/yaml_units.hpp"
#include "isleway/core/text.hpp"

namespace isleway {
namespace {

constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxItems = 512;

/// A word of the tree with what may follow it: "gpu0", "gpu0..3 gen4 x8".
struct TreeWord {
  std::string name;
  int generation = 0, lanes = 0;
  bool good = true;
};

TreeWord parse_word(std::string_view text) {
  TreeWord word;
  for (const std::string_view piece : split_words(text)) {
    const auto number = [&](std::size_t prefix) { return parse_int(piece.substr(prefix)); };
    if (word.name.empty()) {
      word.name = piece;
    } else if (piece.starts_with("gen") && number(3) && *number(3) >= 1 && *number(3) <= 15) {
      word.generation = static_cast<int>(*number(3));
    } else if (piece.starts_with("x") && number(1) && *number(1) >= 1 && *number(1) <= 32) {
      word.lanes = static_cast<int>(*number(1));
    } else {
      word.good = false;
    }
  }
  word.good = word.good && !word.name.empty();
  return word;
}

}  // namespace

void MachineReader::add_host(int host, const YAML::Node& node) {
  host_ = static_cast<std::int16_t>(host);
  pcie_switches_ = 0;
  by_name_.clear();
  parent_.clear();
  cpus_.clear();
  YamlMap tree(file_, node, "'pcie'");
  if (!file_.ok() || !cpu_ || !gpu_) return;
  add_cpus();
  add_gpus();
  add_nics();
  add_tree(tree);
  check_all_hang(node);
  if (c2c_) add_c2c();
}

void MachineReader::add_cpus() {
  const int numa_nodes = sockets_ * numa_per_socket_;
  for (int numa = 0; numa < numa_nodes; ++numa) {
    Device device;
    device.kind = DeviceKind::cpu;
    device.host = host_;
    device.index = static_cast<std::int16_t>(numa);
    device.name = fmt::format("CPU{}", numa);
    device.part = cpu_->key;
    CpuInfo info = cpu_->info;
    info.numa = numa;
    info.socket = numa / numa_per_socket_;
    if (!affinity_.empty()) info.affinity = affinity_[std::size_t(numa)];
    device.info = std::move(info);
    cpus_.push_back(add_device(std::move(device), file_.root()));
  }
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    for (std::size_t j = i + 1; j < cpus_.size(); ++j) {
      Link link = parts_.make_link(LinkKind::smp, 0, 1, 0, false);
      link.a = cpus_[i];
      link.b = cpus_[j];
      if (!cpu_->smp_rate.is_zero()) {
        link.link_rate = cpu_->smp_rate;
        link.efficiency.sm = link.efficiency.copy_engine = cpu_->smp_efficiency;
      }
      unit_.links.push_back(link);
    }
  }
}

void MachineReader::add_gpus() {
  for (int i = 0; i < gpus_per_host_; ++i) {
    Device device;
    device.kind = DeviceKind::gpu;
    device.host = host_;
    device.index = static_cast<std::int16_t>(i);
    device.name = fmt::format("GPU{}", i);
    device.part = gpu_->key;
    device.info = gpu_->info;
    device.pci.class_code = "0x030200";
    device.pci.vendor = gpu_->info.amd ? "0x1002" : "0x10de";
    if (!gpu_->pci_device_ids.empty()) device.pci.device = gpu_->pci_device_ids.front();
    const DeviceIndex index = add_device(std::move(device), file_.root());
    by_name_[fmt::format("gpu{}", i)] = index;
    gpus_.push_back(index);
  }
}

void MachineReader::add_nics() {
  std::int16_t i = 0;
  for (const Nic& nic : nics_) {
    if (!nic.part) continue;
    Device device;
    device.kind = DeviceKind::nic;
    device.host = host_;
    device.index = i++;
    device.name = nic.name;
    device.part = nic.part->key;
    device.info = nic.part->info;
    device.pci.class_code = nic.part->technology == "infiniband" ? "0x020700" : "0x020000";
    device.pci.vendor = nic.part->technology == "efa" ? "0x1d0f" : "0x15b3";
    const DeviceIndex index = add_device(std::move(device), file_.root());
    if (!by_name_.emplace(to_lower(nic.name), index).second)
      file_.fail(file_.root()["nics"], fmt::format("two devices are called '{}'", nic.name));
  }
}

void MachineReader::add_tree(YamlMap& tree) {
  check_source(tree);
  pcie_generation_ = tree.integer("generation", 0, 1, 15);
  for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu) {
    const YAML::Node items = tree.take(fmt::format("cpu{}", cpu));
    if (!items.IsDefined()) continue;
    if (!items.IsSequence()) {
      file_.fail(items, fmt::format("'cpu{}' of 'pcie' is no list", cpu),
                 "devices and switches, such as [gpu0, [gpu1, mlx5_0]]");
      continue;
    }
    for (const auto& item : items) hang(cpus_[cpu], item, 1);
  }
  tree.finish();
}

void MachineReader::hang(DeviceIndex parent, const YAML::Node& item, int depth) {
  if (!file_.ok()) return;
  if (depth > kMaxDepth || (item.IsSequence() && item.size() > kMaxItems)) {
    file_.fail(item, "the PCIe tree is too deep or too wide",
               fmt::format("at most {} levels of at most {} devices", kMaxDepth, kMaxItems));
    return;
  }
  if (item.IsScalar()) {
    const TreeWord word = parse_word(item.Scalar());
    const auto names = expand_range(word.name, kMaxItems);
    if (!word.good || !names) {
      file_.fail(item, fmt::format("'{}' is no place in the PCIe tree", item.Scalar()),
                 "a device, such as gpu0, gpu0..3, or 'gpu0 gen4 x8'");
      return;
    }
    for (const std::string& name : *names)
      hang_device(parent, item, name, word.generation, word.lanes);
    return;
  }
  if (item.IsSequence()) hang_switch(parent, item, depth);
  else file_.fail(item, "neither a device nor a list in the PCIe tree");
}

void MachineReader::hang_switch(DeviceIndex parent, const YAML::Node& item, int depth) {
  Device device;
  device.kind = DeviceKind::pcie_switch;
  device.host = host_;
  device.index = pcie_switches_++;
  device.name = fmt::format("PCIeSwitch{}", device.index);
  device.info = PcieSwitchInfo{};
  device.pci.class_code = "0x060400";
  const DeviceIndex self = add_device(std::move(device), item);
  parent_.emplace(self, parent);
  int generation = pcie_generation_, lanes = 16;
  std::vector<YAML::Node> below;
  for (const auto& child : item) {
    const TreeWord word = child.IsScalar() ? parse_word(child.Scalar()) : TreeWord{};
    if (word.good && word.name == "uplink") {
      if (word.generation > 0) generation = word.generation;
      if (word.lanes > 0) lanes = word.lanes;
    } else {
      below.push_back(child);
    }
  }
  Link uplink = parts_.make_link(
      LinkKind::pcie, generation > 0 ? generation : gpu_->pcie_generation, 1, lanes, false);
  uplink.a = parent;
  uplink.b = self;
  unit_.links.push_back(uplink);
  for (const YAML::Node& child : below) hang(self, child, depth + 1);
}

void MachineReader::hang_device(DeviceIndex parent, const YAML::Node& at, const std::string& name,
                                int generation, int lanes) {
  const auto found = by_name_.find(to_lower(name));
  if (found == by_name_.end()) {
    std::vector<std::string> known;
    for (const auto& [key, index] : by_name_) known.push_back(key);
    file_.fail_unknown(at, "GPU or NIC", name, known);
    return;
  }
  if (!parent_.emplace(found->second, parent).second) {
    file_.fail(at, fmt::format("'{}' is in the PCIe tree twice", name));
    return;
  }
  const Device& device = unit_.devices[found->second];
  const NicPart* nic = device.kind == DeviceKind::nic ? parts_.nic(device.part) : nullptr;
  const int own_generation = nic ? nic->pcie_generation : gpu_->pcie_generation;
  const int own_lanes = nic ? nic->pcie_lanes : gpu_->pcie_lanes;
  if (generation == 0) generation = own_generation;
  // A link trains at what both of its ends can do.
  if (pcie_generation_ > 0) generation = std::min(generation, pcie_generation_);
  Link link = parts_.make_link(LinkKind::pcie, generation, 1, lanes > 0 ? lanes : own_lanes, false);
  link.a = parent;
  link.b = found->second;
  unit_.links.push_back(link);
}

void MachineReader::check_all_hang(const YAML::Node& at) {
  if (!file_.ok()) return;
  for (const auto& [name, index] : by_name_) {
    if (!parent_.contains(index))
      file_.fail(at, fmt::format("'{}' is missing from the PCIe tree", name), {},
                 "add it below its CPU");
  }
}

/// A superchip's GPU is wired to the CPU that it hangs below.
void MachineReader::add_c2c() {
  for (const auto& [name, index] : by_name_) {
    if (unit_.devices[index].kind != DeviceKind::gpu || !file_.ok()) continue;
    Link link = parts_.make_link(*c2c_, c2c_links_, 0, false);
    link.a = index;
    while (parent_.contains(link.a)) link.a = parent_[link.a];
    link.b = index;
    unit_.links.push_back(link);
  }
}

}  // namespace isleway
