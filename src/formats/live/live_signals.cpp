#include "isleway/formats/live_signals.hpp"

#include <sys/statvfs.h>

#include <algorithm>

#include "formats/live/nvml_signals.hpp"
#include "formats/live/pci_config.hpp"
#include "formats/path_facts.hpp"
#include "isleway/core/file.hpp"

namespace isleway::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

class LiveReader {
 public:
  explicit LiveReader(const fs::path& root) : root_(root) {}

  SignalsRead read() {
    for (const char* path : {"/proc/driver/nvidia/version", "/proc/self/status",
                             "/proc/self/limits", "/etc/os-release", "/proc/modules"})
      read_output(path);
    read_file_fact("/proc/cmdline");
    read_environment();
    read_pci();
    read_nics();
    for (const char* path :
         {"/sys/class/iommu", "/sys/kernel/mm/memory_peers", "/dev/nvidia-caps-imex-channels"})
      read_listing(path);
    for (const char* path : {"/proc/sys/kernel/numa_balancing", "/sys/module/nvidia/version",
                             "/sys/class/dmi/id/product_name", "/sys/class/dmi/id/sys_vendor"})
      read_file_fact(path);
    read_shared_memory();
    name_node();
    return std::move(result_);
  }

 private:
  fs::path real(const std::string& path) const { return root_ / path.substr(1); }

  std::string content(const std::string& path) const {
    const auto text = read_file(real(path), kMostBytes);
    return text ? *text : std::string();
  }

  SignalSink sink(std::string_view text, const std::string& path) {
    return {text, {path}, result_.signals, result_.notices};
  }

  std::vector<std::string> names_in(const std::string& path) const {
    std::vector<std::string> names;
    std::error_code code;
    for (auto entry = fs::directory_iterator(real(path), code);
         !code && entry != fs::directory_iterator(); entry.increment(code))
      names.push_back(entry->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  /// A file whose form the readers of outputs know.
  void read_output(const std::string& path) {
    const std::string text = content(path);
    if (text.empty()) return;
    SignalsRead read = read_signals(text, path);
    std::move(read.signals.begin(), read.signals.end(), std::back_inserter(result_.signals));
    result_.notices.append(read.notices);
  }

  void read_file_fact(const std::string& path) {
    const std::string text = content(path);
    if (text.empty()) return;
    SignalSink one = sink(text, path);
    add_path_fact(one, path, text);
  }

  void read_listing(const std::string& path) {
    std::error_code code;
    if (!fs::is_directory(real(path), code)) {
      if (path.starts_with("/sys")) sink("", path).number("sysfs.missing", path, 1);
      return;
    }
    SignalSink one = sink("", path);
    const auto names = names_in(path);
    for (const std::string& name : names) add_listed_fact(one, path, name);
    if (path.ends_with("memory_peers") && names.empty())
      one.number("peermem.registered", "nv_mem", 0);
  }

  /// Entries end in NUL.
  void read_environment() {
    std::string text = content("/proc/self/environ");
    std::replace(text.begin(), text.end(), '\0', '\n');
    if (text.empty()) return;
    SignalsRead read = read_signals(text, "/proc/self/environ");
    for (Signal& one : read.signals)
      if (one.name == "env") result_.signals.push_back(std::move(one));
  }

  /// Bridges, GPUs and NICs; what else hangs on PCIe does not matter here.
  void read_pci() {
    const std::string devices = "/sys/bus/pci/devices";
    const auto names = names_in(devices);
    if (names.empty()) {
      sink("", devices).number("sysfs.missing", devices, 1);
      result_.notices.incomplete({devices}, "no PCI devices: hidden in this container or sandbox");
    }
    double switches = 0;
    for (const std::string& name : names) {
      const std::string path = devices + "/" + name;
      const std::string kind = content(path + "/class");
      const bool is_bridge = kind.starts_with("0x0604"), is_switch = kind.starts_with("0x0680");
      if (!is_bridge && !is_switch && !kind.starts_with("0x03") && !kind.starts_with("0x02"))
        continue;
      switches += is_switch && content(path + "/vendor").starts_with("0x10de") ? 1 : 0;
      for (const char* file : {"class", "current_link_speed", "current_link_width",
                               "max_link_speed", "max_link_width", "numa_node"})
        read_file_fact(path + "/" + file);
      read_place(path, name);
      if (const auto acs = acs_control(content(path + "/config"))) {
        SignalSink one = sink("", path + "/config");
        one.text("pcie.acs", bus_address(name), *acs);
        const bool redirects = contains(*acs, "ReqRedir+") || contains(*acs, "CmpltRedir+");
        one.number("pcie.acs_redirect", bus_address(name), redirects ? 1 : 0);
      }
    }
    if (!names.empty()) sink("", devices).number("nvswitch.count", "", switches);
  }

  /// The device's directory lies in that of the bridge above it.
  void read_place(const std::string& path, const std::string& name) {
    std::error_code code;
    const fs::path place = fs::read_symlink(real(path), code);
    if (code) return;
    const std::string parent = place.parent_path().filename().string();
    if (find_bus_address(parent) == parent && !parent.empty())
      sink("", path).text("pcie.parent", bus_address(name), bus_address(parent));
  }

  void read_nics() {
    const std::string folder = "/sys/class/infiniband";
    for (const std::string& nic : names_in(folder)) {
      const std::string path = folder + "/" + nic;
      for (const char* file : {"fw_ver", "hca_type", "board_id", "node_guid"})
        read_file_fact(path + "/" + file);
      for (const std::string& port : names_in(path + "/ports")) {
        const std::string at = path + "/ports/" + port;
        for (const char* file : {"rate", "state", "phys_state", "link_layer"})
          read_file_fact(at + "/" + file);
        for (const std::string& counter : names_in(at + "/counters"))
          read_file_fact(at + "/counters/" + counter);
      }
    }
  }

  void read_shared_memory() {
    struct statvfs room {};
    if (statvfs(real("/dev/shm").c_str(), &room) != 0) return;
    SignalSink one = sink("", "/dev/shm");
    const double block = static_cast<double>(room.f_frsize) * 1e-6;
    one.number("shm.size_MB", "", block * static_cast<double>(room.f_blocks));
    one.number("shm.available_MB", "", block * static_cast<double>(room.f_bavail));
  }

  void name_node() {
    const std::string text = content("/proc/sys/kernel/hostname");
    if (const auto name = trim(text); !name.empty()) result_.nodes.emplace_back(name);
  }

  const fs::path& root_;
  SignalsRead result_;
};

/// What was asked and answered, where no file's line says it.
std::string evidence(const Signal& one) {
  const auto* text = std::get_if<std::string>(&one.value);
  std::string value = text ? *text : std::to_string(std::get<double>(one.value));
  if (!text) value = value.substr(0, value.find_last_not_of('0') + 1);
  if (value.ends_with(".")) value.pop_back();
  return (one.subject.empty() ? one.name : one.name + " of " + one.subject) + ": " + value;
}

}  // namespace

SignalsRead read_live_signals(const LiveSources& sources) {
  SignalsRead result = LiveReader(sources.root).read();
  if (!sources.nvml_library.empty()) {
    if (const auto library = NvmlLibrary::open(sources.nvml_library))
      read_nvml(library->functions(), result.signals, result.notices);
    else result.notices.skipped({"NVML"}, library.error().what);
  }
  for (Signal& one : result.signals) {
    if (!result.nodes.empty()) one.node = result.nodes[0];
    if (one.quote.empty()) one.quote = evidence(one);
  }
  return result;
}

}  // namespace isleway::formats
