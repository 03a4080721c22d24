// nvidia-smi -q and -x -q: the tree of a GPU, printed.
#include <algorithm>

#include "isleway/core/markup.hpp"
#include "virtual/smi/common.hpp"
#include "virtual/smi/report.hpp"

namespace isleway::vgpu::smi {
namespace {

constexpr std::size_t kIndent = 4, kColumn = 42;

std::string label_line(std::size_t depth, const std::string& label, const std::string& value) {
  std::string line(depth * kIndent, ' ');
  line += label;
  if (line.size() < kColumn) line.resize(kColumn, ' ');
  return line + ": " + value + "\n";
}

void print_text(const std::vector<Entry>& entries, std::size_t depth, std::string& out) {
  for (const Entry& entry : entries) {
    if (entry.label.empty()) continue;
    if (entry.below.empty() || !entry.value.empty())
      out += label_line(depth, entry.label, entry.value);
    else out += std::string(depth * kIndent, ' ') + entry.label + "\n";
    print_text(entry.below, depth + 1, out);
  }
}

void print_xml(const std::vector<Entry>& entries, std::size_t depth, std::string& out) {
  for (const Entry& entry : entries) {
    const std::string tabs(depth, '\t');
    const bool leaf = entry.below.empty();
    if (!entry.tag.empty() && (leaf || !entry.value.empty()))
      out += fmt::format("{0}<{1}>{2}</{1}>\n", tabs, entry.tag, escape_markup(entry.value));
    if (leaf) continue;
    if (entry.tag.empty() || !entry.value.empty()) {
      print_xml(entry.below, depth, out);
      continue;
    }
    out += fmt::format("{}<{}>\n", tabs, entry.tag);
    print_xml(entry.below, depth + 1, out);
    out += fmt::format("{}</{}>\n", tabs, entry.tag);
  }
}

/// The sections that were asked for.
std::vector<Entry> wanted(std::vector<Entry> all, const Query& query) {
  if (query.sections.empty()) return all;
  std::erase_if(all, [&](const Entry& entry) {
    return std::find(query.sections.begin(), query.sections.end(), entry.label) ==
           query.sections.end();
  });
  return all;
}

std::string cuda_version() {
  return fmt::format("{}.{}", nvml::kCudaVersion / 1000, nvml::kCudaVersion % 1000 / 10);
}

std::string as_text(nvml::Monitor& monitor, const Query& query, const Selection& selection) {
  const auto gpus = monitor.node().gpus();
  std::string out = "\n==============NVSMI LOG==============\n\n";
  out += label_line(0, "Timestamp", time_text(monitor.world().now()));
  out += label_line(0, "Driver Version", std::string(nvml::kDriverVersion));
  out += label_line(0, "CUDA Version", cuda_version());
  out += "\n" + label_line(0, "Attached GPUs", fmt::format("{}", gpus.size()));
  for (const nvml::Gpu& gpu : gpus) {
    if (!is_chosen(selection, gpu)) continue;
    if (gpu.lost) {
      out += lost(gpu);
      continue;
    }
    out += fmt::format("GPU {}\n", gpu.pci.text());
    print_text(wanted(describe(monitor, gpu), query), 1, out);
    out += "\n";
  }
  return out;
}

std::string as_xml(nvml::Monitor& monitor, const Query& query, const Selection& selection) {
  const auto gpus = monitor.node().gpus();
  std::string out = fmt::format(
      "<?xml version=\"1.0\" ?>\n"
      "<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v13.dtd\">\n"
      "<nvidia_smi_log>\n"
      "\t<timestamp>{}</timestamp>\n"
      "\t<driver_version>{}</driver_version>\n"
      "\t<cuda_version>{}</cuda_version>\n"
      "\t<attached_gpus>{}</attached_gpus>\n",
      time_text(monitor.world().now()), nvml::kDriverVersion, cuda_version(), gpus.size());
  for (const nvml::Gpu& gpu : gpus) {
    if (!is_chosen(selection, gpu)) continue;
    out += fmt::format("\t<gpu id=\"{}\">\n", gpu.pci.text());
    if (gpu.lost) out += "\t\t<product_name>GPU is lost</product_name>\n";
    else print_xml(wanted(describe(monitor, gpu), query), 2, out);
    out += "\t</gpu>\n\n";
  }
  return out + "</nvidia_smi_log>\n";
}

}  // namespace

std::vector<Entry> describe(nvml::Monitor& monitor, const nvml::Gpu& gpu) {
  std::vector<Entry> all;
  for (const auto part : {describe_identity, describe_state, describe_memory, describe_fabric}) {
    std::vector<Entry> entries = part(monitor, gpu);
    std::move(entries.begin(), entries.end(), std::back_inserter(all));
  }
  return all;
}

std::string query(nvml::Monitor& monitor, const Query& query, const Selection& selection) {
  return query.xml ? as_xml(monitor, query, selection) : as_text(monitor, query, selection);
}

}  // namespace isleway::vgpu::smi
