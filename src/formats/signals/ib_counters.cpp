// perfquery: the counters of a port.
#include "formats/counter_names.hpp"
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// "PortRcvErrors:...................3"
std::optional<KeyValue> counter_line(std::string_view line) {
  const std::size_t colon = line.find(":.");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::size_t value = line.find_first_not_of('.', colon + 1);
  if (value == std::string_view::npos) return std::nullopt;
  return KeyValue{trim(line.substr(0, colon)), trim(line.substr(value))};
}

int recognise(const TextIndex& text) {
  return text.has("counters: Lid ") || text.has("PortSelect:...") || text.has("Errors:....") ||
                 text.has("Counter:....")
             ? 90
             : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  std::string port;
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const std::string_view line = sink.line(i);
    sink.at(i);
    // "# Port counters: Lid 3 port 1 (CapMask: 0x5A00)"
    if (contains(line, "counters: Lid ")) {
      port = "lid" + std::string(first_word(after(line, "Lid "))) + "/port" +
             std::string(first_word(after(line, "port ")));
      continue;
    }
    const auto counter = counter_line(line);
    if (!counter || counter->key == "PortSelect" || counter->key == "CounterSelect") continue;
    if (const auto value = parse_double(counter->value))
      sink.number(counter_signal(counter->key), port, *value);
  }
}

}  // namespace

extern const SignalReader ib_counters_signals;
const SignalReader ib_counters_signals = {"ib-counters", "perfquery", recognise, read};

}  // namespace isleway::formats
