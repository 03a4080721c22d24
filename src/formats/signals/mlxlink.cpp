// mlxlink: a port's state, its bit errors, and what the firmware says is wrong with it.
#include "formats/lane_rates.hpp"
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

struct Field {
  std::string_view key, signal;
};
constexpr Field kTexts[] = {{"State", "nic.link_state"},
                            {"Physical state", "nic.physical_state"},
                            {"FEC", "nic.fec"},
                            {"Firmware Version", "nic.firmware"}};
constexpr Field kNumbers[] = {{"Symbol Errors", "ib.symbol_error"},
                              {"Link Down Counter", "ib.link_downed"},
                              {"Link Error Recovery Counter", "ib.link_error_recovery"},
                              {"Effective Physical Errors", "nic.effective_errors"},
                              {"Symbol BER", "nic.symbol_ber"},
                              {"Effective Physical BER", "nic.effective_ber"},
                              {"Raw Physical BER", "nic.raw_ber"}};

class MlxlinkReader {
 public:
  explicit MlxlinkReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    const std::string_view first = sink_.line(0);
    if (first.starts_with("$ ") && contains(first, "mlxlink")) take_command(first);
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      sink_.at(i);
      if (const auto pair = key_value(trim(sink_.line(i)))) take(*pair);
    }
  }

 private:
  /// "mlxlink -d mlx5_3 -p 1 -m -c"
  void take_command(std::string_view line) {
    const auto words = split_words(line);
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i] == "-d" || words[i] == "--device") port_ = std::string(words[i + 1]) + "/port1";
  }

  void take(const KeyValue& pair) {
    if (is_unknown_value(pair.value)) return;
    if (pair.key == "Speed") speed_ = pair.value;
    else if (pair.key == "Width") take_rate(pair.value);
    else if (pair.key == "Status Opcode") opcode_ = pair.value;
    else if (pair.key == "Recommendation" && !opcode_.empty() && opcode_ != "0")
      sink_.text("nic.recommendation", port_, pair.value);
    for (const Field& field : kTexts)
      if (pair.key == field.key) sink_.text(field.signal, port_, pair.value);
    for (const Field& field : kNumbers)
      if (pair.key == field.key) sink_.measure(field.signal, port_, pair.value);
  }

  /// "IB-NDR" of 4 lanes; Ethernet's names ("400G", "25GbE") already are of all of them.
  void take_rate(std::string_view width) {
    const auto lanes = leading_number(width);
    if (const auto whole = leading_number(speed_)) sink_.number("nic.rate_Gbs", port_, *whole);
    else if (const auto lane = nominal_lane_rate(after(speed_, "IB-")); lane && lanes)
      sink_.number("nic.rate_Gbs", port_, *lane * *lanes);
  }

  SignalSink& sink_;
  std::string port_;
  std::string_view speed_, opcode_;
};

int recognise(const TextIndex& text) {
  return text.has("Physical Counters and BER Info") || text.has("Troubleshooting Info") ||
                 text.has("Effective Physical BER")
             ? 90
             : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  MlxlinkReader(sink).read();
}

}  // namespace

extern const SignalReader mlxlink_signals;
const SignalReader mlxlink_signals = {"mlxlink", "mlxlink", recognise, read};

}  // namespace isleway::formats
