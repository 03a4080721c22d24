// InfiniBand and RoCE ports of one host: ibstat, ibstatus, ibv_devinfo, ibdev2netdev, perfquery.
#include <cctype>

#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// "Active" of "4: ACTIVE", "PORT_ACTIVE (4)" and "Active".
std::string plain_state(std::string_view value) {
  if (const std::string_view rest = after(value, ": "); !rest.empty()) value = rest;
  value = trim(before(value, " ("));
  if (value.starts_with("PORT_")) value.remove_prefix(5);
  std::string state = to_lower(value);
  for (const auto& [printed, plain] :
       {std::pair{"linkup", "LinkUp"}, std::pair{"link_up", "LinkUp"},
        std::pair{"linkdown", "LinkDown"}})
    if (state == printed) return plain;
  if (!state.empty())
    state[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(state[0])));
  return state;
}

class PortReader {
 public:
  explicit PortReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      sink_.at(i);
      const std::string_view line = trim(sink_.line(i));
      if (take_device(line) || take_netdev(line)) continue;
      if (const auto pair = key_value(line); pair && !nic_.empty()) take_value(*pair);
    }
    close();
  }

 private:
  std::string port() const { return nic_ + "/port" + (port_.empty() ? "1" : port_); }

  void begin(std::string_view nic, std::string_view port) {
    close();
    nic_ = nic;
    port_ = port;
  }

  /// ibv_devinfo gives lanes and the rate of one.
  void close() {
    if (lanes_ > 0 && lane_Gbs_ > 0) sink_.number("nic.rate_Gbs", port(), lanes_ * lane_Gbs_);
    lanes_ = lane_Gbs_ = 0;
  }

  bool take_device(std::string_view line) {
    if (line.starts_with("CA '")) {
      begin(between(line, "'", "'"), {});
      return true;
    }
    if (line.starts_with("Infiniband device '")) {
      begin(between(line, "'", "'"), before(after(line, " port "), " "));
      return true;
    }
    if (line.starts_with("hca_id:")) {
      begin(trim(line.substr(7)), {});
      return true;
    }
    if (line.starts_with("Port ") && line.ends_with(":") && leading_number(line.substr(5))) {
      close();
      port_ = trim(before(line.substr(5), ":"));
      return true;
    }
    if (line.starts_with("port:") && !nic_.empty()) {
      close();
      port_ = trim(line.substr(5));
      return true;
    }
    return false;
  }

  /// "mlx5_0 port 1 ==> ib0 (Up)"
  bool take_netdev(std::string_view line) {
    const auto words = split_words(line);
    if (words.size() < 5 || words[1] != "port" || words[3] != "==>") return false;
    const std::string subject = std::string(words[0]) + "/port" + std::string(words[2]);
    sink_.text("nic.netdev", subject, words[4]);
    if (words.size() > 5) sink_.text("nic.netdev_state", subject, between(words[5], "(", ")"));
    return true;
  }

  void take_value(const KeyValue& pair) {
    const std::string key = to_lower(pair.key);
    const std::string_view value = pair.value;
    if (key == "ca type") sink_.text("nic.type", nic_, value);
    else if (key == "firmware version" || key == "fw_ver") sink_.text("nic.firmware", nic_, value);
    else if (key == "node guid" || key == "node_guid") sink_.text("nic.guid", nic_, value);
    else if (key == "board_id") sink_.text("nic.board", nic_, value);
    else if (key == "vendor_part_id") sink_.text("nic.type", nic_, "MT" + std::string(value));
    else if (key == "state") sink_.text("nic.state", port(), plain_state(value));
    else if (key == "physical state" || key == "phys state" || key == "phys_state")
      sink_.text("nic.physical_state", port(), plain_state(value));
    else if (key == "rate") sink_.measure("nic.rate_Gbs", port(), value);
    else if (key == "base lid" || key == "port_lid") lid("nic.lid", value);
    else if (key == "sm lid" || key == "sm_lid") lid("nic.sm_lid", value);
    else if (key == "link layer" || key == "link_layer")
      sink_.text("nic.link_layer", port(), value);
    else if (key == "active_mtu") sink_.measure("nic.mtu", port(), value);
    else if (key == "active_width") lanes_ = leading_number(value).value_or(0);
    else if (key == "active_speed") lane_Gbs_ = leading_number(value).value_or(0);
  }

  void lid(std::string_view signal, std::string_view value) {
    const auto number = parse_int(value, value.starts_with("0x") ? 16 : 10);
    if (number) sink_.number(signal, port(), static_cast<double>(*number));
  }

  SignalSink& sink_;
  std::string nic_, port_;
  double lanes_ = 0, lane_Gbs_ = 0;
};

int recognise(const TextIndex& text) {
  for (const char* mark : {"CA '", "hca_id:", "Infiniband device '", "==> "})
    if (text.has(mark)) return 80;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  PortReader(sink).read();
}

}  // namespace

extern const SignalReader ib_ports_signals;
const SignalReader ib_ports_signals = {"ib-ports", "ibstat, ibstatus, ibv_devinfo, ibdev2netdev",
                                       recognise, read};

}  // namespace isleway::formats
