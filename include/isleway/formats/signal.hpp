// What operators' outputs state, as flat facts that rules can be held against.
#pragma once

#include <bitset>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::formats {

/// One fact that an output states: "on node n1, link 3 of GPU 0 runs at 26.562 GB/s".
/// docs/signals.md lists the names with their subjects and units.
struct Signal {
  std::string name;     ///< "nvlink.rate_GBs", "fabric.state", "xid.code"
  std::string subject;  ///< "gpu0", "gpu0/link3", "mlx5_0", "0000:1b:00.0"; empty: the node
  std::string peer;     ///< the other end of a fact between two: "gpu1"; mostly empty
  std::variant<double, std::string> value;
  std::string node;   ///< the host that the output came from; empty when nothing says
  Location where;     ///< file and line that say so
  std::string quote;  ///< that line as it stands there, trimmed: the evidence
};

/// In the order of the files.
using Signals = std::vector<Signal>;

/// A text that many readers ask for many words: those whose pairs of letters it lacks are
/// refused without a search, since most readers' words are in no given text.
class TextIndex {
 public:
  explicit TextIndex(std::string_view text);
  std::string_view text() const { return text_; }
  bool has(std::string_view word) const;

 private:
  static constexpr std::size_t pair(char a, char b) {
    return static_cast<std::size_t>(static_cast<unsigned char>(a)) << 8 |
           static_cast<unsigned char>(b);
  }
  std::string_view text_;
  std::bitset<65536> pairs_;
};

/// One file of src/formats/signals defines one of these as `<stem>_signals`; the build
/// collects them. Each takes from a text what it knows and leaves the rest to the others,
/// so that a paste may mix outputs.
struct SignalReader {
  const char* name;
  const char* title;
  /// How sure it is that `text` holds its output, 0 to 100, by content alone.
  int (*recognise)(const TextIndex& text);
  /// Appends what `text` states. Damage becomes notices; never fails. `from` is the file and
  /// the line at which `text` starts in it, 0 or 1 for the first.
  void (*read)(std::string_view text, const Location& from, Signals& signals, Notices& notices);
};
std::span<const SignalReader* const> signal_readers();

}  // namespace isleway::formats
