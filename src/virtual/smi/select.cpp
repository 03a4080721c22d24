// nvidia-smi -i and -d: which GPUs, and which parts of -q.
#include <algorithm>

#include "isleway/core/text.hpp"
#include "virtual/smi/common.hpp"
#include "virtual/smi/report.hpp"

namespace isleway::vgpu::smi {
namespace {

/// Sections as -d names them, and what of -q belongs to them, by the labels of its first level.
struct Section {
  std::string_view name;
  std::initializer_list<std::string_view> labels;
};
const Section kSections[] = {
    {"MEMORY", {"FB Memory Usage", "BAR1 Memory Usage", "Conf Compute Protected Memory Usage"}},
    {"UTILIZATION", {"Utilization"}},
    {"ECC", {"ECC Mode", "ECC Errors"}},
    {"TEMPERATURE", {"Temperature"}},
    {"POWER", {"GPU Power Readings"}},
    {"CLOCK",
     {"Clocks", "Applications Clocks", "Default Applications Clocks", "Deferred Clocks",
      "Max Clocks", "Max Customer Boost Clocks", "Clock Policy"}},
    {"COMPUTE", {"Compute Mode"}},
    {"PIDS", {"Processes"}},
    {"PERFORMANCE", {"Performance State", "Clocks Event Reasons", "Sparse Operation Mode"}},
    {"PAGE_RETIREMENT", {"Retired Pages"}},
    {"ACCOUNTING", {"Accounting Mode", "Accounting Mode Buffer Size"}},
    {"ENCODER_STATS", {"Encoder Stats"}},
    {"FBC_STATS", {"FBC Stats"}},
    {"ROW_REMAPPER", {"Remapped Rows"}},
    {"FABRIC", {"Fabric"}},
};

tl::unexpected<Error> no_gpu(nvml::Monitor& monitor, std::string_view id) {
  return fail(
      fmt::format("there is no GPU \"{}\" on this node", id),
      fmt::format("an index below {}, a UUID, or a PCI bus id", monitor.node().gpus().size()));
}

}  // namespace

Result<Selection> select_gpus(nvml::Monitor& monitor, std::string_view ids) {
  Selection selection;
  if (ids.empty()) return selection;
  for (const std::string_view id : split(ids, ',')) {
    const auto index = parse_int(trim(id));
    const auto address = parse_pci_address(trim(id));
    const auto& gpus = monitor.node().gpus();
    const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const nvml::Gpu& gpu) {
      if (index) return gpu.index == *index;
      return equal_ignoring_case(gpu.uuid_name(), trim(id)) || (address && gpu.pci == *address);
    });
    if (found == gpus.end()) return no_gpu(monitor, trim(id));
    selection.push_back(found->index);
  }
  return selection;
}

Result<std::vector<std::string>> sections_of(std::string_view names) {
  std::vector<std::string> labels;
  if (names.empty()) return labels;
  for (const std::string_view name : split(names, ',')) {
    const auto found = std::find_if(
        std::begin(kSections), std::end(kSections),
        [&](const Section& section) { return equal_ignoring_case(section.name, trim(name)); });
    if (found == std::end(kSections)) {
      std::string known;
      for (const Section& section : kSections)
        known += (known.empty() ? "" : ", ") + std::string(section.name);
      return fail(fmt::format("\"{}\" is no part of -q", trim(name)), known);
    }
    labels.insert(labels.end(), found->labels.begin(), found->labels.end());
  }
  return labels;
}

}  // namespace isleway::vgpu::smi
