// dmesg, /dev/kmsg and the journal: Xids, SXids, the driver, IOMMU, PCIe, NICs.
// Texts: the open kernel modules of NVIDIA's driver; Linux's drivers/pci, drivers/iommu.
#include <array>
#include <set>

#include "formats/kernel_lines.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

constexpr int kMostEvents = 1000;

/// "Xid (PCI:0000:dc:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x...)"
struct Event {
  std::string address;
  double code = 0;
  std::string_view text;
};
std::optional<Event> parse_event(std::string_view line, std::string_view mark) {
  const std::string_view rest = after(line, mark);
  const std::size_t close = rest.find("): ");
  if (rest.empty() || close == std::string_view::npos || close > 40) return std::nullopt;
  const auto code = leading_number(rest.substr(close + 3));
  if (!code || *code < 0 || *code > 1e6) return std::nullopt;
  return Event{bus_address(rest.substr(0, close)), *code, trim(after(rest.substr(close), ", "))};
}

std::optional<double> link_in(std::string_view text) {
  for (const std::string_view mark : {"Link ", "link "})
    for (std::size_t at = text.find(mark); at != std::string_view::npos;
         at = text.find(mark, at + 1)) {
      const auto number = leading_number(text.substr(at + mark.size()));
      if (number && text[at + mark.size()] != '.') return number;
    }
  return std::nullopt;
}

class KernelLogReader {
 public:
  explicit KernelLogReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    find_explained_sxids();
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      const KernelLine line = parse_kernel_line(sink_.line(i));
      if (line.text.empty()) continue;
      sink_.at(i, line.host);
      if (take(line) && line.time_s) sink_.number("kernel.time_s", "", *line.time_s);
    }
  }

 private:
  /// True when the line is an event, whose time matters.
  bool take(const KernelLine& line) {
    const std::string_view text = line.text;
    if (contains(text, "SXid (")) return take_sxid(text);
    if (contains(text, "Xid (")) return take_xid(text);
    if (text.starts_with("NVRM:")) return take_nvrm(trim(text.substr(5)));
    if (contains(text, "peermem") || contains(text, "nv_peer_mem")) return take_peermem(text);
    if (contains(text, "PCIe Bus Error: severity=")) return take_aer(text);
    if (contains(text, "available PCIe bandwidth, limited by")) return take_limited(text);
    if (contains(text, "fault addr") || contains(text, "IO_PAGE_FAULT")) return take_dma(text);
    if (text.starts_with("mlx5_core ")) return take_mlx5(text);
    if (take_message(text)) return true;
    take_boot(text);
    take_iommu(text);
    return false;
  }

  bool is_flood() {
    if (++events_ == kMostEvents + 1) sink_.skipped("more events of the kernel's log follow");
    return events_ > kMostEvents;
  }

  bool take_xid(std::string_view text) {
    const auto event = parse_event(text, "Xid (");
    if (!event || is_flood()) return false;
    const std::string& gpu = event->address;
    sink_.number("xid.code", gpu, event->code);
    sink_.text("xid.text", gpu, event->text);
    if (const auto link = link_in(event->text)) sink_.number("xid.link", gpu, *link);
    if (const auto cause = leading_number(after(event->text, "caused by previous Xid ")))
      sink_.number("xid.caused_by", gpu, *cause);
    const auto words = split_words(event->text);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool fatal = words[i] == "Fatal", nonfatal = words[i] == "Nonfatal";
      if (!fatal && !nonfatal) continue;
      sink_.text("xid.severity", gpu, words[i]);
      if (i > 0) sink_.text("xid.unit", gpu, words[i - 1]);
      break;
    }
    return true;
  }

  static bool explains_nothing(std::string_view text) {
    return text.starts_with("Data {") || text.starts_with("Severity ");
  }

  /// A switch's event comes as three lines; the one with words stands for all.
  void find_explained_sxids() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      if (!contains(sink_.line(i), "SXid (")) continue;
      const auto event = parse_event(sink_.line(i), "SXid (");
      if (event && !explains_nothing(event->text)) explained_.insert({event->address, event->code});
    }
  }

  bool take_sxid(std::string_view text) {
    const auto event = parse_event(text, "SXid (");
    if (!event) return false;
    if (explains_nothing(event->text) && !explained_.insert({event->address, event->code}).second)
      return false;
    if (is_flood()) return false;
    const std::string& device = event->address;
    sink_.number("sxid.code", device, event->code);
    sink_.text("sxid.text", device, event->text);
    const std::string_view first = before(event->text, ",");
    if (equal_ignoring_case(first, "Fatal") || equal_ignoring_case(first, "Non-fatal"))
      sink_.text("sxid.severity", device, first);
    if (const auto link = link_in(event->text)) sink_.number("sxid.link", device, *link);
    return true;
  }

  bool take_nvrm(std::string_view text) {
    if (text.starts_with("loading NVIDIA UNIX")) {
      sink_.text("driver.module", "", contains(text, "Open") ? "open" : "proprietary");
      for (const std::string_view word : split_words(text))
        if (word.find('.') != std::string_view::npos && leading_number(word)) {
          sink_.text("driver.version", "", word);
          break;
        }
      return false;
    }
    if (contains(text, "client has the version "))
      sink_.text("driver.library_version", "",
                 before(first_word(after(text, "client has the version ")), ","));
    if (contains(text, "kernel module has the version ")) {
      std::string_view version = first_word(after(text, "kernel module has the version "));
      if (version.ends_with(".")) version.remove_suffix(1);
      sink_.text("driver.version", "", version);
      return true;
    }
    const std::string_view address = find_bus_address(text);
    const std::string subject = address.empty() ? std::string() : bus_address(address);
    if (is_flood()) return false;
    sink_.text("nvrm.message", subject, text);
    return true;
  }

  bool take_peermem(std::string_view text) {
    const std::string lower = to_lower(text);
    for (const char* word : {"error", "fail", "invalid", "unable", "unknown symbol", "cannot"})
      if (contains(lower, word)) {
        if (is_flood()) return false;
        sink_.text("peermem.error", "", text);
        return true;
      }
    return false;
  }

  bool take_aer(std::string_view text) {
    const std::string_view address = find_bus_address(text);
    if (address.empty() || is_flood()) return false;
    sink_.text("pcie.aer", bus_address(address), before(after(text, "severity="), ", type"));
    return true;
  }

  bool take_limited(std::string_view text) {
    const std::string_view device = find_bus_address(text);
    const std::string_view at = find_bus_address(after(text, "limited by"));
    if (device.empty() || at.empty()) return false;
    sink_.text("pcie.limited_by", bus_address(device), bus_address(at));
    return false;
  }

  /// "DMAR: [DMA Read NO_PASID] Request device [41:00.0] fault addr 0x... [fault reason 0x06] PTE
  /// Read access is not set", "nvidia 0000:c1:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT ...]"
  bool take_dma(std::string_view text) {
    const std::string_view address = find_bus_address(text);
    if (address.empty() || is_flood()) return false;
    const std::string_view reason = after(text, "fault reason ");
    sink_.text("iommu.fault", bus_address(address),
               reason.empty() ? "IO_PAGE_FAULT" : trim(after(reason, "]")));
    return true;
  }

  static std::string_view trim_colon(std::string_view text) {
    return text.starts_with(":") ? text.substr(1) : text;
  }

  bool take_mlx5(std::string_view text) {
    static constexpr std::array<const char*, 8> words = {
        "link down", "link up",           "error",  "cable",
        "fatal",     "port module event", "health", "timeout"};
    const std::string_view address = find_bus_address(text);
    const std::string lower = to_lower(text);
    for (const char* word : words)
      if (contains(lower, word)) {
        if (is_flood()) return false;
        sink_.text("nic.message", address.empty() ? std::string() : bus_address(address),
                   address.empty() ? text : trim_colon(after(text, address)));
        return true;
      }
    return false;
  }

  void take_boot(std::string_view text) {
    for (const std::string_view mark : {"Kernel command line: ", "Command line: "})
      if (text.starts_with(mark)) {
        if (!has_command_line_) add_kernel_parameters(sink_, text.substr(mark.size()));
        has_command_line_ = true;
        return;
      }
    if (text.starts_with("Hypervisor detected: "))
      sink_.text("node.hypervisor", "", after(text, ": "));
    if (text.starts_with("DMI: ")) {
      sink_.text("node.product", "", before(text.substr(5), ", BIOS"));
      sink_.text("node.bios", "", after(text, ", BIOS "));
    }
    if (text.starts_with("Linux version "))
      sink_.text("node.kernel", "", before(text.substr(14), " "));
  }

  void take_iommu(std::string_view text) {
    const std::string_view type = after(text, "iommu: Default domain type: ");
    std::string_view state;
    if (type.starts_with("Passthrough")) state = "passthrough";
    else if (type.starts_with("Translated")) state = "translated";
    else if (contains(text, "DMAR: IOMMU enabled") || contains(text, "Intel-IOMMU: enabled") ||
             text.starts_with("AMD-Vi: IOMMU performance counters supported") ||
             text.starts_with("AMD-Vi: Lazy IO/TLB flushing enabled"))
      state = "on";
    else if (contains(text, "IOMMU disabled")) state = "off";
    sink_.text("iommu.state", "", state);
  }

  bool take_message(std::string_view text) {
    static constexpr std::array<const char*, 8> marks = {
        "Out of memory: ", "oom-kill:",   "blocked for more than", "in libnccl",
        "in libcuda",      "soft lockup", "disabling ACS",         "ACS redirect"};
    for (const char* mark : marks)
      if (contains(text, mark)) {
        if (is_flood()) return false;
        sink_.text("kernel.message", "", text);
        return true;
      }
    return false;
  }

  SignalSink& sink_;
  std::set<std::pair<std::string, double>> explained_;
  int events_ = 0;
  bool has_command_line_ = false;
};

int recognise(const TextIndex& text) {
  for (const char* mark : {"Xid (", "NVRM:", "SXid", "peermem", "PCIe Bus Error", "mlx5_core ",
                           "iommu: ", "DMAR", "AMD-Vi", "ommand line: ", "Hypervisor detected",
                           "Out of memory: ", "DMI: ", "available PCIe bandwidth", "in libnccl",
                           "Linux version ", "soft lockup", "oom-kill:"})
    if (text.has(mark)) return 80;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  KernelLogReader(sink).read();
}

}  // namespace

extern const SignalReader kernel_log_signals;
const SignalReader kernel_log_signals = {"kernel-log", "dmesg, the journal's kernel lines",
                                         recognise, read};

}  // namespace isleway::formats
