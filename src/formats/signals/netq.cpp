// NetQ's and NMX's list of compute nodes: which NVLink domain each is in (JSON, line by line).
#include "formats/signal_sink.hpp"

namespace isleway::formats {
namespace {

class NetqReader {
 public:
  explicit NetqReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      const std::string_view line = trim(sink_.line(i));
      // A new node's first key, or the end of the list.
      if (line.starts_with("\"CreatedAt\"") || line.starts_with("]")) flush(line.starts_with("]"));
      for (const std::string_view key : kKeys)
        if (line.starts_with("\"" + std::string(key) + "\""))
          facts_.push_back({key, value_of(line), i});
    }
    flush(false);
  }

 private:
  static constexpr std::string_view kKeys[] = {
      "DomainUUID",          "Health", "Name",   "ChassisID",
      "ChassisSerialNumber", "HostID", "SlotID", "TrayIndex"};
  struct Fact {
    std::string_view key, value;
    std::size_t line;
  };

  static std::string_view value_of(std::string_view line) {
    std::string_view value = trim(after(line, ":"));
    if (value.ends_with(",")) value.remove_suffix(1);
    return value.size() >= 2 && value[0] == '"' ? value.substr(1, value.size() - 2) : value;
  }

  /// A list inside a node (its GPUs) ends with a bracket too: a node is one that has a name.
  void flush(bool only_if_named) {
    std::string_view node;
    for (const Fact& fact : facts_)
      if (fact.key == "Name") node = fact.value;
    if (node.empty() && only_if_named) return;
    for (const Fact& fact : facts_) {
      sink_.at(fact.line, node);
      if (fact.key == "DomainUUID") sink_.text("fabric.cluster_uuid", "", fact.value);
      else if (fact.key == "Health") sink_.text("netq.health", "", fact.value);
      else if (fact.key == "ChassisSerialNumber") sink_.text("platform.chassis", "", fact.value);
      else if (fact.key == "HostID") sink_.text("platform.host", "", fact.value);
      else if (fact.key == "SlotID") sink_.text("platform.slot", "", fact.value);
      else if (fact.key == "TrayIndex") sink_.text("platform.tray", "", fact.value);
    }
    facts_.clear();
  }

  SignalSink& sink_;
  std::vector<Fact> facts_;
};

int recognise(const TextIndex& text) { return text.has("\"DomainUUID\"") ? 90 : 0; }

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  NetqReader(sink).read();
}

}  // namespace

extern const SignalReader netq_signals;
const SignalReader netq_signals = {"netq", "NetQ's list of compute nodes", recognise, read};

}  // namespace isleway::formats
