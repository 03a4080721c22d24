#include <algorithm>
#include <map>

#include "isleway/core.hpp"
#include "nccl/system.hpp"
#include "nccl/system_rates.hpp"

namespace isleway::nccl {

/// Walks a unit the way NCCL walks its XML: each NUMA node's PCIe tree in order, then
/// NVLinks, then C2C, then the links between NUMA nodes.
class SystemBuilder {
 public:
  SystemBuilder(const Unit& unit, std::span<const int> hosts, const Settings& settings)
      : unit_(unit), hosts_(hosts), settings_(settings), node_of_(unit.devices().size(), -1) {}

  System build() {
    for (const DeviceIndex cpu : unit_.cpus())
      if (here(cpu)) add_tree(cpu);
    for (const DeviceIndex gpu : unit_.gpus())  // no PCIe in the description
      if (here(gpu) && node_of_[gpu] < 0) add_device(gpu);
    for (const DeviceIndex nic : unit_.nics())
      if (here(nic) && node_of_[nic] < 0) add_nic(nic, -1, 0);
    number_gpus();
    for (const int gpu : system_.of(NodeType::gpu)) add_links_of(gpu, LinkKind::nvlink);
    for (const int gpu : system_.of(NodeType::gpu)) add_links_of(gpu, LinkKind::c2c);
    join_cpus();
    for (const int cpu : system_.of(NodeType::cpu)) put_uplinks_last(cpu, -1);
    for (std::size_t wire = 0; wire < system_.wires_.size(); ++wire)
      find_back(static_cast<int>(wire));
    number_endpoints();
    return std::move(system_);
  }

 private:
  bool here(DeviceIndex device) const {
    return std::find(hosts_.begin(), hosts_.end(), unit_.device(device).host) != hosts_.end();
  }

  int new_node(NodeType type, DeviceIndex device) {
    SystemNode node;
    node.type = type;
    node.device = device;
    node.host = unit_.device(device).host;
    const auto place = std::find(hosts_.begin(), hosts_.end(), node.host);
    if (place != hosts_.end()) node.system = static_cast<int>(place - hosts_.begin());
    system_.nodes_.push_back(node);
    const int number = static_cast<int>(system_.nodes_.size()) - 1;
    system_.by_type_[static_cast<std::size_t>(type)].push_back(number);
    return number;
  }

  int add_device(DeviceIndex index) {
    const Device& device = unit_.device(index);
    switch (device.kind) {
      case DeviceKind::gpu: {
        const int node = node_of_[index] = new_node(NodeType::gpu, index);
        system_.nodes_[node].sm = device.gpu().sm;
        system_.nodes_[node].cuda_device = device.index;
        system_.nodes_[node].gpudirect = device.gpu().gpudirect;
        return node;
      }
      case DeviceKind::cpu: {
        const int node = node_of_[index] = new_node(NodeType::cpu, index);
        system_.nodes_[node].arch = arch_of(device.cpu());
        system_.nodes_[node].vendor = vendor_of(device.cpu());
        return node;
      }
      case DeviceKind::nvswitch: return node_of_[index] = nvs_node(index);
      default: return node_of_[index] = new_node(NodeType::pci, index);
    }
  }

  int nvs_node(DeviceIndex index) {
    const auto& all = system_.of(NodeType::nvs);
    return all.empty() ? new_node(NodeType::nvs, index) : all.front();
  }

  /// A function of a NIC, and its port behind it. Ports of one card share the function.
  void add_nic(DeviceIndex index, int parent, float rate) {
    const Device& device = unit_.device(index);
    const std::string& bus = device.pci.bus_id;
    const std::string card = bus.empty() ? device.name : bus.substr(0, bus.find('.'));
    auto [known, is_new] = cards_.try_emplace({device.host, card}, -1);
    if (is_new) {
      known->second = new_node(NodeType::nic, index);
      if (parent >= 0) join(known->second, parent, WireType::pci, rate);
    }
    node_of_[index] = known->second;
    const int port = new_node(NodeType::net, index);
    SystemNode& net = system_.nodes_[port];
    const NicInfo& info = device.nic();
    // A port of unknown speed counts as 10 Gb/s.
    const double gbits = info.rate.is_zero() ? 10 : info.rate.gbits();
    net.bandwidth = static_cast<float>(gbits / 8);
    net.latency = info.latency_us;
    net.reduces = info.in_network_reduction;
    net.gpudirect = info.gpudirect;
    net.port = info.port;
    net.port_number = device.index;
    net.asic = asic_of(device, index);
    join(known->second, port, WireType::net, net.bandwidth);
  }

  std::uint64_t asic_of(const Device& device, DeviceIndex index) {
    const std::string& guid = device.nic().guid;
    if (guid.empty()) return (std::uint64_t{1} << 32) + index;
    return asics_.try_emplace(guid, asics_.size()).first->second;
  }

  void add_tree(DeviceIndex cpu) {
    const int node = add_device(cpu);
    add_children(cpu, node);
  }

  void add_children(DeviceIndex above, int parent) {
    for (const std::uint32_t number : unit_.links_at(above)) {
      const Link& link = unit_.link(number);
      // `a` is nearer to the CPU, so this is a way down.
      if (link.kind != LinkKind::pcie || link.a != above || !link.up()) continue;
      const DeviceIndex below = link.b;
      if (node_of_[below] >= 0 || !here(below)) continue;
      const float rate = pcie_rate(link);
      if (unit_.device(below).kind == DeviceKind::nic) {
        add_nic(below, parent, rate);
        continue;
      }
      if (same_switch(above, below)) {
        node_of_[below] = parent;
        add_children(below, parent);
        continue;
      }
      const int node = add_device(below);
      add_children(below, node);
      join(node, parent, WireType::pci, rate);
    }
  }

  /// Broadcom's Gen4 and Gen5 switches show two levels of one chip.
  bool same_switch(DeviceIndex above, DeviceIndex below) const {
    const PciInfo &a = unit_.device(above).pci, &b = unit_.device(below).pci;
    if (unit_.device(above).kind != DeviceKind::pcie_switch || a.vendor != "0x1000") return false;
    return (a.device == "0xc010" || a.device == "0xc030") && a.vendor == b.vendor &&
           a.device == b.device && a.subsystem_vendor == b.subsystem_vendor &&
           a.subsystem_device == b.subsystem_device;
  }

  void number_gpus() {
    std::vector<int> gpus = system_.of(NodeType::gpu);
    std::sort(gpus.begin(), gpus.end(), [&](int a, int b) {
      const SystemNode &x = system_.nodes_[a], &y = system_.nodes_[b];
      return std::pair(x.host, x.cuda_device) < std::pair(y.host, y.cuda_device);
    });
    for (std::size_t i = 0; i < gpus.size(); ++i)
      system_.nodes_[gpus[i]].rank = static_cast<int>(i);
  }

  void add_links_of(int gpu, LinkKind kind) {
    const DeviceIndex device = system_.nodes_[gpu].device;
    for (const std::uint32_t number : unit_.links_at(device)) {
      const Link& link = unit_.link(number);
      if (link.kind != kind || !link.up()) continue;
      const DeviceIndex other = unit_.peer(number, device);
      const DeviceKind to = unit_.device(other).kind;
      if (to == DeviceKind::gpu && (!here(other) || other < device)) continue;
      if (to == DeviceKind::cpu && !here(other)) continue;
      if (to == DeviceKind::nvswitch && node_of_[other] < 0) node_of_[other] = nvs_node(other);
      if (node_of_[other] < 0) continue;
      const float one = kind == LinkKind::c2c
                            ? static_cast<float>(link.link_rate.GBs())
                            : nvlink_rate(system_.nodes_[gpu].sm, settings_.version);
      const bool as_nvlink = kind == LinkKind::nvlink || settings_.version < release(2, 26);
      join(gpu, node_of_[other], as_nvlink ? WireType::nvlink : WireType::c2c,
           one * static_cast<float>(link.count));
    }
  }

  void join_cpus() {
    const auto& cpus = system_.of(NodeType::cpu);
    for (const int a : cpus)
      for (const int b : cpus)
        if (a != b && system_.nodes_[a].host == system_.nodes_[b].host)
          add_wire(a, b, WireType::sys,
                   socket_rate(unit_.device(system_.nodes_[a].device).cpu(), settings_.version));
  }

  void join(int a, int b, WireType type, float rate) {
    add_wire(a, b, type, rate);
    add_wire(b, a, type, rate);
  }

  /// Parallel wires are one; a node's wires stay sorted, the fastest first.
  void add_wire(int from, int to, WireType type, float rate) {
    auto& wires = system_.nodes_[from].wires;
    auto at = std::find_if(wires.begin(), wires.end(), [&](int w) {
      return system_.wires_[w].to == to && system_.wires_[w].type == type;
    });
    if (at == wires.end()) {
      system_.wires_.push_back({from, to, type, 0});
      at = wires.insert(wires.end(), static_cast<int>(system_.wires_.size()) - 1);
    }
    const int wire = *at;
    system_.wires_[wire].bandwidth += rate;
    for (; at != wires.begin(); --at) {
      if (system_.wires_[*(at - 1)].bandwidth >= system_.wires_[wire].bandwidth) break;
      std::iter_swap(at - 1, at);
    }
  }

  /// Searches look down the tree before they look up.
  void put_uplinks_last(int node, int up) {
    auto& wires = system_.nodes_[node].wires;
    if (up >= 0) {
      const auto at = std::find_if(wires.begin(), wires.end(),
                                   [&](int w) { return system_.wires_[w].to == up; });
      if (at != wires.end()) std::rotate(at, at + 1, wires.end());
    }
    for (const int wire : std::vector<int>(wires))
      if (system_.wires_[wire].type == WireType::pci && system_.wires_[wire].to != up)
        put_uplinks_last(system_.wires_[wire].to, node);
  }

  void find_back(int number) {
    Wire& wire = system_.wires_[number];
    for (const int back : system_.nodes_[wire.to].wires)
      if (system_.wires_[back].to == wire.from && system_.wires_[back].type == wire.type)
        wire.back = back;
  }

  void number_endpoints() {
    system_.endpoint_.assign(system_.nodes_.size(), -1);
    for (const NodeType type : {NodeType::gpu, NodeType::nvs, NodeType::cpu, NodeType::net})
      for (const int node : system_.of(type)) system_.endpoint_[node] = system_.endpoints_++;
    system_.paths_.resize(std::size_t(system_.endpoints_) * std::size_t(system_.endpoints_));
  }

  const Unit& unit_;
  std::span<const int> hosts_;
  const Settings& settings_;
  System system_;
  std::vector<int> node_of_;
  std::map<std::pair<int, std::string>, int> cards_;
  std::map<std::string, std::uint64_t> asics_;
};

System System::build(const Unit& unit, std::span<const int> hosts, const Settings& settings) {
  System system = SystemBuilder(unit, hosts, settings).build();
  system.find_paths(settings);
  return system;
}

int System::min_sm() const {
  int least = 1000;
  for (const int gpu : of(NodeType::gpu)) least = std::min(least, nodes_[gpu].sm);
  return least;
}

int System::max_sm() const {
  int most = 0;
  for (const int gpu : of(NodeType::gpu)) most = std::max(most, nodes_[gpu].sm);
  return most;
}

CpuArch System::arch() const {
  return of(NodeType::cpu).empty() ? CpuArch::x86 : nodes_[of(NodeType::cpu).front()].arch;
}

CpuVendor System::vendor() const {
  return of(NodeType::cpu).empty() ? CpuVendor::other : nodes_[of(NodeType::cpu).front()].vendor;
}

}  // namespace isleway::nccl
