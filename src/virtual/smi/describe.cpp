// What -q tells of a GPU: who it is, how it fares.
#include <cmath>

#include "virtual/smi/common.hpp"
#include "virtual/smi/report.hpp"

namespace isleway::vgpu::smi {
namespace {

using nvml::Gpu;
using nvml::Monitor;

Entry pair(const char* label, const char* tag, const char* current_tag, const char* pending_tag,
           const std::string& value) {
  return {
      label, tag, "", {{"Current", current_tag, value, {}}, {"Pending", pending_tag, value, {}}}};
}

std::string number_or_none(int value) { return value > 0 ? fmt::format("{}", value) : kNotKnown; }
std::string width(int lanes) { return lanes > 0 ? fmt::format("{}x", lanes) : kNotKnown; }

Entry platform(Monitor& monitor, const Gpu& gpu) {
  const bool rack = gpu.fabric.spans_hosts;
  const auto only_in_rack = [&](std::string value) { return rack ? value : kNotKnown; };
  const Uuid chassis = cluster_uuid(monitor.node().healthy(), gpu.ref.unit);
  const std::string tray = fmt::format("{}", gpu.device->host);
  return {
      "Platform Info",
      "platformInfo",
      "",
      {{"Chassis Serial Number", "chassis_serial_number", only_in_rack(serial_number(chassis)), {}},
       {"Slot Number", "slot_number", only_in_rack(tray), {}},
       {"Tray Index", "tray_index", only_in_rack(tray), {}},
       {"Host ID", "host_id", only_in_rack("1"), {}},
       {"Peer Type", "peer_type", only_in_rack("Switch Connected"), {}},
       {"Module Id", "module_id", fmt::format("{}", gpu.device->index + 1), {}},
       {"GPU Fabric GUID",
        "gpu_fabric_guid",
        only_in_rack(fmt::format("0x{:016x}", nvml::device_identifier(gpu))),
        {}}}};
}

Entry pci(Monitor& monitor, const Gpu& gpu) {
  const nvml::Traffic rate = monitor.pcie_rate(gpu);
  const std::string id = fmt::format("{:08X}", nvml::pci_device_id(*gpu.device, gpu.part));
  // The text has 0x before its hexadecimal numbers, the XML has not.
  const auto hex = [](const char* label, const char* tag, const std::string& digits) {
    return std::vector<Entry>{{label, "", "0x" + digits, {}}, {"", tag, digits, {}}};
  };
  Entry all{"PCI", "pci", "", {}};
  for (const auto& entries :
       {hex("Bus", "pci_bus", fmt::format("{:02X}", gpu.pci.bus)),
        hex("Device", "pci_device", fmt::format("{:02X}", gpu.pci.device)),
        hex("Domain", "pci_domain", fmt::format("{:04X}", gpu.pci.domain)),
        hex("Base Classcode", "pci_base_class", "3"), hex("Sub Classcode", "pci_sub_class", "2"),
        hex("Device Id", "pci_device_id", id)})
    all.below.insert(all.below.end(), entries.begin(), entries.end());
  all.below.push_back({"Bus Id", "pci_bus_id", gpu.pci.text(), {}});
  for (const Entry& entry : hex("Sub System Id", "pci_sub_system_id", id))
    all.below.push_back(entry);
  const std::string now = number_or_none(gpu.pcie.generation);
  const std::string most = number_or_none(gpu.pcie.max_generation);
  all.below.push_back({"GPU Link Info",
                       "pci_gpu_link_info",
                       "",
                       {{"PCIe Generation",
                         "pcie_gen",
                         "",
                         {{"Max", "max_link_gen", most, {}},
                          {"Current", "current_link_gen", now, {}},
                          {"Device Current", "device_current_link_gen", now, {}},
                          {"Device Max", "max_device_link_gen", most, {}},
                          {"Host Max", "max_host_link_gen", kNotKnown, {}}}},
                        {"Link Width",
                         "link_widths",
                         "",
                         {{"Max", "max_link_width", width(gpu.pcie.max_width), {}},
                          {"Current", "current_link_width", width(gpu.pcie.width), {}}}}}});
  all.below.push_back({"Bridge Chip",
                       "pci_bridge_chip",
                       "",
                       {{"Type", "bridge_chip_type", kNotKnown, {}},
                        {"Firmware", "bridge_chip_fw", kNotKnown, {}}}});
  const std::vector<Entry> rest = {
      {"Replays Since Reset", "replay_counter", "0", {}},
      {"Replay Number Rollovers", "replay_rollover_counter", "0", {}},
      {"Tx Throughput", "tx_util", fmt::format("{} KB/s", rate.sent / 1000), {}},
      {"Rx Throughput", "rx_util", fmt::format("{} KB/s", rate.received / 1000), {}},
      {"Atomic Caps Outbound", "atomic_caps_outbound", kNotKnown, {}},
      {"Atomic Caps Inbound", "atomic_caps_inbound", kNotKnown, {}}};
  all.below.insert(all.below.end(), rest.begin(), rest.end());
  return all;
}

Entry event_reasons(bool idle) {
  const std::string no = "Not Active";
  return {
      "Clocks Event Reasons",
      "clocks_event_reasons",
      "",
      {{"Idle", "clocks_event_reason_gpu_idle", idle ? "Active" : no, {}},
       {"Applications Clocks Setting", "clocks_event_reason_applications_clocks_setting", no, {}},
       {"SW Power Cap", "clocks_event_reason_sw_power_cap", no, {}},
       {"HW Slowdown",
        "clocks_event_reason_hw_slowdown",
        no,
        {{"HW Thermal Slowdown", "clocks_event_reason_hw_thermal_slowdown", no, {}},
         {"HW Power Brake Slowdown", "clocks_event_reason_hw_power_brake_slowdown", no, {}}}},
       {"Sync Boost", "clocks_event_reason_sync_boost", no, {}},
       {"SW Thermal Slowdown", "clocks_event_reason_sw_thermal_slowdown", no, {}},
       {"Display Clock Setting", "clocks_event_reason_display_clocks_setting", no, {}}}};
}

std::string recovery_action(const Gpu& gpu) {
  if (!gpu.fabric.resources) return "Recover IMEX Domain";
  if (gpu.ecc_uncorrected > 0) return "Drain and Reset";
  return gpu.last_xid != 0 ? "Reset" : "None";
}

}  // namespace

std::vector<Entry> describe_identity(Monitor& monitor, const Gpu& gpu) {
  const bool c2c = monitor.node().c2c(gpu).links > 0;
  const std::string mig = !nvml::has_mig(gpu) ? kNotKnown : gpu.mig ? "Enabled" : "Disabled";
  const std::string serial = gpu.board.fan ? kNotKnown : serial_number(gpu.uuid);
  return {
      {"Product Name", "product_name", gpu.name, {}},
      {"Product Brand", "product_brand", std::string(nvml::brand_name(gpu)), {}},
      {"Product Architecture",
       "product_architecture",
       std::string(nvml::architecture_name(gpu.sm())),
       {}},
      {"Display Mode", "display_mode", "Requested functionality has been deprecated", {}},
      {"Display Attached", "display_attached", "No", {}},
      {"Display Active", "display_active", "Disabled", {}},
      {"Persistence Mode", "persistence_mode", "Enabled", {}},
      {"Addressing Mode", "addressing_mode", c2c ? "ATS" : "None", {}},
      pair("MIG Mode", "mig_mode", "current_mig", "pending_mig", mig),
      {"", "mig_devices", "None", {}},
      {"Accounting Mode", "accounting_mode", "Disabled", {}},
      {"Accounting Mode Buffer Size", "accounting_mode_buffer_size", "4000", {}},
      pair("Driver Model", "driver_model", "current_dm", "pending_dm", kNotKnown),
      {"Serial Number", "serial", serial, {}},
      {"GPU UUID", "uuid", gpu.uuid_name(), {}},
      {"GPU PDI", "pdi", fmt::format("0x{:016x}", nvml::device_identifier(gpu)), {}},
      {"Minor Number", "minor_number", fmt::format("{}", gpu.device->index), {}},
      {"VBIOS Version", "vbios_version", nvml::vbios_version(gpu), {}},
      {"MultiGPU Board", "multigpu_board", "No", {}},
      {"Board ID", "board_id", fmt::format("0x{:x}", nvml::board_id(gpu)), {}},
      {"Board Part Number", "board_part_number", nvml::board_part_number(gpu), {}},
      {"GPU Part Number", "gpu_part_number", kNotKnown, {}},
      {"FRU Part Number", "gpu_fru_part_number", kNotKnown, {}},
      platform(monitor, gpu),
      {"Inforom Version",
       "inforom_version",
       "",
       {{"Image Version", "img_version", nvml::inforom_image(gpu), {}},
        {"OEM Object", "oem_object", "2.1", {}},
        {"ECC Object", "ecc_object", gpu.board.ecc ? "7.16" : kNotKnown, {}},
        {"Power Management Object", "pwr_object", kNotKnown, {}}}},
      {"Inforom BBX Object Flush",
       "inforom_bbx_flush",
       "",
       {{"Latest Timestamp", "latest_timestamp", kNotKnown, {}},
        {"Latest Duration", "latest_duration", kNotKnown, {}}}},
      pair("GPU Operation Mode", "gpu_operation_mode", "current_gom", "pending_gom", kNotKnown),
      {"GPU C2C Mode", "c2c_mode", c2c ? "Enabled" : "Disabled", {}},
      {"GPU Virtualization Mode",
       "gpu_virtualization_mode",
       "",
       {{"Virtualization Mode", "virtualization_mode", "None", {}},
        {"Host VGPU Mode", "host_vgpu_mode", kNotKnown, {}},
        {"vGPU Heterogeneous Mode", "vgpu_heterogeneous_mode", kNotKnown, {}}}},
      {"GPU Recovery Action", "gpu_recovery_action", recovery_action(gpu), {}},
      {"GSP Firmware Version",
       "gsp_firmware_version",
       gpu.sm() >= 75 ? std::string(nvml::kDriverVersion) : kNotKnown,
       {}},
      {"IBMNPU", "ibmnpu", "", {{"Relaxed Ordering Mode", "relaxed_ordering_mode", kNotKnown, {}}}},
      pci(monitor, gpu),
  };
}

std::vector<Entry> describe_state(Monitor& monitor, const Gpu& gpu) {
  const nvml::Load load = monitor.load(gpu);
  const std::string fan =
      gpu.board.fan ? fmt::format("{:.0f} %", 30 + load.utilisation * 50) : kNotKnown;
  return {
      {"Fan Speed", "fan_speed", fan, {}},
      {"Performance State", "performance_state", "P0", {}},
      event_reasons(!(load.utilisation > 0)),
      {"Sparse Operation Mode", "sparse_operation_mode", "Disabled", {}},
  };
}

}  // namespace isleway::vgpu::smi
