#include "formats/path_facts.hpp"

#include "formats/counter_names.hpp"
#include "formats/kernel_lines.hpp"
#include "formats/pci.hpp"

namespace isleway::formats {
namespace {

/// "mlx5_0/port1" and "rate" of /sys/class/infiniband/mlx5_0/ports/1/rate.
void add_port_fact(SignalSink& sink, std::string_view path, std::string_view value) {
  const auto parts = split(after(path, "/infiniband/"), '/');
  if (parts.empty() || parts[0].empty()) return;
  const std::string nic(parts[0]);
  if (parts.size() == 2) {
    if (parts[1] == "fw_ver") sink.text("nic.firmware", nic, value);
    if (parts[1] == "hca_type") sink.text("nic.type", nic, value);
    if (parts[1] == "board_id") sink.text("nic.board", nic, value);
    if (parts[1] == "node_guid") sink.text("nic.guid", nic, value);
    return;
  }
  if (parts.size() < 4 || parts[1] != "ports") return;
  const std::string port = nic + "/port" + std::string(parts[2]);
  const std::string_view name = parts.back();
  if (parts[3] == "counters" || parts[3] == "hw_counters") {
    if (const auto count = parse_double(value)) sink.number(counter_signal(name), port, *count);
  } else if (name == "rate") {
    sink.measure("nic.rate_Gbs", port, value);
  } else if (name == "link_layer") {
    sink.text("nic.link_layer", port, value);
  } else if (name == "state" || name == "phys_state") {
    const std::string_view word = trim(after(value, ":"));
    std::string state = to_lower(word.empty() ? value : word);
    if (name == "phys_state") return sink.text("nic.physical_state", port, word);
    if (!state.empty() && state[0] >= 'a' && state[0] <= 'z')
      state[0] = static_cast<char>(state[0] - 'a' + 'A');
    sink.text("nic.state", port, state);
  }
}

void add_pci_fact(SignalSink& sink, std::string_view path, std::string_view value) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = path.substr(slash + 1);
  const std::string_view directory = path.substr(0, slash);
  // The device is the last address of the path; those before it are its bridges.
  const std::string_view last = directory.substr(directory.rfind('/') + 1);
  if (find_bus_address(last) != last || last.empty()) return;
  const std::string device = bus_address(last);
  if (name == "current_link_speed" || name == "max_link_speed") {
    if (const int g = pcie_generation(value))
      sink.number(name[0] == 'c' ? "pcie.generation" : "pcie.generation_max", device, g);
  } else if (name == "current_link_width" || name == "max_link_width") {
    const auto width = leading_number(value);
    if (width && *width > 0 && *width < 64)
      sink.number(name[0] == 'c' ? "pcie.width" : "pcie.width_max", device, *width);
  } else if (name == "numa_node") {
    sink.measure("pcie.numa", device, value);
  } else if (name == "class") {
    sink.text("pcie.class_code", device, value);
  }
}

}  // namespace

void add_path_fact(SignalSink& sink, std::string_view path, std::string_view content) {
  const std::string_view value = trim(content);
  if (path == "/proc/cmdline") return add_kernel_parameters(sink, value);
  sink.text("sysfs", path, value.substr(0, 500));
  if (contains(path, "/infiniband/")) add_port_fact(sink, path, value);
  else if (contains(path, "/pci")) add_pci_fact(sink, path, value);
  else if (path.ends_with("/numa_balancing")) sink.measure("kernel.numa_balancing", "", value);
  else if (path.ends_with("/iommu_group/type") || contains(path, "/iommu_groups/"))
    if (path.ends_with("/type"))
      sink.text("iommu.state", "", contains(value, "identity") ? "passthrough" : "translated");
}

void add_listed_fact(SignalSink& sink, std::string_view directory, std::string_view entry) {
  while (directory.size() > 1 && directory.ends_with("/")) directory.remove_suffix(1);
  sink.text("sysfs.listed", directory, entry);
  if (directory == "/sys/class/iommu") sink.number("iommu.unit", entry, 1);
  if (directory.ends_with("/memory_peers")) sink.number("peermem.registered", entry, 1);
  if (directory.ends_with("/nvidia-caps-imex-channels")) sink.number("imex.channel", entry, 1);
}

}  // namespace isleway::formats
