// The cables of an InfiniBand network: iblinkinfo, ibnetdiscover (records, and -p's lines).
#include <set>

#include "formats/lane_rates.hpp"
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

class LinkReader {
 public:
  explicit LinkReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      sink_.at(i);
      index_ = i;
      const std::string_view line = trim(sink_.line(i));
      if (contains(line, "==(")) take_linkinfo(line);
      else if (line.starts_with("CA: ") || line.starts_with("Switch: ")) take_linkinfo_device(line);
      else if (line.starts_with("Switch\t") || line.starts_with("Switch ") ||
               line.starts_with("Ca\t") || line.starts_with("Ca "))
        take_record(line);
      else if (line.starts_with("[")) take_record_port(line);
      else if (line.starts_with("SW ") || line.starts_with("CA ")) take_p_line(line);
    }
    if (switches_.empty() && hosts_.empty()) return;
    sink_.at(first_);
    sink_.number("ib.switches", "", static_cast<double>(switches_.size()));
    sink_.number("ib.hosts", "", static_cast<double>(hosts_.size()));
  }

 private:
  void saw(bool is_switch, std::string_view id) {
    if (switches_.empty() && hosts_.empty()) first_ = index_;
    (is_switch ? switches_ : hosts_).emplace(id);
  }

  // --- iblinkinfo ---------------------------------------------------------------------

  /// "Switch: 0x7cfe900300a1b2c3 SwitchIB Mellanox Technologies:"
  void take_linkinfo_device(std::string_view line) {
    const bool is_switch = line.starts_with("Switch");
    std::string_view name = trim(after(line, ": "));
    if (name.ends_with(":")) name.remove_suffix(1);
    device_ = name.starts_with("0x") ? trim(after(name, " ")) : name;
    if (device_.empty()) device_ = name;
    saw(is_switch, name);
  }

  /// `14  1[  ] ==( 4X  53.125 Gbps Active/  LinkUp)==>  3  17[  ] "sw1" ( Could be ...)`
  void take_linkinfo(std::string_view line) {
    const std::string_view left = before(line, "==(");
    const std::string_view middle = between(line, "==(", ")==>");
    const std::string_view right = after(line, ")==>");
    const std::string_view own_name = between(left, "\"", "\"");
    const std::string end =
        (own_name.empty() ? std::string(device_) : std::string(own_name)) + "/" + port_before(left);
    const auto words = split_words(middle);
    std::string state;
    for (const std::string_view word : words)
      if (contains(word, "Active") || contains(word, "Down") || contains(word, "Init") ||
          contains(word, "Armed"))
        state = before(word, "/");
    if (state != "Active") {
      sink_.text("ib.unconnected", end, middle);
      return;
    }
    const std::string_view peer_name = between(right, "\"", "\"");
    const std::string peer = std::string(peer_name) + "/" + port_before(before(right, "\""));
    const auto lanes = words.empty() ? std::nullopt : leading_number(words[0]);
    const auto rate = words.size() > 1 ? parse_double(words[1]) : std::nullopt;
    if (!lanes || !rate) return;
    sink_.text("ib.link", end, std::string(words[0]) + " " + std::string(words[1]) + " Gbps", peer);
    sink_.number("ib.width", end, *lanes, peer);
    sink_.number("ib.speed_Gbs", end, *rate, peer);
    if (const auto better = between(right, "( Could be", ")"); !better.empty())
      sink_.text("ib.could_be", end, better, peer);
  }

  /// The number before the first "[": "14   17[  ]".
  static std::string port_before(std::string_view text) {
    const auto words = split_words(before(text, "["));
    return words.empty() ? std::string("?") : std::string(words.back());
  }

  // --- ibnetdiscover, records -----------------------------------------------------------

  /// `Switch	65 "S-0000d0de00000001"		# "MF0;R01-IBLEAF-04:MQM9701/U1" enhanced port 0
  /// ...`
  void take_record(std::string_view line) {
    const std::string_view name = between(after(line, "#"), "\"", "\"");
    const std::string_view id = between(line, "\"", "\"");
    if (id.empty()) return;
    device_ = name.empty() ? id : name;
    saw(line.starts_with("Switch"), id);
  }

  /// `[1](guid)	"H-0000d0de00000002"[1](0000d0de00000002)	# "n1 mlx5_5" lid 647 4xNDR`
  void take_record_port(std::string_view line) {
    const std::string_view port = between(line, "[", "]");
    const std::string_view id = between(line, "\"", "\"");
    const std::string_view comment = after(line, "#");
    if (device_.empty() || id.empty() || !leading_number(port)) return;
    const std::string_view name = between(comment, "\"", "\"");
    const std::string_view peer_port = between(after(line, std::string(id) + "\""), "[", "]");
    const auto words = split_words(comment);
    if (words.empty()) return;
    const std::string end = std::string(device_) + "/" + std::string(port);
    add_link(end, words.back(),
             std::string(name.empty() ? id : name) + "/" + std::string(peer_port));
  }

  // --- ibnetdiscover -p -----------------------------------------------------------------

  /// `CA  134  1 0x0000d0de00000001 4x EDR - SW  1719 10 0x... ( 'o0001 HCA-1' - 'sw1' )`,
  /// or with nothing after the speed but the name: the port is not connected.
  void take_p_line(std::string_view line) {
    const auto words = split_words(line);
    if (words.size() < 6 || !words[3].starts_with("0x") || !words[4].ends_with("x")) return;
    saw(words[0] == "SW", words[3]);
    const std::string speed = std::string(words[4]) + std::string(words[5]);
    if (words.size() > 7 && words[6] == "-" && (words[7] == "SW" || words[7] == "CA")) {
      const std::string_view names = after(line, "( ");
      const std::string_view own = between(names, "'", "'");
      const std::string_view peer = between(after(names, "' - "), "'", "'");
      if (words.size() < 11) return sink_.incomplete("a link's line is cut");
      saw(words[7] == "SW", words[10]);
      add_link(std::string(own.empty() ? words[3] : own) + "/" + std::string(words[2]), speed,
               std::string(peer.empty() ? words[10] : peer) + "/" + std::string(words[9]));
      return;
    }
    std::string_view name = between(line, "'", "'");
    if (name.empty()) {
      const std::size_t at = static_cast<std::size_t>(words[5].data() - line.data());
      name = trim(line.substr(at + words[5].size()));
    }
    sink_.text("ib.unconnected", std::string(name) + "/" + std::string(words[2]),
               std::string(words[4]) + " " + std::string(words[5]));
  }

  /// `speed` is "4xNDR".
  void add_link(const std::string& end, std::string_view speed, const std::string& peer) {
    const auto lanes = leading_number(speed);
    const std::string_view generation = after(speed, "x");
    if (!lanes || generation.empty()) return;
    sink_.text("ib.link", end, speed, peer);
    sink_.number("ib.width", end, *lanes, peer);
    if (const auto rate = signal_lane_rate(generation))
      sink_.number("ib.speed_Gbs", end, *rate, peer);
  }

  SignalSink& sink_;
  std::string_view device_;
  std::set<std::string, std::less<>> switches_, hosts_;
  std::size_t first_ = 0, index_ = 0;
};

int recognise(const TextIndex& text) {
  if (text.has("==(") && text.has(")==>")) return 90;
  if (text.has("# Topology file: generated") || text.has("vendid=0x")) return 90;
  const std::string_view start = trim(text.text()).substr(0, 3);
  const bool lines = text.has("\nSW ") || text.has("\nCA ") || start == "SW " || start == "CA ";
  return lines && (text.has("x ") && text.has(" 0x")) ? 70 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  LinkReader(sink).read();
}

}  // namespace

extern const SignalReader ib_links_signals;
const SignalReader ib_links_signals = {"ib-links", "iblinkinfo, ibnetdiscover", recognise, read};

}  // namespace isleway::formats
