// `nvidia-smi -q -x`.
#include "formats/smi_fields.hpp"
#include "formats/xml_text.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr const char* kRoot = "nvidia_smi_log";

/// The driver says "GPU is lost" in place of each value: once a GPU is enough.
struct FirstError {
  std::string_view text;
  pugi::xml_node node;
};
struct ErrorFinder : pugi::xml_tree_walker {
  FirstError first;
  bool for_each(pugi::xml_node& node) override {
    const std::string_view error = smi_error(node.value());
    if (!error.empty()) first = {error, node};
    return error.empty();
  }
};

class SmiXmlReader {
 public:
  SmiXmlReader(const XmlText& xml, SignalSink& sink) : xml_(xml), sink_(sink) {}

  void read() {
    const pugi::xml_node root = xml_.root();
    text_of(root.child("driver_version"), "driver.version");
    text_of(root.child("cuda_version"), "cuda.version");
    int shown = 0;
    for (pugi::xml_node gpu : root.children("gpu")) shown += gpu ? 1 : 0;
    const pugi::xml_node attached = root.child("attached_gpus");
    const auto count = leading_number(attached.text().get());
    if (attached && count) {
      at(attached);
      sink_.number("gpu.count", "", *count);
    }
    int index = 0;
    for (pugi::xml_node gpu : root.children("gpu")) {
      // With -i some are left out: then the driver's own number says which one it is.
      const bool all = !count || *count <= shown;
      const std::string_view minor = gpu.child("minor_number").text().get();
      const bool use_minor = !all && leading_number(minor).has_value();
      read_gpu(gpu, use_minor ? gpu_name(minor) : gpu_name(std::to_string(index)));
      ++index;
    }
  }

 private:
  void at(pugi::xml_node node) {
    sink_.at(static_cast<std::size_t>(std::max(xml_.line(node), 1) - 1));
  }

  void text_of(pugi::xml_node node, const char* signal) {
    if (!node || is_unknown_value(node.text().get())) return;
    at(node);
    sink_.text(signal, "", node.text().get());
  }

  static pugi::xml_node find(pugi::xml_node node, std::string_view path) {
    while (node && !path.empty()) {
      const std::string name(before(path, "/"));
      path.remove_prefix(std::min(path.size(), name.size() + 1));
      node = node.child(name.c_str());
    }
    return node;
  }

  void read_gpu(pugi::xml_node gpu, const std::string& name) {
    at(gpu);
    if (const std::string_view id = gpu.attribute("id").value(); !id.empty())
      sink_.text("gpu.bus_id", name, bus_address(id));
    ErrorFinder errors;
    gpu.traverse(errors);
    if (!errors.first.text.empty()) {
      at(errors.first.node);
      sink_.text("gpu.error", name, errors.first.text);
    }
    for (const SmiField& field : smi_fields()) {
      const std::string_view path = field.xml;
      if (path.empty() || field.kind == SmiField::Kind::bus) continue;
      const pugi::xml_node node = find(gpu, path);
      if (!node) continue;
      at(node);
      if (field.kind == SmiField::Kind::processes) count_processes(node, name);
      else add_smi_field(sink_, field, name, node.text().get());
    }
    for (pugi::xml_node device : gpu.child("mig_devices").children("mig_device")) {
      at(device);
      const char* profile = device.child("profile_name").text().get();
      sink_.text("mig.device", name, *profile ? profile : device.child("index").text().get());
    }
  }

  void count_processes(pugi::xml_node node, const std::string& gpu) {
    int count = 0;
    for (pugi::xml_node process : node.children("process_info")) count += process ? 1 : 0;
    sink_.number("gpu.processes", gpu, count);
  }

  const XmlText& xml_;
  SignalSink& sink_;
};

int recognise(const TextIndex& text) {
  return text.has(kRoot) && find_element(text.text(), kRoot) != std::string_view::npos ? 95 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  Notebook notes(from.file);
  const auto xml = XmlText::parse(text, kRoot, notes);
  SignalSink sink(text, from, signals, notices);
  if (xml) SmiXmlReader(*xml, sink).read();
  else notices.skipped(xml.error().where, xml.error().what);
  notices.append(notes.notices());
}

}  // namespace

extern const SignalReader smi_xml_signals;
const SignalReader smi_xml_signals = {"smi-xml", "nvidia-smi -q -x", recognise, read};

}  // namespace isleway::formats
