// NCCL's topology files and graph files: what they declare, as it stands there.
#include <map>

#include "formats/cpu_mask.hpp"
#include "formats/pci.hpp"
#include "formats/signal_sink.hpp"
#include "formats/xml_text.hpp"

namespace isleway::formats {
namespace {

class NcclXmlReader {
 public:
  NcclXmlReader(const XmlText& xml, SignalSink& sink) : xml_(xml), sink_(sink) {}

  void read() {
    for (pugi::xml_node cpu : xml_.root().children("cpu")) {
      read_cpu(cpu);
      ++cpus_;
      read_children(cpu, {}, 0);
    }
    for (const Device& gpu : gpus_)
      for (const Device& nic : nics_) {
        sink_.at(gpu.line);
        sink_.text("declared.distance", gpu.name, distance(gpu, nic), nic.name);
      }
  }

 private:
  struct Device {
    std::string name;
    int cpu;
    std::vector<std::string> above;  ///< addresses of the bridges, from the CPU
    std::size_t line;
  };

  void at(pugi::xml_node node) { sink_.at(index_of(node)); }
  std::size_t index_of(pugi::xml_node node) const {
    return static_cast<std::size_t>(std::max(xml_.line(node), 1) - 1);
  }

  void read_cpu(pugi::xml_node cpu) {
    at(cpu);
    const std::string numa = "numa" + std::string(cpu.attribute("numaid").value());
    sink_.text("declared.cpu_affinity", numa, cpu.attribute("affinity").value());
    sink_.text("declared.cpu_family", numa, cpu.attribute("familyid").value());
    const auto mask = CpuMask::from_words(cpu.attribute("affinity").value());
    if (!mask) return;
    for (const auto& [other, taken] : masks_)
      if (taken.overlaps(*mask)) sink_.number("declared.affinity_overlap", numa, 1, other);
    masks_.emplace_back(numa, *mask);
  }

  void read_children(pugi::xml_node node, const std::vector<std::string>& above, int depth) {
    if (depth > XmlText::kMostDepth) return;
    for (pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "pci") read_pci(child, above, depth);
      else if (name == "nic") read_nets(child, above, {});
    }
  }

  void read_pci(pugi::xml_node pci, const std::vector<std::string>& above, int depth) {
    at(pci);
    const std::string address = canonical_bus_id(pci.attribute("busid").value());
    if (!is_placeholder_bus_id(address)) {
      if (const int g = pcie_generation(pci.attribute("link_speed").value()))
        sink_.number("declared.pcie_generation", address, g);
      sink_.measure("declared.pcie_width", address, pci.attribute("link_width").value());
    }
    std::vector<std::string> below = above;
    below.push_back(address);
    for (pugi::xml_node gpu : pci.children("gpu")) read_gpu(gpu, address, above);
    for (pugi::xml_node nic : pci.children("nic")) read_nets(nic, above, address);
    read_children_pci(pci, below, depth + 1);
  }

  void read_children_pci(pugi::xml_node pci, const std::vector<std::string>& above, int depth) {
    if (depth > XmlText::kMostDepth) return;
    for (pugi::xml_node child : pci.children("pci")) read_pci(child, above, depth);
  }

  void read_gpu(pugi::xml_node gpu, const std::string& address,
                const std::vector<std::string>& above) {
    at(gpu);
    const std::string_view index = gpu.attribute("dev").value();
    const std::string name = index.empty() ? address : gpu_name(index);
    if (gpus_.size() < kMostDevices) gpus_.push_back({name, cpus_, above, index_of(gpu)});
    sink_.text("declared.bus_id", name, address);
    sink_.measure("gpu.sm", name, gpu.attribute("sm").value());
    for (const auto& [element, signal] :
         {std::pair{"nvlink", "declared.nvlinks"}, std::pair{"xgmi", "declared.xgmi"}})
      for (pugi::xml_node link : gpu.children(element)) {
        at(link);
        const std::string target = canonical_bus_id(link.attribute("target").value());
        sink_.measure(signal, name, link.attribute("count").value(), target);
        if (target == address && element == std::string_view("nvlink"))
          sink_.measure("declared.self_link", name, link.attribute("count").value());
      }
  }

  void read_nets(pugi::xml_node nic, const std::vector<std::string>& above,
                 const std::string& address) {
    for (pugi::xml_node net : nic.children("net")) {
      at(net);
      const std::string name = net.attribute("name").value();
      if (name.empty()) continue;
      if (nics_.size() < kMostDevices) nics_.push_back({name, cpus_, above, index_of(net)});
      sink_.text("declared.bus_id", name, address);
      if (const auto speed = leading_number(net.attribute("speed").value()); speed && *speed > 0)
        sink_.number("declared.nic_rate_Gbs", name, *speed / 1000);
      sink_.measure("declared.gdr", name, net.attribute("gdr").value());
      if (const auto guid = net.attribute("guid")) sink_.text("nic.guid", name, guid.value());
    }
  }

  /// One bridge is a switch; several are a hierarchy of them, as NCCL counts.
  static std::string distance(const Device& gpu, const Device& nic) {
    if (gpu.cpu != nic.cpu) return "SYS";
    if (gpu.above.empty() || nic.above.empty() || gpu.above[0] != nic.above[0]) return "PHB";
    return gpu.above == nic.above ? "PIX" : "PXB";
  }

  static constexpr std::size_t kMostDevices = 200;

  const XmlText& xml_;
  SignalSink& sink_;
  int cpus_ = 0;
  std::vector<std::pair<std::string, CpuMask>> masks_;
  std::vector<Device> gpus_, nics_;
};

void read_graphs(const XmlText& xml, SignalSink& sink) {
  for (pugi::xml_node graph : xml.root().children("graph")) {
    sink.at(static_cast<std::size_t>(std::max(xml.line(graph), 1) - 1));
    sink.measure("nccl.graph_file", graph.attribute("id").value(),
                 graph.attribute("nchannels").value());
    sink.measure("nccl.graph_cross_nic", graph.attribute("id").value(),
                 graph.attribute("crossnic").value());
  }
}

/// `<cpu numaid="1" ... familyid="175">` in a difference of two files, or a few lines of one.
void read_excerpt(SignalSink& sink) {
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const std::string_view line = sink.line(i);
    if (!contains(line, "<cpu ")) continue;
    const std::string numa = "numa" + std::string(between(line, "numaid=\"", "\""));
    sink.at(i);
    sink.text("declared.cpu_affinity", numa, between(line, " affinity=\"", "\""));
    sink.text("declared.cpu_family", numa, between(line, "familyid=\"", "\""));
  }
}

int recognise(const TextIndex& text) {
  if (!text.has("<system") && !text.has("<graphs"))
    return text.has("<cpu ") && text.has("numaid=") ? 60 : 0;
  const bool system = find_element(text.text(), "system") != std::string_view::npos;
  if (system && (text.has("<cpu") || text.has("<pci"))) return 90;
  return find_element(text.text(), "graphs") != std::string_view::npos ? 80 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  if (!contains(text, "<system")) read_excerpt(sink);
  for (const char* root : {"system", "graphs"}) {
    if (find_element(text, root) == std::string_view::npos) continue;
    Notebook notes(from.file);
    const auto xml = XmlText::parse(text, root, notes);
    if (!xml) notices.skipped(xml.error().where, xml.error().what);
    else if (root == std::string_view("system")) NcclXmlReader(*xml, sink).read();
    else read_graphs(*xml, sink);
    notices.append(notes.notices());
  }
}

}  // namespace

extern const SignalReader nccl_xml_signals;
const SignalReader nccl_xml_signals = {"nccl-xml", "NCCL's topology and graph files", recognise,
                                       read};

}  // namespace isleway::formats
