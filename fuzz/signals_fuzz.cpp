// All that `check` reads of an operator's paste: cleaning, dividing, and every reader of signals.
#include <cstdlib>

#include "isleway/formats/read_signals.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isleway::formats;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  int lines = 1;
  for (const char c : text) lines += c == '\n' || c == '\r' ? 1 : 0;
  for (const Signal& signal : read_signals(text, "input").signals)
    if (signal.name.empty() || signal.where.line < 0 || signal.where.line > lines) std::abort();
  // Readers are asked directly as well: a prompt before a text changes what they see.
  const TextIndex index(text);
  for (const SignalReader* reader : signal_readers()) {
    const int certainty = reader->recognise(index);
    if (certainty < 0 || certainty > 100) std::abort();
    Signals signals;
    isleway::Notices notices;
    reader->read(text, {"input", 1}, signals, notices);
  }
  return 0;
}
