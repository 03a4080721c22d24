// hwloc's XML (`lstopo --of xml`), versions 1 to 3. Format: hwloc's hwloc2.dtd and its
// manual, "Importing and exporting topologies from/to XML files".
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "formats/cpu_mask.hpp"
#include "formats/hwloc_distances.hpp"
#include "formats/machine_builder.hpp"
#include "formats/xml_text.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr const char* kName = "hwloc";

/// GB/s of one PCIe lane as hwloc computes it: bits per second less the encoding.
constexpr double kLaneRates[6] = {0.25,
                                  0.5,
                                  8.0 * 128 / 130 / 8,
                                  16.0 * 128 / 130 / 8,
                                  32.0 * 128 / 130 / 8,
                                  64.0 * 242 / 256 / 8};

std::string_view attribute(pugi::xml_node node, const char* name) {
  return trim(node.attribute(name).value());
}

std::string_view info(pugi::xml_node object, std::string_view name) {
  for (const pugi::xml_node child : object.children("info"))
    if (attribute(child, "name") == name) return attribute(child, "value");
  return {};
}

/// The number that `text` ends in after `stem`: 3 for "cuda3" and "cuda".
std::optional<int> numbered(std::string_view text, std::string_view stem) {
  if (!text.starts_with(stem)) return std::nullopt;
  const auto number = parse_int(text.substr(stem.size()));
  return number && *number >= 0 && *number < 4096 ? std::optional(static_cast<int>(*number))
                                                  : std::nullopt;
}

/// "0302 [10de:2330] [10de:16c1] a1 00"
PciInfo pci_info(pugi::xml_node object) {
  PciInfo pci;
  pci.bus_id = canonical_bus_id(attribute(object, "pci_busid"));
  const auto words = split_words(attribute(object, "pci_type"));
  const auto pair = [&](std::size_t i, std::string& vendor, std::string& device) {
    if (i >= words.size() || words[i].size() != 11) return;
    vendor = fmt::format("0x{}", words[i].substr(1, 4));
    device = fmt::format("0x{}", words[i].substr(6, 4));
  };
  if (!words.empty()) pci.class_code = fmt::format("0x{}00", words[0].substr(0, 4));
  pair(1, pci.vendor, pci.device);
  pair(2, pci.subsystem_vendor, pci.subsystem_device);
  return pci;
}

PcieWire wire(pugi::xml_node object) {
  const double rate = parse_double(attribute(object, "pci_link_speed")).value_or(0);
  return wire_for_rate(rate, kLaneRates, rate * 0.01);
}

class HwlocReader {
 public:
  HwlocReader(const XmlText& xml, const ReadContext& context, Notebook notes)
      : xml_(xml), context_(context), build_(context) {
    build_.notes() = std::move(notes);
    const auto version = parse_double(attribute(xml.root(), "version")).value_or(1);
    // OS devices had one type each until version 3, and have a bit for each since.
    is_infiniband_ = version >= 3 ? [](int type) { return (type & 1 << 5) != 0; }
                                  : [](int type) { return type == 3; };
  }

  Result<Document> read() {
    const pugi::xml_node machine = xml_.root().child("object");
    find_numa_nodes(machine, machine, 0);
    if (build_.size() == 0) cpu_of_node_[0] = build_.add_cpu(0, cpu_info(machine, machine));
    find_devices(machine, cpu_of_node_.begin()->second, 0);
    join_all("NVLinkBandwidth");
    join_all("XGMIBandwidth");
    if (gpu_at_.empty())
      notes().incomplete(
          "hwloc saw no GPU: one in a PCIe slot shows only when lstopo is built "
          "with PCI support");
    return build_.finish(kName);
  }

 private:
  Notebook& notes() { return build_.notes(); }

  CpuInfo cpu_info(pugi::xml_node numa, pugi::xml_node package) const {
    const auto find = [&](std::string_view name) {
      for (const pugi::xml_node place : {package, xml_.root().child("object"), xml_.root()})
        if (const std::string_view value = info(place, name); !value.empty()) return value;
      return std::string_view();
    };
    CpuInfo cpu;
    cpu.numa = int_attribute(numa, "os_index", 0);
    cpu.vendor = find("CPUVendor");
    cpu.family = static_cast<int>(parse_int(find("CPUFamilyNumber")).value_or(0) & 0xffff);
    cpu.model = static_cast<int>(parse_int(find("CPUModelNumber")).value_or(0) & 0xffff);
    const std::string_view arch = find("Architecture");
    if (arch.starts_with("aarch64") || arch.starts_with("arm")) cpu.arch = "arm64";
    if (arch.starts_with("ppc64")) cpu.arch = "ppc64";
    if (package.attribute("os_index") && is_package(package))
      cpu.socket = int_attribute(package, "os_index", -1);
    if (const auto mask = CpuMask::from_words(attribute(numa, "cpuset")))
      cpu.affinity = mask->words();
    return cpu;
  }

  static bool is_package(pugi::xml_node object) {
    return attribute(object, "type") == "Package" || attribute(object, "type") == "Socket";
  }

  /// NUMA nodes stand inside a package since version 2, and around it before. Nodes without
  /// CPUs are the memories of GPUs.
  void find_numa_nodes(pugi::xml_node object, pugi::xml_node package, int depth) {
    if (depth > XmlText::kMostDepth || build_.is_full()) return;
    if (is_package(object)) package = object;
    if (attribute(object, "type") == "NUMANode") {
      const auto inner = object.find_child_by_attribute("object", "type", "Package");
      const auto socket = object.find_child_by_attribute("object", "type", "Socket");
      CpuInfo cpu = cpu_info(object, inner ? inner : socket ? socket : package);
      const int node = cpu.numa;
      if (!cpu.affinity.empty() && !cpu_of_node_.contains(node)) {
        cpu_of_node_[node] = build_.add_cpu(0, std::move(cpu));
        if (const auto gp = parse_int(attribute(package, "gp_index")))
          cpu_at_.try_emplace(*gp, cpu_of_node_[node]);
      }
    }
    for (const pugi::xml_node child : object.children("object"))
      find_numa_nodes(child, package, depth + 1);
  }

  /// What hangs from objects that belong to one NUMA node hangs from that node.
  void find_devices(pugi::xml_node object, DeviceIndex cpu, int depth) {
    if (depth > XmlText::kMostDepth) return;
    if (const auto mask = CpuMask::from_words(attribute(object, "nodeset"))) {
      const auto node = parse_int(mask->ranges());  // a number only when it is a single one
      const auto known = node ? cpu_of_node_.find(static_cast<int>(*node)) : cpu_of_node_.end();
      if (known != cpu_of_node_.end()) cpu = known->second;
    }
    for (const pugi::xml_node child : object.children("object")) {
      const std::string_view type = attribute(child, "type");
      if (type == "Bridge" || type == "PCIDev") read_pci(child, cpu, 0, depth + 1);
      else find_devices(child, cpu, depth + 1);
    }
  }

  /// Below a host bridge stands a root port, then an upstream and a downstream port for each
  /// switch: every second bridge is one.
  void read_pci(pugi::xml_node object, DeviceIndex parent, int bridges, int depth) {
    if (depth > XmlText::kMostDepth || build_.is_full()) return;
    if (attribute(object, "type") == "PCIDev") return read_device(object, parent);
    const bool is_port = attribute(object, "bridge_type").starts_with("1-");
    if (is_port && ++bridges % 2 == 0)
      parent = build_.add_pcie_switch(parent, pci_info(object), wire(object));
    for (const pugi::xml_node child : object.children("object"))
      read_pci(child, parent, bridges, depth + 1);
  }

  void read_device(pugi::xml_node object, DeviceIndex parent) {
    const PciInfo pci = pci_info(object);
    const std::int64_t gp = parse_int(attribute(object, "gp_index")).value_or(-1);
    const bool nvidia = pci.vendor == "0x10de", amd = pci.vendor == "0x1002";
    if ((nvidia && pci.class_code.starts_with("0x03")) ||
        (amd && (pci.class_code.starts_with("0x03") || pci.class_code.starts_with("0x12"))))
      read_gpu(object, parent, pci, amd);
    else if (nvidia && pci.class_code.starts_with("0x0680")) nvswitch_at_[gp] = pci.bus_id;
    else if (pci.class_code.starts_with("0x02")) read_nic(object, parent, pci);
  }

  void read_gpu(pugi::xml_node object, DeviceIndex parent, const PciInfo& pci, bool amd) {
    GpuInfo gpu;
    gpu.amd = amd;
    std::vector<std::int64_t> places = {parse_int(attribute(object, "gp_index")).value_or(-1)};
    int number = -1;
    for (const pugi::xml_node child : object.children("object")) {
      const std::string_view name = attribute(child, "name");
      for (const char* stem : {"nvml", "rsmi", "cuda"})
        if (const auto found = numbered(name, stem); found && number < 0) number = *found;
      if (const auto gp = parse_int(attribute(child, "gp_index"))) places.push_back(*gp);
    }
    const DeviceIndex added = build_.add_gpu(parent, pci, wire(object), number, std::move(gpu));
    for (const std::int64_t place : places) gpu_at_.try_emplace(place, added);
  }

  /// Each RDMA port counts, as NCCL and topo -m list them; plain interfaces do not.
  void read_nic(pugi::xml_node object, DeviceIndex parent, const PciInfo& pci) {
    bool has_rdma = false;
    for (const pugi::xml_node child : object.children("object")) {
      if (!is_infiniband_(int_attribute(child, "osdev_type", 0)) || build_.is_full()) continue;
      has_rdma = true;
      NicInfo nic;
      std::string guid(info(child, "SysImageGUID"));
      guid.erase(std::remove(guid.begin(), guid.end(), ':'), guid.end());
      if (!guid.empty()) nic.guid = "0x" + guid;
      build_.add_nic(parent, pci, wire(object), -1, std::string(attribute(child, "name")),
                     std::move(nic));
    }
    if (!has_rdma) notes().skipped("a network adapter without RDMA", xml_.line(object));
  }

  /// NVLinks behind a bandwidth in MB/s, which hwloc gets by multiplying their number.
  int links_behind(double megabytes, DeviceIndex gpu) const {
    if (megabytes <= 0) return 0;
    const Parts& parts = context_.catalogue->parts();
    const GpuPart* part = context_.gpu.empty()
                              ? parts.guess_gpu(build_.device(gpu).pci.device, 0, 0)
                              : parts.gpu(context_.gpu);
    const LinkPart* link = part ? parts.link(part->nvlink_part) : nullptr;
    const double per_link = link ? link->link_rate.GBs() * 1e3 : 25'000;
    return std::max(1, static_cast<int>(std::lround(std::min(megabytes / per_link, 1000.0))));
  }

  void join_all(const char* name) {
    const auto matrix = find_hwloc_matrix(xml_.root(), name);
    if (!matrix) return;
    for (std::size_t row = 0; row < matrix->objects.size(); ++row) {
      const auto gpu = gpu_at_.find(matrix->objects[row]);
      if (gpu == gpu_at_.end()) continue;
      for (std::size_t column = 0; column < matrix->objects.size(); ++column) {
        const int links = links_behind(matrix->at(row, column), gpu->second);
        if (links > 0 && row != column) join(gpu->second, matrix->objects[column], links);
      }
    }
  }

  void join(DeviceIndex gpu, std::int64_t object, int links) {
    if (const auto other = gpu_at_.find(object); other != gpu_at_.end() && other->second != gpu)
      build_.join_gpus(gpu, other->second, links);
    else if (const auto chip = nvswitch_at_.find(object); chip != nvswitch_at_.end())
      build_.join_nvswitch(gpu, chip->second, links);
    else if (const auto cpu = cpu_at_.find(object); cpu != cpu_at_.end())
      build_.join_cpu(gpu, cpu->second, links);
  }

  const XmlText& xml_;
  const ReadContext& context_;
  MachineBuilder build_;
  bool (*is_infiniband_)(int osdev_type) = nullptr;
  std::map<int, DeviceIndex> cpu_of_node_;
  /// By hwloc's number of the object; GPUs also by the numbers of their software devices.
  std::map<std::int64_t, DeviceIndex> gpu_at_, cpu_at_;
  std::map<std::int64_t, std::string> nvswitch_at_;
};

int recognise(std::string_view text) {
  const std::size_t start = find_element(text, "topology");
  if (start == std::string_view::npos) return 0;
  return text.find("type=\"Machine\"", start) != std::string_view::npos ? 95 : 20;
}

Result<Document> read_hwloc(std::string_view text, const ReadContext& context) {
  Notebook notes(context.file);
  const auto xml = XmlText::parse(text, "topology", notes);
  if (!xml) return tl::unexpected(xml.error());
  if (!xml->root().child("object"))
    return fail("holds no <object>", "hwloc's <topology> with a machine in it", {}, {context.file});
  return HwlocReader(*xml, context, std::move(notes)).read();
}

}  // namespace

extern const Reader hwloc_reader;
const Reader hwloc_reader = {kName, "hwloc XML, as lstopo writes it", recognise, read_hwloc};

}  // namespace isleway::formats
