// lspci -tv: which device hangs below which bridge, drawn as a tree.
#include <map>
#include <optional>

#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// Where devices of one bus are listed: its number, and the bridge that leads to it.
struct Bus {
  std::string prefix;  ///< "0000:16:"
  std::string bridge;  ///< address; empty at a root
};

class TreeReader {
 public:
  explicit TreeReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      sink_.at(i);
      read_line(sink_.line(i));
    }
  }

 private:
  /// `           \-01.0-[16-1b]----00.0-[17]--+-00.0  Name`. A branch opens its bus at its
  /// column; lines below go on from the column where theirs begins.
  void read_line(std::string_view line) {
    std::optional<Bus> bus;
    std::string last;
    for (std::size_t i = 0; i < line.size();) {
      const char c = line[i];
      if (c == ' ' || c == '|' || c == '-' || c == '\t') {
        ++i;
      } else if (c == '+' || c == '\\') {
        if (bus) columns_[i] = *bus;
        else bus = open_at(i);
        ++i;
      } else if (c == '[') {
        const std::string_view inside = between(line.substr(i), "[", "]");
        bus = bus_of(inside, bus, last);
        if (!bus) return;
        if (bus->bridge.empty()) columns_.erase(columns_.upper_bound(i), columns_.end());
        i += inside.size() + 2;
      } else if (const auto function = function_at(line.substr(i)); !function.empty() && bus) {
        last = bus->prefix + std::string(function);
        i += function.size();
        if (!bus->bridge.empty()) sink_.text("pcie.parent", last, bus->bridge);
        // Behind two blanks stands the device's name: nothing hangs below it.
        if (line.substr(i, 2) == "  ") return sink_.text("pcie.device", last, line.substr(i));
      } else {
        return;
      }
    }
  }

  /// The bus whose branches are drawn at this column. Pastes may be off by one.
  std::optional<Bus> open_at(std::size_t column) const {
    for (const std::size_t at : {column, column - 1, column + 1})
      if (const auto open = columns_.find(at); open != columns_.end()) return open->second;
    return std::nullopt;
  }

  /// "0000:15" opens a root; "16-1b" or "16" the bus behind the bridge before it.
  static std::optional<Bus> bus_of(std::string_view inside, const std::optional<Bus>& above,
                                   const std::string& bridge) {
    const auto hex = [](std::string_view text, std::size_t size) {
      if (text.size() != size) return false;
      for (const char c : text)
        if (!is_hex(c)) return false;
      return true;
    };
    const std::size_t colon = inside.find(':');
    if (colon != std::string_view::npos) {
      if (!hex(inside.substr(0, colon), 4) || !hex(inside.substr(colon + 1), 2)) return {};
      return Bus{std::string(inside) + ":", {}};
    }
    const std::string_view first = before(inside, "-");
    if (!above || bridge.empty() || !hex(first, 2)) return {};
    return Bus{above->prefix.substr(0, 5) + std::string(first) + ":", bridge};
  }

  /// "1f.7" at the start of `text`, or empty.
  static std::string_view function_at(std::string_view text) {
    const bool fits = text.size() >= 4 && is_hex(text[0]) && is_hex(text[1]) && text[2] == '.' &&
                      text[3] >= '0' && text[3] <= '7';
    return fits ? text.substr(0, 4) : std::string_view();
  }

  SignalSink& sink_;
  std::map<std::size_t, Bus> columns_;
};

int recognise(const TextIndex& text) {
  return text.has("-[0") && (text.has("-+-") || text.has("]----") || text.has("\\-")) ? 80 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  TreeReader(sink).read();
}

}  // namespace

extern const SignalReader lspci_tree_signals;
const SignalReader lspci_tree_signals = {"lspci-tree", "lspci -tv", recognise, read};

}  // namespace isleway::formats
