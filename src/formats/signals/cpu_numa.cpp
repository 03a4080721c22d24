// CPUs and memory nodes: lscpu, numactl -H and -s, taskset, /proc/self/status.
#include <map>

#include "formats/cpu_mask.hpp"
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

class CpuReader {
 public:
  explicit CpuReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      sink_.at(i);
      const std::string_view line = trim(sink_.line(i));
      if (take_distance(line)) continue;
      if (const auto pair = key_value(line)) take(*pair, i);
    }
    if (cpus_.empty()) return;
    sink_.at(first_);
    std::size_t filled = 0;
    for (const auto& [numa, has_cpus] : cpus_) filled += has_cpus ? 1 : 0;
    sink_.number("cpu.numa_nodes_with_cpus", "", static_cast<double>(filled));
  }

 private:
  void take(const KeyValue& pair, std::size_t i) {
    static constexpr std::pair<std::string_view, std::string_view> texts[] = {
        {"Architecture", "cpu.architecture"},  {"Model name", "cpu.model"},
        {"Vendor ID", "cpu.vendor"},           {"Hypervisor vendor", "node.hypervisor"},
        {"Cpus_allowed_list", "process.cpus"}, {"physcpubind", "process.cpus"}};
    for (const auto& [key, signal] : texts)
      if (pair.key == key) return sink_.text(signal, "", pair.value);
    if (pair.key == "CPU(s)") return number("cpu.count", pair.value);
    if (pair.key == "Socket(s)") return number("cpu.sockets", pair.value);
    if (pair.key == "NUMA node(s)") return number("cpu.numa_nodes", pair.value);
    if (pair.key == "available" && contains(pair.value, "nodes"))
      return number("cpu.numa_nodes", pair.value);
    if (contains(pair.key, "current affinity list"))
      return sink_.text("process.cpus", "", pair.value);
    if (contains(pair.key, "current affinity mask"))
      if (const auto cpus = CpuMask::from_words(pair.value))
        return sink_.text("process.cpus", "", cpus->ranges());
    take_node(pair, i);
  }

  void number(std::string_view signal, std::string_view value) { sink_.measure(signal, "", value); }

  /// "NUMA node0 CPU(s): 0-55", "node 0 cpus: 0 1 2", "node 0 size: 515000 MB"
  void take_node(const KeyValue& pair, std::size_t i) {
    const auto words = split_words(pair.key);
    std::string numa;
    if (words.size() == 3 && words[0] == "NUMA" && words[1].starts_with("node"))
      numa = "numa" + std::string(words[1].substr(4));
    else if (words.size() == 3 && words[0] == "node" && parse_int(words[1]))
      numa = "numa" + std::string(words[1]);
    else return;
    if (words[2] == "CPU(s)" || words[2] == "cpus") {
      if (cpus_.empty()) first_ = i;
      cpus_[numa] = !pair.value.empty();
      sink_.raw("numa.cpus", numa, pair.value);
    } else if (words[2] == "size") {
      sink_.measure("numa.memory_MB", numa, pair.value);
    } else if (words[2] == "free") {
      sink_.measure("numa.free_MB", numa, pair.value);
    }
  }

  /// "node   0   1" and then "  0:  10  21"
  bool take_distance(std::string_view line) {
    const auto words = split_words(line);
    if (words.size() > 1 && words[0] == "node" && words.size() <= 257) {
      bool numbers = true;
      for (std::size_t j = 1; j < words.size(); ++j) numbers = numbers && parse_int(words[j]);
      if (numbers) {
        columns_.assign(words.begin() + 1, words.end());
        return true;
      }
    }
    if (columns_.empty() || words.size() != columns_.size() + 1 || !words[0].ends_with(":"))
      return false;
    const std::string from = "numa" + std::string(before(words[0], ":"));
    for (std::size_t j = 0; j < columns_.size(); ++j)
      sink_.measure("numa.distance", from, words[j + 1], "numa" + std::string(columns_[j]));
    return true;
  }

  SignalSink& sink_;
  std::map<std::string, bool> cpus_;
  std::vector<std::string_view> columns_;
  std::size_t first_ = 0;
};

int recognise(const TextIndex& text) {
  for (const char* mark : {"NUMA node(s)", "node distances:", "Cpus_allowed_list", "physcpubind",
                           "current affinity list", "current affinity mask", "Socket(s)",
                           " cpus:", "Hypervisor vendor", "NUMA node0"})
    if (text.has(mark)) return 80;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  CpuReader(sink).read();
}

}  // namespace

extern const SignalReader cpu_numa_signals;
const SignalReader cpu_numa_signals = {"cpu-numa", "lscpu, numactl, taskset", recognise, read};

}  // namespace isleway::formats
