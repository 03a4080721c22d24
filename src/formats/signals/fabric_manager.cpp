// Fabric manager: its log file, its lines in the journal, its version.
// Texts: NVIDIA's Fabric Manager user guide and reports of operators.
#include <array>

#include "formats/kernel_lines.hpp"
#include "isleway/core/text.hpp"

namespace isleway::formats {
namespace {

struct EventText {
  std::string_view part;   ///< of the message, lower case
  std::string_view event;  ///< as docs/signals.md names it
};
constexpr EventText kEvents[] = {
    {"don't match with driver version", "version mismatch"},
    {"number of nvswitches don't match", "switch count mismatch"},
    {"failed to find the gpu handle", "multicast handle not found"},
    {"nothing to do", "nothing to do"},
    {"nv_warn_nothing_to_do", "nothing to do"},
    {"trunk link failure", "trunk link failure"},
    {"access link failure", "access link failure"},
    {"nvswitch fatal error", "NVSwitch fatal error"},
    {"nvswitch non-fatal error", "NVSwitch non-fatal error"},
    {"successfully configured all the available", "configured"},
    {"started successfully", "started"},
    {"aborting fabric manager", "aborted"},
    {"not all the expected nvlink", "NVLink topology incomplete"},
    {"not trained", "NVLink topology incomplete"},
    {"degraded mode", "degraded mode"},
};

/// "[Feb 25 2025 13:59:45] [ERROR] [tid 1803] text": the level and the text.
struct FmLine {
  std::string_view level, text;
};
std::optional<FmLine> parse_line(std::string_view line) {
  for (const std::string_view level : {"INFO", "ERROR", "WARNING", "CRITICAL", "FATAL", "DEBUG"}) {
    const std::string mark = "[" + std::string(level) + "]";
    const std::size_t at = line.find(mark);
    if (at == std::string_view::npos) continue;
    std::string_view text = trim(line.substr(at + mark.size()));
    if (text.starts_with("[tid ")) text = trim(after(text, "]"));
    return FmLine{level, text};
  }
  return std::nullopt;
}

bool is_fm_line(std::string_view lower) {
  for (const char* mark : {"nv-fabricmanager", "fabric manager", "match with driver version",
                           "fabricmanager", "nvswitch", "[tid ", "multicast"})
    if (contains(lower, mark)) return true;
  return false;
}

class FabricManagerReader {
 public:
  explicit FabricManagerReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      const std::string_view line = sink_.line(i);
      const std::string lower = to_lower(line);
      const auto parsed = parse_line(line);
      // A log's message may go on in the next lines, without its head.
      if (!parsed && !is_fm_line(lower) && !contains(lower, "number of gpus:")) continue;
      sink_.at(i, journal_host(line, "nv-fabricmanager"));
      take(parsed ? parsed->text : trim(line), lower);
      if (parsed &&
          (parsed->level == "ERROR" || parsed->level == "CRITICAL" || parsed->level == "FATAL"))
        sink_.text("fm.error", "", parsed->text);
    }
  }

 private:
  void take(std::string_view text, std::string_view lower) {
    take_versions(text);
    if (contains(text, "SXid (")) return;  // the kernel's own line
    for (const EventText& known : kEvents)
      if (contains(lower, known.part)) {
        sink_.text("fm.event", "", known.event);
        break;
      }
    if (contains(lower, "team setup request"))
      sink_.measure("fm.multicast_team", "", after(text, "Number of GPUs:"));
    take_switch_error(text, lower);
    if (contains(lower, "number of nvswitches") || contains(lower, "nvswitches found"))
      if (const auto count = leading_number(after(text, ": ")))
        sink_.number("nvswitch.count", "", *count);
  }

  void take_versions(std::string_view text) {
    // "interface version 590.48.01 don't match with driver version 580.126.09."
    if (contains(text, "don't match with driver version ")) {
      version("fm.version", after(text, "interface version "));
      version("fm.driver_version", after(text, "with driver version "));
      return;
    }
    for (const std::string_view mark : {"Fabric Manager version is : ", "Fabric Manager version ",
                                        "Fabric Manager Version ", "fabric manager version "})
      if (contains(text, mark)) return version("fm.version", after(text, mark));
  }

  void version(std::string_view signal, std::string_view text) {
    const std::size_t end = text.find_first_not_of("0123456789.");
    std::string_view number = text.substr(0, end);
    while (number.ends_with(".")) number.remove_suffix(1);
    if (contains(number, ".")) sink_.text(signal, "", number);
  }

  /// "detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:86:00.0
  /// physical id 3 port 61"
  void take_switch_error(std::string_view text, std::string_view lower) {
    const bool fatal = contains(lower, "nvswitch fatal error ");
    if (!fatal && !contains(lower, "nvswitch non-fatal error ")) return;
    const auto code = leading_number(after(text, "fatal error "));
    const std::string_view address = find_bus_address(text);
    if (!code || address.empty()) return;
    const std::string device = bus_address(address);
    sink_.number("sxid.code", device, *code);
    sink_.text("sxid.severity", device, fatal ? "Fatal" : "Non-fatal");
    sink_.measure("sxid.link", device, after(text, " port "));
  }

  SignalSink& sink_;
};

int recognise(const TextIndex& text) {
  for (const char* mark :
       {"abric manager", "abric Manager", "fabricmanager", "[tid ", "number of NVSwitches",
        "match with driver version", "multicast team", "detected NVSwitch"})
    if (text.has(mark)) return 80;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  FabricManagerReader(sink).read();
}

}  // namespace

extern const SignalReader fabric_manager_signals;
const SignalReader fabric_manager_signals = {"fabric-manager", "fabric manager's log", recognise,
                                             read};

}  // namespace isleway::formats
