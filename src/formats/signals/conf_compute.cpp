// `nvidia-smi conf-compute`.
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

constexpr std::string_view kKeys[] = {
    "CC status",           "CC State",
    "CC Environment",      "Multi-GPU Mode",
    "CPU CC Capabilities", "GPU CC Capabilities",
    "CC GPUs Ready State", "Confidential Compute GPUs Ready state"};

int recognise(const TextIndex& text) {
  for (const std::string_view key : kKeys)
    if (text.has(key)) return 80;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const auto pair = key_value(sink.line(i));
    if (!pair) continue;
    sink.at(i);
    for (const std::string_view key : kKeys) {
      if (pair->key != key) continue;
      if (key == "CC status" || key == "CC State") sink.text("cc.mode", "", pair->value);
      else sink.text("cc.feature", "", pair->value, key);
    }
  }
}

}  // namespace

extern const SignalReader conf_compute_signals;
const SignalReader conf_compute_signals = {"conf-compute", "nvidia-smi conf-compute", recognise,
                                           read};

}  // namespace isleway::formats
