// hwloc's XML (lstopo): the machine's names, its GPUs and NICs and their places.
#include "formats/cpu_mask.hpp"
#include "formats/pci.hpp"
#include "formats/signal_sink.hpp"
#include "formats/xml_text.hpp"

namespace isleway::formats {
namespace {

class HwlocReader {
 public:
  HwlocReader(const XmlText& xml, SignalSink& sink) : xml_(xml), sink_(sink) {}

  void read() {
    const pugi::xml_node root = xml_.root();
    for (pugi::xml_node child : root.children("object")) walk(child, "", 0);
    if (gpus_ > 0) {
      sink_.at(first_gpu_);
      sink_.number("gpu.count", "", gpus_);
    }
    if (numas_ > 0) {
      sink_.at(first_numa_);
      sink_.number("cpu.numa_nodes", "", numas_);
      sink_.number("cpu.sockets", "", packages_);
    }
  }

 private:
  std::size_t index_of(pugi::xml_node node) const {
    return static_cast<std::size_t>(std::max(xml_.line(node), 1) - 1);
  }

  void info(pugi::xml_node object, std::string_view name, std::string_view signal) {
    for (pugi::xml_node child : object.children("info")) {
      if (child.attribute("name").value() != name) continue;
      sink_.at(index_of(child));
      sink_.text(signal, "", child.attribute("value").value());
      return;
    }
  }

  void walk(pugi::xml_node object, std::string numa, int depth) {
    if (depth > XmlText::kMostDepth) return;
    const std::string_view type = object.attribute("type").value();
    sink_.at(index_of(object));
    if (type == "Machine") {
      info(object, "DMIProductName", "node.product");
      info(object, "DMISysVendor", "node.vendor");
      info(object, "PlatformModel", "node.product");
      info(object, "HostName", "node.name");
      info(object, "OSRelease", "node.kernel");
    } else if (type == "Package") {
      ++packages_;
    } else if (type == "NUMANode") {
      if (numas_++ == 0) first_numa_ = index_of(object);
      add_numa(object);
    } else if (type == "PCIDev") {
      add_device(object, numa);
    }
    // hwloc 2 hangs memory beside the CPUs it belongs to.
    for (pugi::xml_node child : object.children("object"))
      if (child.attribute("type").value() == std::string_view("NUMANode"))
        numa = child.attribute("os_index").value();
    for (pugi::xml_node child : object.children("object")) walk(child, numa, depth + 1);
  }

  void add_numa(pugi::xml_node object) {
    const std::string name = "numa" + std::string(object.attribute("os_index").value());
    if (const auto mask = CpuMask::from_words(object.attribute("cpuset").value()))
      sink_.raw("numa.cpus", name, mask->ranges());
    if (const auto bytes = parse_double(object.attribute("local_memory").value()))
      sink_.number("numa.memory_MB", name, *bytes / (1 << 20));
  }

  /// pci_type="0302 [10de:15f9] [10de:116b] a1"
  void add_device(pugi::xml_node object, const std::string& numa) {
    const std::string_view type = object.attribute("pci_type").value();
    const std::string address = bus_address(object.attribute("pci_busid").value());
    const bool is_gpu =
        type.starts_with("0302") || (type.starts_with("0300") && contains(type, "[10de:"));
    const bool is_nic = type.starts_with("02");
    if (!is_gpu && !is_nic) return;
    if (is_gpu && gpus_++ == 0) first_gpu_ = index_of(object);
    sink_.text("pcie.id", address, between(type, "[", "]"));
    if (!numa.empty()) sink_.measure("pcie.numa", address, numa);
    for (pugi::xml_node child : object.children("info"))
      if (child.attribute("name").value() == std::string_view("PCIDevice"))
        sink_.text("pcie.device", address, child.attribute("value").value());
  }

  const XmlText& xml_;
  SignalSink& sink_;
  int gpus_ = 0, numas_ = 0, packages_ = 0;
  std::size_t first_gpu_ = 0, first_numa_ = 0;
};

int recognise(const TextIndex& text) {
  return text.has("<topology") && text.has("<object type=") ? 90 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  Notebook notes(from.file);
  const auto xml = XmlText::parse(text, "topology", notes);
  SignalSink sink(text, from, signals, notices);
  if (xml) HwlocReader(*xml, sink).read();
  else notices.skipped(xml.error().where, xml.error().what);
  notices.append(notes.notices());
}

}  // namespace

extern const SignalReader hwloc_signals;
const SignalReader hwloc_signals = {"hwloc", "hwloc's XML", recognise, read};

}  // namespace isleway::formats
