// Ethernet below RoCE: ethtool (speed, link), ethtool -S and rdma statistic (counters), rdma link.
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// Counters that tell of loss, of damage, or of a network that holds its senders back. Names:
/// NVIDIA's mlx5 driver,
/// https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html
constexpr std::string_view kCounters[] = {
    "discards_phy",     "crc_errors_phy",    "symbol_err_phy", "link_down_events_phy",
    "out_of_buffer",    "out_of_sequence",   "packet_seq_err", "local_ack_timeout_err",
    "roce_adp_retrans", "rnr_nak_retry_err", "np_cnp_sent",    "rp_cnp_handled",
    "_pause",           "duplicate_request", "_discards",      "implied_nak_seq_err"};

bool is_counted(std::string_view name) {
  for (const std::string_view end : kCounters)
    if (name.ends_with(end)) return true;
  return false;
}

class EthernetReader {
 public:
  explicit EthernetReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    const std::string_view first = sink_.line(0);
    if (first.starts_with("$ ") && contains(first, "ethtool")) device_ = split_words(first).back();
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      sink_.at(i);
      take(trim(sink_.line(i)));
    }
  }

 private:
  void take(std::string_view line) {
    if (line.starts_with("link ")) return take_rdma(split_words(line));
    if (line.starts_with("Settings for ") && line.ends_with(":")) {
      device_ = line.substr(13, line.size() - 14);
      return;
    }
    if (line.starts_with("NIC statistics:")) {
      in_statistics_ = true;
      return;
    }
    const auto pair = key_value(line);
    if (!pair || device_.empty()) return;
    if (in_statistics_) return take_counter(device_, pair->key, pair->value);
    if (pair->key == "Speed" && pair->value.ends_with("Mb/s")) {
      if (const auto speed = leading_number(pair->value))
        sink_.number("nic.rate_Gbs", device_, *speed / 1000);
    } else if (pair->key == "Link detected") {
      sink_.text("nic.state", device_, pair->value == "yes" ? "Active" : "Down");
      sink_.text("nic.link_layer", device_, "Ethernet");
    }
  }

  /// "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0",
  /// "link mlx5_0/1 rx_write_requests 12 out_of_sequence 0 ..."
  void take_rdma(const std::vector<std::string_view>& words) {
    if (words.size() < 4 || !contains(words[1], "/")) return;
    const std::string port =
        std::string(before(words[1], "/")) + "/port" + std::string(after(words[1], "/"));
    for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
      if (words[i] == "state")
        sink_.text("nic.state", port, words[i + 1] == "ACTIVE" ? "Active" : words[i + 1]);
      else if (words[i] == "netdev") take_netdev(port, words[i + 1]);
      else take_counter(port, words[i], words[i + 1]);
    }
  }

  void take_netdev(const std::string& port, std::string_view name) {
    sink_.text("nic.netdev", port, name);
    if (!name.starts_with("ib")) sink_.text("nic.link_layer", port, "Ethernet");
  }

  void take_counter(std::string_view device, std::string_view name, std::string_view value) {
    if (is_counted(name)) sink_.measure("nic.counter", device, value, name);
  }

  SignalSink& sink_;
  std::string_view device_;
  bool in_statistics_ = false;
};

int recognise(const TextIndex& text) {
  return text.has("NIC statistics:") || text.has("Settings for ") ||
                 (text.has("link ") &&
                  (text.has(" physical_state ") || text.has(" out_of_sequence ")))
             ? 80
             : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  EthernetReader(sink).read();
}

}  // namespace

extern const SignalReader ethtool_signals;
const SignalReader ethtool_signals = {"ethtool", "ethtool, rdma link, rdma statistic", recognise,
                                      read};

}  // namespace isleway::formats
