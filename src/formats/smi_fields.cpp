#include "formats/smi_fields.hpp"

#include <array>

#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

using K = SmiField::Kind;

constexpr SmiField kFields[] = {
    {"product_name", "/Product Name", "name", "gpu.name", "", K::text},
    {"product_brand", "/Product Brand", "", "gpu.brand", "", K::text},
    {"product_architecture", "/Product Architecture", "", "gpu.architecture", "", K::text},
    {"persistence_mode", "/Persistence Mode", "persistence_mode", "gpu.persistence", "", K::text},
    {"addressing_mode", "/Addressing Mode", "addressing_mode", "gpu.addressing", "", K::text},
    {"c2c_mode", "/C2C Mode", "c2c.mode", "gpu.c2c", "", K::text},
    {"serial", "/Serial Number", "serial", "gpu.serial", "", K::text},
    {"uuid", "/GPU UUID", "uuid", "gpu.uuid", "", K::text},
    {"vbios_version", "/VBIOS Version", "vbios_version", "gpu.vbios", "", K::text},
    {"board_part_number", "/Board Part Number", "", "gpu.board_part", "", K::text},
    {"gpu_part_number", "/GPU Part Number", "", "gpu.part", "", K::text},
    {"gsp_firmware_version", "/GSP Firmware Version", "gsp.mode.current", "gpu.firmware", "",
     K::text},
    {"gpu_recovery_action", "/GPU Recovery Action", "gpu_recovery_action", "gpu.recovery_action",
     "", K::text},
    {"performance_state", "/Performance State", "pstate", "gpu.pstate", "", K::text},
    {"compute_mode", "/Compute Mode", "compute_mode", "gpu.compute_mode", "", K::text},
    {"gpu_virtualization_mode/virtualization_mode", "GPU Virtualization Mode/Virtualization Mode",
     "", "gpu.virtualization", "", K::text},
    {"capabilities/egm", "Capabilities/EGM", "", "gpu.egm", "", K::text},
    {"mig_mode/current_mig", "MIG Mode/Current", "mig.mode.current", "mig.mode", "", K::state},
    {"mig_mode/pending_mig", "MIG Mode/Pending", "mig.mode.pending", "mig.pending", "", K::state},
    {"platformInfo/chassis_serial_number", "Platform Info/Chassis Serial Number",
     "platform.chassis_serial_number", "platform.chassis", "", K::text},
    {"platformInfo/slot_number", "Platform Info/Slot Number", "platform.slot_number",
     "platform.slot", "", K::text},
    {"platformInfo/tray_index", "Platform Info/Tray Index", "platform.tray_index", "platform.tray",
     "", K::text},
    {"platformInfo/host_id", "Platform Info/Host ID", "platform.host_id", "platform.host", "",
     K::text},
    {"platformInfo/peer_type", "Platform Info/Peer Type", "platform.peer_type",
     "platform.peer_type", "", K::text},
    {"platformInfo/module_id", "Platform Info/Module Id", "platform.module_id", "platform.module",
     "", K::text},
    {"pci/pci_bus_id", "PCI/Bus Id", "pci.bus_id", "gpu.bus_id", "", K::bus},
    {"pci/pci_gpu_link_info/pcie_gen/current_link_gen", "PCIe Generation/Current",
     "pcie.link.gen.current", "pcie.generation", "", K::number},
    {"pci/pci_gpu_link_info/pcie_gen/max_link_gen", "PCIe Generation/Max", "pcie.link.gen.max",
     "pcie.generation_max", "", K::number},
    {"pci/pci_gpu_link_info/pcie_gen/max_device_link_gen", "PCIe Generation/Device Max",
     "pcie.link.gen.gpumax", "pcie.generation_gpu", "", K::number},
    {"pci/pci_gpu_link_info/pcie_gen/max_host_link_gen", "PCIe Generation/Host Max",
     "pcie.link.gen.hostmax", "pcie.generation_host", "", K::number},
    {"pci/pci_gpu_link_info/link_widths/current_link_width", "Link Width/Current",
     "pcie.link.width.current", "pcie.width", "", K::number},
    {"pci/pci_gpu_link_info/link_widths/max_link_width", "Link Width/Max", "pcie.link.width.max",
     "pcie.width_max", "", K::number},
    {"pci/replay_counter", "PCI/Replays Since Reset", "pcie.replay_counter", "pcie.replays", "",
     K::number},
    {"fb_memory_usage/total", "FB Memory Usage/Total", "memory.total", "gpu.memory_MiB", "",
     K::number},
    {"fb_memory_usage/used", "FB Memory Usage/Used", "memory.used", "gpu.memory_used_MiB", "",
     K::number},
    {"bar1_memory_usage/total", "BAR1 Memory Usage/Total", "", "gpu.bar1_MiB", "", K::number},
    {"utilization/gpu_util", "Utilization/GPU", "utilization.gpu", "gpu.utilization_percent", "",
     K::number},
    {"temperature/gpu_temp", "Temperature/GPU Current Temp", "temperature.gpu", "gpu.temperature_C",
     "", K::number},
    {"gpu_power_readings/average_power_draw", "GPU Power Readings/Average Power Draw",
     "power.draw.average", "gpu.power_W", "", K::number},
    {"gpu_power_readings/power_draw", "GPU Power Readings/Power Draw", "power.draw", "gpu.power_W",
     "", K::number},
    {"power_readings/power_draw", "Power Readings/Power Draw", "", "gpu.power_W", "", K::number},
    {"gpu_power_readings/current_power_limit", "GPU Power Readings/Current Power Limit",
     "power.limit", "gpu.power_limit_W", "", K::number},
    {"power_readings/power_limit", "Power Readings/Power Limit", "enforced.power.limit",
     "gpu.power_limit_W", "", K::number},
    {"gpu_power_readings/default_power_limit", "GPU Power Readings/Default Power Limit",
     "power.default_limit", "gpu.power_default_W", "", K::number},
    {"clocks/sm_clock", "Clocks/SM", "clocks.current.sm", "gpu.clock_sm_MHz", "", K::number},
    {"", "", "clocks.sm", "gpu.clock_sm_MHz", "", K::number},
    {"max_clocks/sm_clock", "Max Clocks/SM", "clocks.max.sm", "gpu.clock_sm_max_MHz", "",
     K::number},
    {"clocks/mem_clock", "Clocks/Memory", "clocks.current.memory", "gpu.clock_memory_MHz", "",
     K::number},
    {"ecc_mode/current_ecc", "ECC Mode/Current", "ecc.mode.current", "ecc.mode", "", K::text},
    {"ecc_errors/volatile/sram_correctable", "Volatile/SRAM Correctable", "", "ecc.corrected",
     "sram", K::number},
    {"ecc_errors/volatile/sram_uncorrectable", "Volatile/SRAM Uncorrectable", "", "ecc.uncorrected",
     "sram", K::number},
    {"ecc_errors/volatile/sram_uncorrectable_parity", "Volatile/SRAM Uncorrectable Parity", "",
     "ecc.uncorrected", "sram parity", K::number},
    {"ecc_errors/volatile/sram_uncorrectable_secded", "Volatile/SRAM Uncorrectable SEC-DED", "",
     "ecc.uncorrected", "sram secded", K::number},
    {"ecc_errors/volatile/dram_correctable", "Volatile/DRAM Correctable", "", "ecc.corrected",
     "dram", K::number},
    {"ecc_errors/volatile/dram_uncorrectable", "Volatile/DRAM Uncorrectable", "", "ecc.uncorrected",
     "dram", K::number},
    {"", "", "ecc.errors.corrected.volatile.total", "ecc.corrected", "total", K::number},
    {"", "", "ecc.errors.uncorrected.volatile.total", "ecc.uncorrected", "total", K::number},
    {"", "", "ecc.errors.corrected.aggregate.total", "ecc.corrected_aggregate", "total", K::number},
    {"", "", "ecc.errors.uncorrected.aggregate.total", "ecc.uncorrected_aggregate", "total",
     K::number},
    {"ecc_errors/aggregate/sram_correctable", "Aggregate/SRAM Correctable", "",
     "ecc.corrected_aggregate", "sram", K::number},
    {"ecc_errors/aggregate/sram_uncorrectable", "Aggregate/SRAM Uncorrectable", "",
     "ecc.uncorrected_aggregate", "sram", K::number},
    {"ecc_errors/aggregate/sram_uncorrectable_parity", "Aggregate/SRAM Uncorrectable Parity", "",
     "ecc.uncorrected_aggregate", "sram parity", K::number},
    {"ecc_errors/aggregate/sram_uncorrectable_secded", "Aggregate/SRAM Uncorrectable SEC-DED", "",
     "ecc.uncorrected_aggregate", "sram secded", K::number},
    {"ecc_errors/aggregate/dram_correctable", "Aggregate/DRAM Correctable", "",
     "ecc.corrected_aggregate", "dram", K::number},
    {"ecc_errors/aggregate/dram_uncorrectable", "Aggregate/DRAM Uncorrectable", "",
     "ecc.uncorrected_aggregate", "dram", K::number},
    {"retired_pages/multiple_single_bit_retirement/retired_count", "Retired Pages/Single Bit ECC",
     "retired_pages.sbe", "pages.retired_single", "", K::number},
    {"retired_pages/double_bit_retirement/retired_count", "Retired Pages/Double Bit ECC",
     "retired_pages.dbe", "pages.retired_double", "", K::number},
    {"retired_pages/pending_retirement", "Retired Pages/Pending Page Blacklist",
     "retired_pages.pending", "pages.pending", "", K::yes_no},
    {"remapped_rows/remapped_row_corr", "Remapped Rows/Correctable Error",
     "remapped_rows.correctable", "rows.remapped_corrected", "", K::number},
    {"remapped_rows/remapped_row_unc", "Remapped Rows/Uncorrectable Error",
     "remapped_rows.uncorrectable", "rows.remapped_uncorrected", "", K::number},
    {"remapped_rows/remapped_row_pending", "Remapped Rows/Pending", "remapped_rows.pending",
     "rows.pending", "", K::yes_no},
    {"remapped_rows/remapped_row_failure", "Remapped Rows/Remapping Failure Occurred",
     "remapped_rows.failure", "rows.failed", "", K::yes_no},
    {"fabric/state", "Fabric/State", "fabric.state", "fabric.state", "", K::state},
    {"fabric/status", "Fabric/Status", "fabric.status", "fabric.status", "", K::state},
    {"fabric/cliqueId", "Fabric/CliqueId", "fabric.cliqueId", "fabric.clique", "", K::state},
    {"", "", "fabric.clique_id", "fabric.clique", "", K::state},
    {"fabric/clusterUuid", "Fabric/ClusterUUID", "fabric.clusterUuid", "fabric.cluster_uuid", "",
     K::state},
    {"", "", "fabric.cluster_uuid", "fabric.cluster_uuid", "", K::state},
    {"fabric/health/summary", "Health/Summary", "fabric.health.summary", "fabric.health", "summary",
     K::state},
    {"fabric/health/bandwidth", "Health/Bandwidth", "fabric.health.bandwidth", "fabric.health",
     "bandwidth", K::state},
    {"fabric/health/route_recovery_in_progress", "Health/Route Recovery in progress",
     "fabric.health.route_recovery_in_progress", "fabric.health", "route_recovery", K::state},
    {"fabric/health/route_unhealthy", "Health/Route Unhealthy", "fabric.health.route_unhealthy",
     "fabric.health", "route_unhealthy", K::state},
    {"fabric/health/access_timeout_recovery", "Health/Access Timeout Recovery",
     "fabric.health.access_timeout_recovery", "fabric.health", "access_timeout", K::state},
    {"fabric/health/incorrect_configuration", "Health/Incorrect Configuration",
     "fabric.health.incorrect_configuration", "fabric.health", "incorrect_configuration", K::state},
    {"clocks_event_reasons/clocks_event_reason_hw_slowdown", "Clocks Event Reasons/HW Slowdown",
     "clocks_event_reasons.hw_slowdown", "gpu.throttle", "hw_slowdown", K::active},
    {"clocks_event_reasons/clocks_event_reason_hw_thermal_slowdown",
     "Clocks Event Reasons/HW Thermal Slowdown", "clocks_event_reasons.hw_thermal_slowdown",
     "gpu.throttle", "hw_thermal_slowdown", K::active},
    {"clocks_event_reasons/clocks_event_reason_hw_power_brake_slowdown",
     "Clocks Event Reasons/HW Power Brake Slowdown", "clocks_event_reasons.hw_power_brake_slowdown",
     "gpu.throttle", "hw_power_brake", K::active},
    {"clocks_event_reasons/clocks_event_reason_sw_thermal_slowdown",
     "Clocks Event Reasons/SW Thermal Slowdown", "clocks_event_reasons.sw_thermal_slowdown",
     "gpu.throttle", "sw_thermal_slowdown", K::active},
    {"clocks_event_reasons/clocks_event_reason_sw_power_cap",
     "Clocks Event Reasons/SW Power Capping", "clocks_event_reasons.sw_power_cap", "gpu.throttle",
     "sw_power_cap", K::active},
    {"", "Clocks Event Reasons/SW Power Cap", "", "gpu.throttle", "sw_power_cap", K::active},
    {"processes", "/Processes", "", "gpu.processes", "", K::processes},
};

}  // namespace

std::span<const SmiField> smi_fields() { return kFields; }

std::string_view smi_error(std::string_view value) {
  value = trim(value);
  if (value.starts_with("[") && value.ends_with("]")) value = value.substr(1, value.size() - 2);
  for (const std::string_view error :
       {"GPU is lost", "ERR!", "Unknown Error", "GPU requires reset", "GPU reset required"})
    if (equal_ignoring_case(value, error)) return error;
  return {};
}

void add_smi_field(SignalSink& sink, const SmiField& field, const std::string& gpu,
                   std::string_view value) {
  value = trim(value);
  if (!smi_error(value).empty()) return;
  switch (field.kind) {
    case K::text:
      if (!is_unknown_value(value)) sink.text(field.signal, gpu, value, field.peer);
      break;
    case K::state: sink.text(field.signal, gpu, value, field.peer); break;
    case K::number: sink.measure(field.signal, gpu, value, field.peer); break;
    case K::yes_no:
      if (equal_ignoring_case(value, "Yes")) sink.number(field.signal, gpu, 1, field.peer);
      if (equal_ignoring_case(value, "No")) sink.number(field.signal, gpu, 0, field.peer);
      break;
    case K::active:
      if (value == "Active") sink.text(field.signal, gpu, field.peer);
      break;
    case K::bus: sink.text(field.signal, gpu, bus_address(value)); break;
    case K::processes: break;
  }
}

}  // namespace isleway::formats
