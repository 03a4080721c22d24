// Facts in the words of a report, where somebody tells what an output said instead of pasting it.
// Only what cannot be meant otherwise.
#include "formats/path_facts.hpp"

namespace isleway::formats {
namespace {

/// "Xid 149 on dc:00, Xid 145 on peers"
void take_xids(SignalSink& sink, std::string_view line) {
  for (std::size_t at = line.find("Xid "); at != std::string_view::npos;
       at = line.find("Xid ", at + 1)) {
    const std::string_view rest = line.substr(at + 4);
    const auto code = leading_number(rest);
    const std::string_view place = first_word(after(before(rest, "Xid "), " on "));
    const bool is_number = code && *code > 0 && *code < 1000 && *code == static_cast<int>(*code);
    const std::size_t colon = place.find(':');
    if (!is_number || colon == std::string_view::npos || colon < 2) continue;
    sink.number("xid.code", bus_address(before(place, ",")), *code);
  }
}

/// "State Completed / Status Insufficient Resources / CliqueId 0"
void take_fabric(SignalSink& sink, std::string_view line) {
  if (!contains(line, "State ") || !contains(line, " / Status ")) return;
  sink.text("fabric.state", "", before(after(line, "State "), " / "));
  sink.text("fabric.status", "", before(after(line, "Status "), " / "));
  sink.text("fabric.clique", "", first_word(after(line, "CliqueId ")));
}

void take_paths(SignalSink& sink, std::string_view line) {
  if (contains(line, "no /sys/kernel/mm/memory_peers"))
    sink.number("peermem.registered", "nv_mem", 0);
  if (const auto module = first_word(after(line, "lsmod shows ")); !module.empty())
    sink.number("module.loaded", before(module, ","), 0);
  const std::string_view unit = first_word(after(line, "/sys/class/iommu "));
  if (unit.starts_with("ivhd") || unit.starts_with("dmar"))
    add_listed_fact(sink, "/sys/class/iommu", before(unit, ".."));
}

int recognise(const TextIndex& text) {
  if (text.text().size() > 20'000) return 0;  // an output, not a report's words
  for (const char* mark : {"Xid ", " / Status ", "no /sys/", "lsmod shows ", "/sys/class/iommu "})
    if (text.has(mark)) return 10;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const std::string_view line = sink.line(i);
    if (line.starts_with("$ ") || contains(line, "Xid (")) continue;
    sink.at(i);
    take_xids(sink, line);
    take_fabric(sink, line);
    take_paths(sink, line);
  }
}

}  // namespace

extern const SignalReader report_words_signals;
const SignalReader report_words_signals = {"report", "the words of a report", recognise, read};

}  // namespace isleway::formats
