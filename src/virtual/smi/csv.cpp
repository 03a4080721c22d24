// nvidia-smi --query-gpu=... --format=csv: values out of what -q tells, under names of their own.
#include <algorithm>

#include "isleway/core/text.hpp"
#include "virtual/smi/common.hpp"
#include "virtual/smi/report.hpp"

namespace isleway::vgpu::smi {
namespace {

/// Where -x has the value, with "/" between tags; the unit that the heading names and
/// --format=nounits leaves out.
struct Field {
  std::string_view name, path, unit = {};
  bool bare = false;  ///< the unit is never printed
};
constexpr Field kFields[] = {
    {"name", "product_name"},
    {"gpu_name", "product_name"},
    {"uuid", "uuid"},
    {"gpu_uuid", "uuid"},
    {"serial", "serial"},
    {"gpu_serial", "serial"},
    {"pci.bus_id", "pci/pci_bus_id"},
    {"gpu_bus_id", "pci/pci_bus_id"},
    {"pci.domain", "pci/pci_domain"},
    {"pci.bus", "pci/pci_bus"},
    {"pci.device", "pci/pci_device"},
    {"pci.device_id", "pci/pci_device_id"},
    {"pci.sub_device_id", "pci/pci_sub_system_id"},
    {"pcie.link.gen.current", "pci/pci_gpu_link_info/pcie_gen/current_link_gen"},
    {"pcie.link.gen.gpucurrent", "pci/pci_gpu_link_info/pcie_gen/current_link_gen"},
    {"pcie.link.gen.max", "pci/pci_gpu_link_info/pcie_gen/max_link_gen"},
    {"pcie.link.gen.gpumax", "pci/pci_gpu_link_info/pcie_gen/max_device_link_gen"},
    {"pcie.link.width.current", "pci/pci_gpu_link_info/link_widths/current_link_width", "x", true},
    {"pcie.link.width.max", "pci/pci_gpu_link_info/link_widths/max_link_width", "x", true},
    {"display_mode", "display_mode"},
    {"display_attached", "display_attached"},
    {"display_active", "display_active"},
    {"persistence_mode", "persistence_mode"},
    {"accounting.mode", "accounting_mode"},
    {"addressing_mode", "addressing_mode"},
    {"vbios_version", "vbios_version"},
    {"inforom.img", "inforom_version/img_version"},
    {"inforom.image", "inforom_version/img_version"},
    {"inforom.oem", "inforom_version/oem_object"},
    {"inforom.ecc", "inforom_version/ecc_object"},
    {"fan.speed", "fan_speed", "%"},
    {"pstate", "performance_state"},
    {"memory.total", "fb_memory_usage/total", "MiB"},
    {"memory.reserved", "fb_memory_usage/reserved", "MiB"},
    {"memory.used", "fb_memory_usage/used", "MiB"},
    {"memory.free", "fb_memory_usage/free", "MiB"},
    {"compute_mode", "compute_mode"},
    {"utilization.gpu", "utilization/gpu_util", "%"},
    {"utilization.memory", "utilization/memory_util", "%"},
    {"ecc.mode.current", "ecc_mode/current_ecc"},
    {"ecc.mode.pending", "ecc_mode/pending_ecc"},
    {"ecc.errors.corrected.volatile.total", "ecc_errors/volatile/dram_correctable"},
    {"ecc.errors.corrected.aggregate.total", "ecc_errors/aggregate/dram_correctable"},
    {"ecc.errors.uncorrected.volatile.total", "ecc_errors/volatile/dram_uncorrectable"},
    {"ecc.errors.uncorrected.aggregate.total", "ecc_errors/aggregate/dram_uncorrectable"},
    {"remapped_rows.correctable", "remapped_rows/remapped_row_corr"},
    {"remapped_rows.uncorrectable", "remapped_rows/remapped_row_unc"},
    {"remapped_rows.pending", "remapped_rows/remapped_row_pending"},
    {"remapped_rows.failure", "remapped_rows/remapped_row_failure"},
    {"temperature.gpu", "temperature/gpu_temp", "C", true},
    {"temperature.memory", "temperature/memory_temp", "C", true},
    {"power.draw", "gpu_power_readings/average_power_draw", "W"},
    {"power.draw.average", "gpu_power_readings/average_power_draw", "W"},
    {"power.draw.instant", "gpu_power_readings/instant_power_draw", "W"},
    {"power.limit", "gpu_power_readings/current_power_limit", "W"},
    {"enforced.power.limit", "gpu_power_readings/current_power_limit", "W"},
    {"power.default_limit", "gpu_power_readings/default_power_limit", "W"},
    {"power.min_limit", "gpu_power_readings/min_power_limit", "W"},
    {"power.max_limit", "gpu_power_readings/max_power_limit", "W"},
    {"clocks.gr", "clocks/graphics_clock", "MHz"},
    {"clocks.current.graphics", "clocks/graphics_clock", "MHz"},
    {"clocks.sm", "clocks/sm_clock", "MHz"},
    {"clocks.current.sm", "clocks/sm_clock", "MHz"},
    {"clocks.mem", "clocks/mem_clock", "MHz"},
    {"clocks.current.memory", "clocks/mem_clock", "MHz"},
    {"clocks.max.sm", "max_clocks/sm_clock", "MHz"},
    {"clocks.max.gr", "max_clocks/graphics_clock", "MHz"},
    {"clocks.max.mem", "max_clocks/mem_clock", "MHz"},
    {"mig.mode.current", "mig_mode/current_mig"},
    {"mig.mode.pending", "mig_mode/pending_mig"},
    {"fabric.state", "fabric/state"},
    {"fabric.status", "fabric/status"},
    {"gpu_recovery_action", "gpu_recovery_action"},
};
/// Of the node, not of a GPU.
constexpr Field kOthers[] = {
    {"timestamp", ""}, {"driver_version", ""}, {"count", ""}, {"index", ""}};

const Field* find_field(std::string_view name) {
  for (const Field& field : kFields)
    if (field.name == name) return &field;
  for (const Field& field : kOthers)
    if (field.name == name) return &field;
  return nullptr;
}

/// Headings without a tag hold what belongs to the one above.
const Entry* find_entry(const std::vector<Entry>& entries, std::string_view path) {
  const std::string_view tag = path.substr(0, path.find('/'));
  for (const Entry& entry : entries) {
    if (entry.tag.empty()) {
      if (const Entry* below = find_entry(entry.below, path)) return below;
      continue;
    }
    if (entry.tag != tag) continue;
    if (tag.size() == path.size()) return &entry;
    if (const Entry* below = find_entry(entry.below, path.substr(tag.size() + 1))) return below;
  }
  return nullptr;
}

std::string without(std::string value, std::string_view unit) {
  if (unit.empty() || !value.ends_with(unit)) return value;
  value.resize(value.size() - unit.size());
  return std::string(trim(value));
}

std::string value_of(nvml::Monitor& monitor, const nvml::Gpu& gpu,
                     const std::vector<Entry>& entries, const Field& field, bool units) {
  if (field.name == "timestamp") return time_text(monitor.world().now());
  if (field.name == "driver_version") return std::string(nvml::kDriverVersion);
  if (field.name == "count") return fmt::format("{}", monitor.node().gpus().size());
  if (field.name == "index") return fmt::format("{}", gpu.index);
  if (gpu.lost) return "[GPU is lost]";
  const Entry* entry = find_entry(entries, field.path);
  if (entry == nullptr || entry->value.empty() || entry->value == kNotKnown) return "[N/A]";
  return units && !field.bare ? entry->value : without(entry->value, field.unit);
}

}  // namespace

Result<std::string> csv(nvml::Monitor& monitor, const Selection& selection, std::string_view names,
                        std::string_view format) {
  const std::vector<std::string_view> words = split(format, ',');
  const auto says = [&](std::string_view word) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view given) { return trim(given) == word; });
  };
  if (!says("csv"))
    return fail("--query-gpu needs to know how to print", "--format=csv[,noheader][,nounits]");
  const bool units = !says("nounits");
  std::vector<const Field*> fields;
  std::string out;
  for (const std::string_view name : split(names, ',')) {
    const Field* field = find_field(trim(name));
    if (field == nullptr) {
      std::vector<std::string> known;
      for (const Field& other : kFields) known.emplace_back(other.name);
      return fail(fmt::format("Field \"{}\" is not a valid field to query.", trim(name)),
                  "a field that nvidia-smi --help-query-gpu lists", closest(trim(name), known));
    }
    fields.push_back(field);
    const bool told = units && !field->unit.empty() && !field->bare;
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", trim(name),
                       told ? fmt::format(" [{}]", field->unit) : "");
  }
  out = says("noheader") ? "" : out + "\n";
  for (const nvml::Gpu& gpu : monitor.node().gpus()) {
    if (!is_chosen(selection, gpu)) continue;
    const std::vector<Entry> entries = gpu.lost ? std::vector<Entry>() : describe(monitor, gpu);
    std::string line;
    for (const Field* field : fields)
      line += (line.empty() ? "" : ", ") + value_of(monitor, gpu, entries, *field, units);
    out += line + "\n";
  }
  return out;
}

}  // namespace isleway::vgpu::smi
