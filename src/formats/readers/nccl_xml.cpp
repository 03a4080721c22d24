// NCCL's topology files (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE), RCCL's, and those that cloud
// vendors ship. Format: NCCL's src/graph/xml.cc and topo.cc; see docs/formats/nccl-xml.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/cpu_mask.hpp"
#include "formats/gpu_board.hpp"
#include "formats/machine_builder.hpp"
#include "formats/xml_text.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr const char* kName = "nccl-xml";
constexpr std::string_view kSwitchClass = "0x068000", kCpuBridgeClass = "0x068001";

std::string attribute(pugi::xml_node node, const char* name) {
  return std::string(trim(node.attribute(name).value()));
}

PciInfo pci_info(pugi::xml_node pci) {
  return {canonical_bus_id(attribute(pci, "busid")),
          to_lower(attribute(pci, "class")),
          attribute(pci, "vendor"),
          attribute(pci, "device"),
          attribute(pci, "subsystem_vendor"),
          attribute(pci, "subsystem_device")};
}

/// What a <pci> element stands for: by what it holds, else by its class.
enum class Role { gpu, nic, bridge, nvswitch, other };

Role role_of(pugi::xml_node pci, std::string_view class_code) {
  if (pci.child("gpu")) return Role::gpu;
  if (pci.child("nic")) return Role::nic;
  if (class_code.starts_with("0x03") || class_code.starts_with("0x12")) return Role::gpu;
  if (class_code.starts_with("0x02")) return Role::nic;
  if (class_code.starts_with("0x0680")) return Role::nvswitch;
  if (class_code.starts_with("0x06") || class_code.starts_with("0x0801")) return Role::bridge;
  return class_code.empty() && pci.child("pci") ? Role::bridge : Role::other;
}

class NcclXmlReader {
 public:
  NcclXmlReader(const XmlText& xml, const ReadContext& context, Notebook notes)
      : xml_(xml), context_(context), build_(context) {
    build_.notes() = std::move(notes);
  }

  Result<Document> read() {
    for (const pugi::xml_node child : xml_.root().children()) {
      if (child.type() != pugi::node_element) continue;
      if (child.name() == std::string_view("cpu")) read_cpu(child);
      else skip(child, "element outside <cpu>");
    }
    for (const NvlinkElement& link : nvlinks_) join(link);
    if (line_of_bare_gpu_ > 0 && !describes_gpus_)
      wire_as_known_board(build_, context_, line_of_bare_gpu_);
    return build_.finish(kName);
  }

 private:
  struct NvlinkElement {
    DeviceIndex gpu = 0, cpu = 0;
    std::string target, target_class;
    int count = 0, line = 0;
  };

  Notebook& notes() { return build_.notes(); }
  void skip(pugi::xml_node node, std::string_view why) {
    notes().skipped(fmt::format("{} {}", why, cite(node.name())), xml_.line(node));
  }

  /// Files of several hosts (a multi-node NVLink domain) tell them apart by a hash. A CPU
  /// without one, as older versions write, is of the host before it.
  int host_of(const std::string& hash) {
    if (hash.empty()) return host_;
    const auto [place, is_new] = hosts_.try_emplace(hash, static_cast<int>(hosts_.size()));
    return std::min(place->second, MachineBuilder::kMostHosts);
  }

  void read_cpu(pugi::xml_node node) {
    if (build_.is_full()) return;
    CpuInfo info;
    info.numa = int_attribute(node, "numaid", -1);
    info.arch = attribute(node, "arch");
    info.vendor = node.attribute("vendor").value();  // one maker's has blanks at both ends
    info.family = int_attribute(node, "familyid", 0);
    info.model = int_attribute(node, "modelid", 0);
    info.host_hash = attribute(node, "host_hash");
    if (info.arch.empty()) info.arch = "x86_64";
    host_ = host_of(info.host_hash);
    read_affinity(node, info);
    cpu_ = build_.add_cpu(host_, std::move(info));
    read_children(node, cpu_, 0);
  }

  void read_affinity(pugi::xml_node node, CpuInfo& info) {
    const auto mask = CpuMask::from_words(attribute(node, "affinity"));
    if (!mask) return notes().skipped("an affinity that is no CPU mask", xml_.line(node));
    CpuMask& taken = taken_cpus_[host_];
    if (mask->overlaps(taken))
      notes().assumed("CPU masks of several NUMA nodes overlap: one of them must be wrong",
                      xml_.line(node));
    taken.add(*mask);
    info.affinity = mask->words();
  }

  void read_children(pugi::xml_node node, DeviceIndex parent, int depth) {
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (child.type() != pugi::node_element) continue;
      if (name == "pci") read_pci(child, parent, depth);
      else if (name == "nic") read_nic(child, parent, {}, {0, 0, true});
      else if (name == "pcilink") skip(child, "PCIe switches joined sideways by");
      else skip(child, "unknown element");
    }
  }

  void read_pci(pugi::xml_node node, DeviceIndex parent, int depth) {
    if (build_.is_full()) return notes().incomplete("too many devices: the rest is left out");
    if (depth > XmlText::kMostDepth) return skip(node, "too deeply nested");
    PciInfo pci = pci_info(node);
    if (pci.bus_id.empty()) {
      pci.bus_id = fmt::format("ffff:fe:{:02x}.0", ++unnamed_);
      notes().assumed("a PCI device without a bus id, which NCCL refuses", xml_.line(node));
    }
    const PcieWire wire{pcie_generation(attribute(node, "link_speed")),
                        std::max(int_attribute(node, "link_width", 0), 0)};
    switch (role_of(node, pci.class_code)) {
      case Role::bridge:
        return read_children(node, build_.add_pcie_switch(parent, std::move(pci), wire), depth + 1);
      case Role::gpu: read_gpus(node, parent, pci, wire); break;
      case Role::nic:
        if (!node.child("nic")) read_nic(node, parent, pci, wire);
        for (const pugi::xml_node nic : node.children("nic")) read_nic(nic, parent, pci, wire);
        break;
      case Role::nvswitch: break;  // known by the NVLinks that lead to it
      case Role::other:
        notes().skipped(fmt::format("PCI device of class {}", cite(pci.class_code)),
                        xml_.line(node));
        break;
    }
    for (const pugi::xml_node child : node.children("pci")) read_pci(child, parent, depth + 1);
  }

  /// Without a <gpu>, as in cloud vendors' files, NCCL asks the driver for all but the place.
  /// Several of them are parts of one GPU.
  void read_gpus(pugi::xml_node pci_node, DeviceIndex parent, const PciInfo& pci, PcieWire wire) {
    if (pci_node.child("gpu")) {
      describes_gpus_ = true;
    } else {
      if (line_of_bare_gpu_ == 0) line_of_bare_gpu_ = xml_.line(pci_node);
      read_gpu(pci_node, parent, pci, wire);
    }
    for (const pugi::xml_node node : pci_node.children("gpu")) read_gpu(node, parent, pci, wire);
  }

  void read_gpu(pugi::xml_node node, DeviceIndex parent, const PciInfo& pci, PcieWire wire) {
    if (build_.is_full()) return;
    GpuInfo info;
    info.gcn = attribute(node, "gcn");
    info.amd = !info.gcn.empty() || pci.vendor == "0x1002";
    // RCCL puts the number of compute units here.
    if (!info.amd) info.sm = std::clamp(int_attribute(node, "sm", 0), 0, 999);
    info.gpudirect = int_attribute(node, "gdr", 1) != 0;
    const DeviceIndex gpu =
        build_.add_gpu(parent, pci, wire, int_attribute(node, "dev", -1), std::move(info));
    gpu_at_.try_emplace({host_, pci.bus_id}, gpu);
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "nvlink" || name == "xgmi")
        nvlinks_.push_back({gpu, cpu_, canonical_bus_id(attribute(child, "target")),
                            to_lower(attribute(child, "tclass")), int_attribute(child, "count", 1),
                            xml_.line(child)});
      else if (name == "c2c")
        build_.join_c2c(gpu, cpu_, int_attribute(child, "count", 1),
                        Rate::GBs(std::max(int_attribute(child, "bw", 0), 0) * 1e-3));
    }
  }

  /// `node` is a <nic>, or a <pci> without one (NCCL then asks the driver for the ports).
  void read_nic(pugi::xml_node node, DeviceIndex parent, const PciInfo& pci, PcieWire wire) {
    if (build_.is_full()) return;
    if (!node.child("net")) build_.add_nic(parent, pci, wire, -1, "", {});
    for (const pugi::xml_node net : node.children("net")) {
      NicInfo info;
      info.rate = Rate::gbits(std::clamp(int_attribute(net, "speed", 0), 0, 100'000'000) * 1e-3);
      info.port = int_attribute(net, "port", 1);
      info.guid = attribute(net, "guid");
      // Six decimals, as NCCL writes it.
      const double latency = parse_double(attribute(net, "latency")).value_or(0);
      if (std::abs(latency) < 1e6) info.latency_us = std::round(latency * 1e6) / 1e6;
      info.max_connections = int_attribute(net, "maxconn", 0);
      info.gpudirect = int_attribute(net, "gdr", 1) != 0;
      info.in_network_reduction = int_attribute(net, "coll", 0) != 0;
      if (build_.is_full()) return;
      build_.add_nic(parent, pci, wire, int_attribute(net, "dev", -1), attribute(net, "name"),
                     std::move(info));
    }
  }

  void join(const NvlinkElement& link) {
    const auto peer = gpu_at_.find({build_.device(link.gpu).host, link.target});
    const bool to_gpu = peer != gpu_at_.end();
    if (link.target_class == kSwitchClass ||
        (!to_gpu && link.target_class.empty() && is_placeholder_bus_id(link.target)))
      build_.join_nvswitch(link.gpu, link.target, link.count);
    else if (link.target_class == kCpuBridgeClass) build_.join_cpu(link.gpu, link.cpu, link.count);
    else if (!to_gpu) notes().skipped("NVLinks to a device that is not in the file", link.line);
    else if (peer->second == link.gpu)
      notes().skipped("NVLinks from a GPU to itself: the file was made by hand", link.line);
    else build_.join_gpus(link.gpu, peer->second, link.count);
  }

  const XmlText& xml_;
  const ReadContext& context_;
  MachineBuilder build_;
  std::map<std::string, int> hosts_;
  std::map<int, CpuMask> taken_cpus_;                          ///< by host
  std::map<std::pair<int, std::string>, DeviceIndex> gpu_at_;  ///< by host and address
  std::vector<NvlinkElement> nvlinks_;  ///< joined at the end, when all targets are known
  int host_ = 0, unnamed_ = 0;
  DeviceIndex cpu_ = 0;
  bool describes_gpus_ = false;  ///< there is a <gpu>
  int line_of_bare_gpu_ = 0;     ///< of the first GPU without
};

int recognise(std::string_view text) {
  if (find_element(text, "graphs") != std::string_view::npos) return 80;
  const std::size_t start = find_element(text, "system");
  if (start == std::string_view::npos) return 0;
  return find_element(text.substr(start), "cpu") != std::string_view::npos ? 95 : 60;
}

Result<Document> read_nccl_xml(std::string_view text, const ReadContext& context) {
  Notebook notes(context.file);
  const bool is_topology = find_element(text, "system") != std::string_view::npos;
  if (!is_topology && find_element(text, "graphs") != std::string_view::npos)
    return fail("is an NCCL graph file: the channels that NCCL found, not the machine",
                "a topology file, which starts with <system>",
                "have NCCL write one with NCCL_TOPO_DUMP_FILE", {context.file});
  const auto xml = XmlText::parse(text, "system", notes);
  if (!xml) return tl::unexpected(xml.error());
  if (!xml->root().child("cpu"))
    return fail("holds no <cpu>", "<system> with at least one <cpu> in it", {}, {context.file});
  return NcclXmlReader(*xml, context, std::move(notes)).read();
}

}  // namespace

extern const Reader nccl_xml_reader;
const Reader nccl_xml_reader = {kName, "NCCL or RCCL topology file", recognise, read_nccl_xml};

}  // namespace isleway::formats
