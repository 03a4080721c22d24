// perfquery and ibqueryerrors: the counters of ports.
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

/// `Errors for 0xb83fd20300aa0001 "MF0;leaf3:MQM9700/U1"`, `Errors for "node17 mlx5_2"`
std::string_view device_in(std::string_view line) {
  const std::string_view rest = after(line, "Errors for ");
  const std::string_view name = between(rest, "\"", "\"");
  return name.empty() ? first_word(rest) : name;
}

/// `GUID 0x... port 14: [SymbolErrorCounter == 65535] [PortXmitWait == 12]`. Sums over all ports
/// of a switch say the same again.
void take_port(SignalSink& sink, std::string_view device, std::string_view line) {
  const std::string_view number = trim(before(after(line, " port "), ":"));
  if (!parse_int(number)) return;
  const std::string port = std::string(device) + "/" + std::string(number);
  for (std::string_view rest = line; contains(rest, "[");) {
    rest = after(rest, "[");
    const std::string_view counter = before(rest, "]");
    sink.measure(counter_signal(trim(before(counter, "=="))), port, after(counter, "=="));
  }
}

int recognise(const TextIndex& text) {
  if (text.has("Errors for ") && text.has(" == ")) return 90;
  return text.has("counters: Lid ") || text.has("PortSelect:...") || text.has("Errors:....") ||
                 text.has("Counter:....")
             ? 90
             : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  std::string port;
  std::string_view device;
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const std::string_view line = sink.line(i);
    sink.at(i);
    if (line.starts_with("Errors for ")) device = device_in(line);
    if (!device.empty() && trim(line).starts_with("GUID ")) take_port(sink, device, line);
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
const SignalReader ib_counters_signals = {"ib-counters", "perfquery, ibqueryerrors", recognise,
                                          read};

}  // namespace isleway::formats
