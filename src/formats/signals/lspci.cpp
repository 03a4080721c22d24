// lspci: one line a device, -nn with numbers, -vv and -vvv with capabilities.
#include <map>

#include "formats/pci.hpp"
#include "formats/signal_sink.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr std::string_view kNvidia = "NVIDIA Corporation";

/// "19:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330] (rev a1)"
struct DeviceLine {
  std::string address;
  std::string_view kind, name, id;
};
std::optional<DeviceLine> device_line(std::string_view line) {
  if (line.empty() || line[0] == ' ' || line[0] == '\t') return std::nullopt;
  const std::string_view address = before(line, " ");
  if (address.size() == line.size() || find_bus_address(address) != address) return std::nullopt;
  const std::string_view rest = trim(line.substr(address.size()));
  const std::size_t colon = rest.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  DeviceLine device{
      bus_address(address), trim(before(rest.substr(0, colon), " [")), rest.substr(colon + 2), {}};
  // The last brackets hold vendor and device; names have brackets of their own.
  for (std::size_t at = device.name.find('['); at != std::string_view::npos;
       at = device.name.find('[', at + 1))
    if (device.name.size() > at + 10 && device.name[at + 5] == ':' && device.name[at + 10] == ']')
      device.id = device.name.substr(at + 1, 9);
  device.name = trim(before(device.name, " (rev"));
  return device;
}

class LspciReader {
 public:
  explicit LspciReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      const std::string_view line = sink_.line(i);
      sink_.at(i);
      if (const auto device = device_line(line)) begin(*device, i);
      else if (!device_.empty() || contains(line, "ACSCtl:")) take(trim(line));
    }
    add_parents();
    count_switches();
  }

 private:
  struct Place {
    std::string address;
    std::size_t line;
  };

  void begin(const DeviceLine& device, std::size_t i) {
    device_ = device.address;
    devices_.push_back({device_, i});
    sink_.text("pcie.class", device_, device.kind);
    sink_.text("pcie.device", device_, device.name);
    if (!device.id.empty()) sink_.text("pcie.id", device_, device.id);
    if (!contains(device.name, kNvidia)) return;
    const bool is_gpu = device.kind.starts_with("3D") || device.kind.starts_with("VGA");
    if (is_gpu) ++gpus_;
    // HGX's switches are bridges of NVIDIA that are not PCI bridges.
    if (device.kind == "Bridge" || contains(device.name, "NVSwitch")) {
      if (switches_ == 0) first_switch_ = i;
      ++switches_;
    }
  }

  void take(std::string_view line) {
    if (line.starts_with("LnkCap:")) take_link(line, "pcie.generation_max", "pcie.width_max");
    else if (line.starts_with("LnkSta:")) take_status(line);
    else if (line.starts_with("ACSCtl:")) take_acs(trim(line.substr(7)));
    else if (line.starts_with("NUMA node:")) sink_.measure("pcie.numa", device_, line.substr(10));
    else if (line.starts_with("IOMMU group:"))
      sink_.measure("pcie.iommu_group", device_, line.substr(12));
    else if (line.starts_with("DevSta:")) take_errors(line);
    else if (line.starts_with("Bus: primary=")) take_bus(line);
    else if (line.starts_with("Kernel driver in use:"))
      sink_.text("pcie.driver", device_, line.substr(21));
  }

  void take_link(std::string_view line, std::string_view generation, std::string_view width) {
    if (const int g = pcie_generation(speed_word(line))) sink_.number(generation, device_, g);
    const auto lanes = leading_number(after(line, "Width x"));
    if (lanes && *lanes > 0) sink_.number(width, device_, *lanes);
  }

  static std::string speed_word(std::string_view line) {
    const auto speed = leading_number(after(line, "Speed "));
    return speed ? std::string(before(after(line, "Speed "), "GT/s")) : std::string();
  }

  void take_status(std::string_view line) {
    take_link(line, "pcie.generation", "pcie.width");
    const std::string_view speed = before(after(line, "Speed "), ",");
    const std::string_view width = after(line, "Width ");
    if (contains(speed, "downgraded")) sink_.text("pcie.downgraded", device_, "speed");
    if (contains(before(width, ","), "downgraded")) sink_.text("pcie.downgraded", device_, "width");
  }

  void take_acs(std::string_view flags) {
    sink_.text("pcie.acs", device_, flags);
    const bool redirects = contains(flags, "ReqRedir+") || contains(flags, "CmpltRedir+");
    sink_.number("pcie.acs_redirect", device_, redirects ? 1 : 0);
  }

  void take_errors(std::string_view line) {
    std::string set;
    for (const std::string_view word : split_words(line))
      if (word.ends_with("+") && (contains(word, "Err") || word == "UnsupReq+"))
        set += (set.empty() ? "" : " ") + std::string(word);
    sink_.text("pcie.errors", device_, set);
  }

  /// "Bus: primary=15, secondary=16, subordinate=1f, sec-latency=0"
  void take_bus(std::string_view line) {
    const std::string_view secondary = before(after(line, "secondary="), ",");
    if (secondary.size() == 2) bridges_[device_.substr(0, 5) + to_lower(secondary)] = device_;
  }

  void add_parents() {
    for (const Place& device : devices_) {
      const auto bridge = bridges_.find(device.address.substr(0, 7));
      if (bridge == bridges_.end() || bridge->second == device.address) continue;
      sink_.at(device.line);
      sink_.text("pcie.parent", device.address, bridge->second);
    }
  }

  /// None is a fact only where the list is of all devices.
  void count_switches() {
    const bool whole =
        devices_.size() >= 5 && gpus_ > 0 && gpus_ < static_cast<int>(devices_.size());
    if (switches_ == 0 && !whole) return;
    sink_.at(switches_ > 0 ? first_switch_ : devices_.front().line);
    sink_.number("nvswitch.count", "", switches_);
  }

  SignalSink& sink_;
  std::string device_;
  int gpus_ = 0, switches_ = 0;
  std::size_t first_switch_ = 0;
  std::vector<Place> devices_;
  std::map<std::string, std::string> bridges_;  ///< "0000:16": the bridge to this bus
};

int recognise(const TextIndex& text) {
  if (text.has("LnkSta:") || text.has("ACSCtl:")) return 90;
  int devices = 0;
  for (const char* kind : {"PCI bridge", "3D controller", "VGA compatible controller",
                           "Ethernet controller", "Infiniband controller", "Host bridge",
                           "Non-Volatile memory", "Bridge: NVIDIA", "Bridge [0680]"})
    devices += text.has(kind) ? 1 : 0;
  return devices > 0 ? 75 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  LspciReader(sink).read();
}

}  // namespace

extern const SignalReader lspci_signals;
const SignalReader lspci_signals = {"lspci", "lspci", recognise, read};

}  // namespace isleway::formats
