// NCCL's log: settings, networks, transports, warnings, graphs, and the topology's rates.
// Texts: NCCL's src/init.cc, src/transport/*.cc, src/graph/*.cc.
#include <array>
#include <set>

#include "formats/nccl_log_tree.hpp"
#include "formats/nccl_tests_lines.hpp"
#include "formats/pci.hpp"
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

/// "[receive] via NET/IB/1" in a line of a channel.
struct Way {
  std::string_view signal, transport;
};

class NcclLogReader {
 public:
  explicit NcclLogReader(SignalSink& sink) : sink_(sink) {}

  void read(std::string_view text) {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      const std::string_view line = sink_.line(i);
      std::string_view process;
      const std::string_view message = trim(log_message(line, &process));
      const bool is_log = contains(line, "NCCL ");
      if (!is_log && !contains(line, "] via ") && !contains(line, "crossNic")) continue;
      host_ = log_host(process.empty() ? line : process);
      sink_.at(i, host_);
      take_warning(line);
      take_version(line);
      take_channel(message);
      take_message(message);
    }
    take_topology(text);
  }

 private:
  /// Each text once a host.
  bool is_new(std::string_view kind, std::string_view text) {
    std::string key(host_);
    key.append("\n").append(kind).append("\n").append(text);
    if (said_.size() > kMostTexts) return false;
    return said_.insert(std::move(key)).second;
  }

  void once(std::string_view name, std::string_view subject, std::string_view value,
            std::string_view peer = {}) {
    if (is_new(name, std::string(subject) + "\n" + std::string(peer) + "\n" + std::string(value)))
      sink_.text(name, subject, value, peer);
  }

  void once(std::string_view name, std::string_view subject, double value) {
    if (is_new(name, std::string(subject) + "\n" + std::to_string(value)))
      sink_.number(name, subject, value);
  }

  void take_warning(std::string_view line) {
    const std::string_view text = trim(after(line, "NCCL WARN"));
    if (text.empty()) return;
    const std::string_view head = trim(before(line, "NCCL WARN"));
    const std::size_t blank = head.rfind(' ');
    const std::string_view place = blank == std::string_view::npos ? head : head.substr(blank + 1);
    once("nccl.warning", contains(place, ".cc:") ? place : std::string_view(), text);
  }

  void take_version(std::string_view line) {
    const std::string version = nccl_version_in(line);
    if (!version.empty()) once("nccl.version", "", version);
  }

  /// "Channel 00/0 : 9[1a000] -> 2[6b000] [send] via NET/IB/0/GDRDMA"
  void take_channel(std::string_view text) {
    const std::size_t arrow = text.find("] -> ");
    if (arrow == std::string_view::npos || !contains(text, " via ")) return;
    const std::size_t open = text.rfind('[', arrow);
    if (open == std::string_view::npos) return;
    std::size_t start = open;
    while (start > 0 && text[start - 1] >= '0' && text[start - 1] <= '9') --start;
    const std::string from = "rank" + std::string(text.substr(start, open - start));
    const std::string_view rest = text.substr(arrow + 5);
    const std::string to = "rank" + std::string(before(rest, "["));
    if (from.size() < 5 || to.size() < 5 || to.size() > 12) return;
    bool directed = false;
    for (const Way& way : {Way{"nccl.send", "[send] via "}, Way{"nccl.receive", "[receive] via "}})
      if (const std::string_view via = first_word(after(rest, way.transport)); !via.empty()) {
        once(way.signal, from, via, to);
        directed = true;
      }
    if (!directed) once("nccl.transport", from, first_word(after(rest, " via ")), to);
  }

  void take_message(std::string_view text) {
    if (const auto network = after(text, "Using network "); !network.empty())
      once("nccl.network", "", network);
    if (contains(text, " set by environment to ")) take_setting(text);
    take_gdr(text);
    take_nics(text);
    for (const char* mark :
         {"multicast support is not available", "P2P is disabled between", "Could not enable P2P",
          "No device found", "Failed to open libibverbs", "Topology detection : could not read",
          "libibverbs.so", "peer access is not supported", "NVLS is disabled", "Not using MNNVL",
          "falling back to"})
      if (contains(text, mark)) {
        once("nccl.remark", "", text.substr(0, 300));
        break;
      }
    number_before("nccl.channels", text, " coll channels");
    number_before("nccl.nvls_channels", text, " nvls channels");
    for (const std::string_view word : {"nranks ", "nRanks "})
      number_after("nccl.ranks", text, word);
    number_after("nccl.nodes", text, "nNodes ");
    take_rank(text);
    take_fabric(text);
    take_graph(text);
    if (text.starts_with("=== System")) {
      for (const std::string_view word : {"maxBw ", "maxWidth "})
        number_after("nccl.max_GBs", text, word);
      for (const std::string_view word : {"totalBw ", "totalWidth "})
        number_after("nccl.total_GBs", text, word);
    }
  }

  void number_before(std::string_view signal, std::string_view text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) return;
    const auto words = split_words(text.substr(0, at));
    if (const auto value = words.empty() ? std::nullopt : parse_int(words.back()))
      once(signal, "", static_cast<double>(*value));
  }

  void number_after(std::string_view signal, std::string_view text, std::string_view mark) {
    if (const auto value = leading_number(after(text, mark))) once(signal, "", *value);
  }

  void take_setting(std::string_view text) {
    const auto words = split_words(before(text, " set by environment to "));
    std::string_view value = trim(after(text, " set by environment to "));
    if (value.ends_with(".")) value.remove_suffix(1);
    if (!words.empty() && words.back().starts_with("NCCL_")) once("env", words.back(), value);
  }

  /// "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'"
  void take_gdr(std::string_view text) {
    const std::string_view state = first_word(after(text, "GPU Direct RDMA "));
    if (state != "Enabled" && state != "Disabled" && state != "(DMABUF)") return;
    const std::string_view nic = between(text, "'", "'");
    once("nccl.gdr", nic, contains(text, "Disabled") ? "Disabled" : "Enabled");
  }

  /// "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_3:1/IB"
  void take_nics(std::string_view text) {
    for (const std::string_view word : split_words(after(text, "NET/IB : Using "))) {
      if (word[0] != '[' || !contains(word, "]")) continue;
      const std::string_view nic = before(after(word, "]"), ":");
      const std::string_view rest = after(after(word, "]"), ":");
      if (!nic.empty() && contains(rest, "/"))
        once("nccl.nic", std::string(nic) + "/port" + std::string(before(rest, "/")),
             after(rest, "/"));
    }
  }

  /// "rank 1 nranks 2 cudaDev 1 nvmlDev 4 busId 87000"
  void take_rank(std::string_view text) {
    const auto rank = leading_number(after(text, " rank "));
    const auto bus = bus_id_from_packed(first_word(after(text, "busId ")));
    if (rank && bus && contains(text, "nranks "))
      once("nccl.rank", "rank" + std::string(first_word(after(text, " rank "))), *bus);
  }

  /// "MNNVL busId 0x87000 fabric UUID 0.0 cliqueId 0x0 state 3 healthMask 0x0"
  void take_fabric(std::string_view text) {
    if (!text.starts_with("MNNVL busId ")) return;
    const auto bus = bus_id_from_packed(first_word(after(text, "busId ")));
    const auto state = parse_int(first_word(after(text, " state ")));
    if (!bus || !state) return;
    // NVML's numbers.
    static constexpr std::array<const char*, 4> states = {"N/A", "Not Started", "In Progress",
                                                          "Completed"};
    if (*state >= 0 && *state < 4)
      sink_.text("fabric.state", *bus, states[static_cast<std::size_t>(*state)]);
    sink_.text("fabric.cluster_uuid", *bus, first_word(after(text, "UUID ")));
    sink_.text("fabric.clique", *bus, first_word(after(text, "cliqueId ")));
  }

  /// "Pattern 3, crossNic 0, nChannels 1, bw 24.000000/12.000000, type LOC/PHB, ..."
  void take_graph(std::string_view text) {
    if (!contains(text, "crossNic ") || !contains(text, "nChannels ")) return;
    std::string_view pattern = before(after(text, "Pattern "), ",");
    if (pattern.empty()) pattern = before(after(text, "pattern "), ",");
    const std::string_view graph = trim(text.substr(text.find("crossNic ")));
    if (!is_new("nccl.graph", std::string(pattern) + "\n" + std::string(graph))) return;
    sink_.text("nccl.graph", pattern, graph);
    sink_.measure("nccl.graph_cross_nic", pattern, after(text, "crossNic "));
    sink_.measure("nccl.graph_channels", pattern, after(text, "nChannels "));
    const std::string_view bw = after(text, " bw ");
    sink_.measure("nccl.graph_GBs", pattern, bw.empty() ? after(text, " speed ") : bw);
  }

  /// The trees that the processes print are alike on one host: the first stands for all.
  void take_topology(std::string_view text) {
    std::set<std::string_view> hosts;
    for (const LogBlock& block : find_log_blocks(text)) {
      host_ = log_host(block.process);
      if (!hosts.insert(host_).second) continue;
      for (const LogNode& node : block.nodes) {
        if (node.rate <= 0 || node.line <= 0) continue;
        sink_.at(static_cast<std::size_t>(node.line) - 1, host_);
        const std::string subject = std::string(node.kind) + "/" + std::string(node.id);
        const std::string_view link = node.link;
        if (link == "PCI") once("nccl.pcie_GBs", subject, node.rate);
        else if (link == "NVL") once("nccl.nvlink_GBs", subject, node.rate);
        else if (link == "NET") once("nccl.net_GBs", subject, node.rate);
        else if (link == "SYS") once("nccl.socket_GBs", subject, node.rate);
      }
    }
  }

  static constexpr std::size_t kMostTexts = 20'000;

  SignalSink& sink_;
  std::string_view host_;
  std::set<std::string> said_;
};

int recognise(const TextIndex& text) {
  if (text.has("NCCL INFO") || text.has("NCCL WARN")) return 90;
  for (const char* mark : {"+ PCI[", "+ NVL[", "+ NET[", "+ SYS[", "NCCL version ", "] via "})
    if (text.has(mark)) return 60;
  return text.has("crossNic ") ? 50 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  NcclLogReader(sink).read(text);
}

}  // namespace

extern const SignalReader nccl_log_signals;
const SignalReader nccl_log_signals = {"nccl-log", "NCCL's log", recognise, read};

}  // namespace isleway::formats
