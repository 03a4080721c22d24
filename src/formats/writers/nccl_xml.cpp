// NCCL's topology file, with elements and attributes in the order in which NCCL dumps them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <pugixml.hpp>
#include <sstream>

#include "formats/pci.hpp"
#include "isleway/fabric/addresses.hpp"
#include "isleway/formats.hpp"

namespace isleway::formats {
namespace {

/// NCCL refuses a topology file with more elements (a fused one may have this many a host).
constexpr int kMostElements = 256;

void set(pugi::xml_node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(value.c_str());
}
void set_known(pugi::xml_node node, const char* name, const std::string& value) {
  if (!value.empty()) set(node, name, value);
}

/// A network without a PCI device of its own, such as a socket interface, which NCCL puts
/// straight under the CPU.
bool is_virtual_nic(const Device& device, const Link& uplink) {
  return device.kind == DeviceKind::nic && device.pci.bus_id.empty() && uplink.generation == 0 &&
         uplink.lanes_max == 1;
}

class NcclXmlWriter {
 public:
  NcclXmlWriter(const Unit& unit, int host, bool all_hosts)
      : unit_(unit), host_(host), all_hosts_(all_hosts), addresses_(pci_addresses(unit)) {
    for (DeviceIndex i = 0; i < unit.devices().size(); ++i) find_parent(i);
  }

  Result<std::string> write() {
    pugi::xml_document document;
    pugi::xml_node system = document.append_child("system");
    set(system, "version", "1");
    for (const DeviceIndex cpu : unit_.cpus())
      if (includes(unit_.device(cpu))) write_cpu(system, cpu);
    if (!system.first_child()) return fail(fmt::format("has no CPU on host {}", host_));
    const int hosts = all_hosts_ ? unit_.parts().hosts : 1;
    if (elements_ > kMostElements * hosts)
      return fail(fmt::format("needs {} elements, of which NCCL reads {}", elements_,
                              kMostElements * hosts));
    std::ostringstream out;
    document.save(out, "  ", pugi::format_indent | pugi::format_no_declaration);
    return out.str();
  }

 private:
  bool includes(const Device& device) const { return all_hosts_ || device.host == host_; }

  /// The link that leads towards the CPU.
  void find_parent(DeviceIndex i) {
    uplink_.push_back(nullptr);
    children_.resize(unit_.devices().size());
    for (const std::uint32_t number : unit_.links_at(i)) {
      const Link& link = unit_.link(number);
      if (link.kind != LinkKind::pcie || link.b != i) continue;
      uplink_[i] = &link;
      children_[link.a].push_back(i);
      return;
    }
  }

  pugi::xml_node add(pugi::xml_node parent, const char* name) {
    ++elements_;
    return parent.append_child(name);
  }

  void write_cpu(pugi::xml_node system, DeviceIndex i) {
    const Device& device = unit_.device(i);
    const CpuInfo& cpu = device.cpu();
    pugi::xml_node node = add(system, "cpu");
    std::string hash = cpu.host_hash;
    if (hash.empty() && all_hosts_ && unit_.parts().hosts > 1)
      hash = fmt::format("{:#x}", device.host + 1);
    set_known(node, "host_hash", hash);
    set(node, "numaid", std::to_string(cpu.numa));
    set(node, "affinity", cpu.affinity);
    set(node, "arch", cpu.arch);
    set_known(node, "vendor", cpu.vendor);
    if (cpu.family != 0) set(node, "familyid", std::to_string(cpu.family));
    if (cpu.model != 0) set(node, "modelid", std::to_string(cpu.model));
    write_children(node, i);
  }

  void write_children(pugi::xml_node node, DeviceIndex parent) {
    const std::vector<DeviceIndex>& children = children_[parent];
    for (std::size_t i = 0; i < children.size(); ++i) {
      std::vector<DeviceIndex> functions = {children[i]};
      while (i + 1 < children.size() && share_a_slot(children[i], children[i + 1]))
        functions.push_back(children[++i]);
      write_device(node, functions);
    }
  }

  /// Ports of one NIC, and parts of one GPU, are one PCI device.
  bool share_a_slot(DeviceIndex a, DeviceIndex b) const {
    const Device &one = unit_.device(a), &other = unit_.device(b);
    return one.kind == other.kind && one.kind != DeviceKind::pcie_switch &&
           !one.pci.bus_id.empty() && one.pci == other.pci &&
           uplink_[a]->generation == uplink_[b]->generation &&
           uplink_[a]->lanes == uplink_[b]->lanes;
  }

  void write_device(pugi::xml_node parent, const std::vector<DeviceIndex>& functions) {
    const DeviceIndex first = functions.front();
    const Device& device = unit_.device(first);
    pugi::xml_node node = parent;
    if (!is_virtual_nic(device, *uplink_[first])) node = write_pci(parent, first);
    switch (device.kind) {
      case DeviceKind::gpu:
        for (const DeviceIndex gpu : functions) write_gpu(node, gpu);
        break;
      case DeviceKind::nic:
        node = add(node, "nic");
        for (const DeviceIndex nic : functions) write_net(node, nic);
        break;
      default: write_children(node, first);
    }
  }

  pugi::xml_node write_pci(pugi::xml_node parent, DeviceIndex i) {
    const Device& device = unit_.device(i);
    const char* class_code = device.kind == DeviceKind::gpu   ? "0x030200"
                             : device.kind == DeviceKind::nic ? "0x020700"
                                                              : "0x060400";
    pugi::xml_node node = add(parent, "pci");
    set(node, "busid", addresses_[i]);
    set(node, "class", device.pci.class_code.empty() ? class_code : device.pci.class_code);
    set_known(node, "vendor", device.pci.vendor);
    set_known(node, "device", device.pci.device);
    set_known(node, "subsystem_vendor", device.pci.subsystem_vendor);
    set_known(node, "subsystem_device", device.pci.subsystem_device);
    set(node, "link_speed", pcie_speed_text(uplink_[i]->generation));
    set(node, "link_width", std::to_string(uplink_[i]->lanes));
    return node;
  }

  void write_gpu(pugi::xml_node pci, DeviceIndex i) {
    const GpuInfo& info = unit_.device(i).gpu();
    pugi::xml_node node = add(pci, "gpu");
    set(node, "dev", std::to_string(unit_.device(i).index));
    if (info.sm > 0) set(node, "sm", std::to_string(info.sm));
    set_known(node, "gcn", info.gcn);
    set(node, "rank", std::to_string(rank(i)));
    set(node, "gdr", info.gpudirect ? "1" : "0");
    for (const std::uint32_t number : unit_.links_at(i)) write_fast_link(node, i, number);
  }

  /// Among the GPUs that are written.
  std::ptrdiff_t rank(DeviceIndex gpu) const {
    const auto all = unit_.gpus();
    return std::count_if(all.begin(), std::find(all.begin(), all.end(), gpu),
                         [&](DeviceIndex other) { return includes(unit_.device(other)); });
  }

  void write_fast_link(pugi::xml_node gpu_node, DeviceIndex gpu, std::uint32_t number) {
    const Link& link = unit_.link(number);
    const DeviceIndex other = unit_.peer(number, gpu);
    const Device& target = unit_.device(other);
    if (!link.up() || (target.host >= 0 && target.host != unit_.device(gpu).host)) return;
    if (link.kind == LinkKind::c2c) {
      pugi::xml_node node = add(gpu_node, "c2c");
      set(node, "bw", std::to_string(std::lround(link.link_rate.GBs() * 1e3)));
      set(node, "count", std::to_string(link.count));
    } else if (link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi) {
      pugi::xml_node node = add(gpu_node, link.kind == LinkKind::xgmi ? "xgmi" : "nvlink");
      set(node, "target", addresses_[other]);
      set(node, "count", std::to_string(link.count));
      set(node, "tclass",
          target.kind == DeviceKind::nvswitch ? "0x068000"
          : target.kind == DeviceKind::cpu    ? "0x068001"
          : target.pci.class_code.empty()     ? "0x030200"
                                              : target.pci.class_code);
    }
  }

  void write_net(pugi::xml_node nic, DeviceIndex i) {
    const Device& device = unit_.device(i);
    const NicInfo& info = device.nic();
    pugi::xml_node node = add(nic, "net");
    set(node, "name", device.name);
    set(node, "dev", std::to_string(device.index));
    set(node, "speed", std::to_string(std::lround(info.rate.gbits() * 1e3)));
    set(node, "port", std::to_string(info.port));
    set(node, "latency", fmt::format("{:f}", info.latency_us));
    set_known(node, "guid", info.guid);
    if (info.max_connections != 0) set(node, "maxconn", std::to_string(info.max_connections));
    set(node, "gdr", info.gpudirect ? "1" : "0");
    if (info.in_network_reduction) set(node, "coll", "1");
  }

  const Unit& unit_;
  const int host_;
  const bool all_hosts_;
  const std::vector<std::string> addresses_;        ///< by device
  std::vector<const Link*> uplink_;                 ///< by device; null for CPUs
  std::vector<std::vector<DeviceIndex>> children_;  ///< by device
  int elements_ = 1;
};

Result<std::string> write_nccl_xml(const Fabric& fabric, const WriteOptions& options) {
  if (options.unit >= fabric.unit_count())
    return fail(fmt::format("has no unit {}", options.unit),
                fmt::format("0 to {}", fabric.unit_count() - 1));
  return NcclXmlWriter(fabric.unit(options.unit), options.host, options.include_all).write();
}

}  // namespace

extern const Writer nccl_xml_writer;
const Writer nccl_xml_writer = {"nccl-xml", "NCCL topology file", write_nccl_xml};

}  // namespace isleway::formats
