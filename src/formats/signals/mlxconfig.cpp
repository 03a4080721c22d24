// mlxconfig query: settings of a NIC's firmware, as they are and as they will be.
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

bool is_setting_name(std::string_view word) {
  return word.size() > 3 && contains(word, "_") &&
         word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_[].") ==
             std::string_view::npos;
}

class SettingsReader {
 public:
  explicit SettingsReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      sink_.at(i);
      take(trim(sink_.line(i)));
    }
  }

 private:
  void take(std::string_view line) {
    if (line.starts_with("Device:")) begin(trim(line.substr(7)));
    if (line.starts_with("Configurations:")) {
      // -e prints what is the default, what is in force, and what will be.
      compares_ = contains(line, "Current") && contains(line, "Next Boot");
      in_settings_ = true;
    }
    if (line.starts_with("*")) line = trim(line.substr(1));
    const auto words = split_words(line);
    if (!in_settings_ || words.size() < 2 || !is_setting_name(words[0])) return;
    const std::string subject = nic_ + "/" + std::string(words[0]);
    sink_.text("nic.setting", subject, words[words.size() >= 4 && compares_ ? 2 : 1]);
    if (compares_ && words.size() >= 4 && words[2] != words[3])
      sink_.text("nic.setting_pending", subject, words[3]);
  }

  /// "/dev/mst/mt4129_pciconf0", "0000:c1:00.0", "mlx5_0"
  void begin(std::string_view device) {
    const std::string_view address = find_bus_address(device);
    const std::size_t slash = device.rfind('/');
    nic_ = !address.empty() && address == device ? bus_address(address)
           : slash == std::string_view::npos     ? std::string(device)
                                                 : std::string(device.substr(slash + 1));
    in_settings_ = false;
  }

  SignalSink& sink_;
  std::string nic_;
  bool in_settings_ = false, compares_ = false;
};

int recognise(const TextIndex& text) {
  return text.has("Configurations:") && (text.has("Next Boot") || text.has("Next boot")) ? 90 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  SettingsReader(sink).read();
}

}  // namespace

extern const SignalReader mlxconfig_signals;
const SignalReader mlxconfig_signals = {"mlxconfig", "mlxconfig query", recognise, read};

}  // namespace isleway::formats
