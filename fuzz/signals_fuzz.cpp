// All that `check` reads of an operator's paste: cleaning, dividing, and every reader of signals.
#include <cstdlib>

#include "isleway/formats/read_signals.hpp"

namespace {

using namespace isleway::formats;

/// As `check` reads a paste: whatever it is, every signal has a name and a line of the paste.
void read_as_paste(std::string_view text) {
  int lines = 1;
  for (const char c : text) lines += c == '\n' || c == '\r' ? 1 : 0;
  for (const Signal& signal : read_signals(text, "input").signals)
    if (signal.name.empty() || signal.where.line < 0 || signal.where.line > lines) std::abort();
}

/// Readers are asked directly as well: a prompt before a text changes what they see.
void read_with(const SignalReader& reader, std::string_view text) {
  const int certainty = reader.recognise(TextIndex(text));
  if (certainty < 0 || certainty > 100) std::abort();
  Signals signals;
  isleway::Notices notices;
  reader.read(text, {"input", 1}, signals, notices);
}

}  // namespace

/// The last byte says which reader: one at a time is fifty times as many inputs a second.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size - 1);
  const auto readers = signal_readers();
  const std::size_t which = data[size - 1] % (readers.size() + 1);
  if (which == readers.size()) read_as_paste(text);
  else read_with(*readers[which], text);
  return 0;
}
