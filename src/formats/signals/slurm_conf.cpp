// Slurm's key=value files: topology.conf (tree and block), gres.conf, parts of slurm.conf.
// Format: https://slurm.schedmd.com/topology.conf.html, gres.conf.html, slurm.conf.html.
#include "formats/paste/host_names.hpp"
#include "formats/slurm_tree.hpp"

namespace isleway::formats {
namespace {

/// "SwitchName=s1 Nodes=n[1-8]" as pairs; names of keys are compared without case.
struct Pairs {
  std::vector<KeyValue> all;
  std::string_view get(std::string_view key) const {
    for (const KeyValue& pair : all)
      if (equal_ignoring_case(pair.key, key)) return pair.value;
    return {};
  }
  bool has(std::string_view key) const {
    for (const KeyValue& pair : all)
      if (equal_ignoring_case(pair.key, key)) return true;
    return false;
  }
};
Pairs pairs_of(std::string_view line) {
  Pairs pairs;
  for (const std::string_view word : split_words(before(line, "#")))
    if (const std::size_t equals = word.find('='); equals != std::string_view::npos && equals > 0)
      pairs.all.push_back({word.substr(0, equals), word.substr(equals + 1)});
  return pairs;
}

/// What slurm.conf sets that placement and GPUs depend on.
constexpr std::string_view kParameters[] = {"TopologyPlugin",
                                            "TopologyParam",
                                            "SelectType",
                                            "SelectTypeParameters",
                                            "GresTypes",
                                            "TaskPlugin",
                                            "TaskPluginParam",
                                            "LaunchParameters",
                                            "PropagateResourceLimits",
                                            "PropagateResourceLimitsExcept",
                                            "ClusterName"};

class SlurmReader {
 public:
  explicit SlurmReader(SignalSink& sink) : sink_(sink) {}

  void read() {
    if (refuse_template()) return;
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      sink_.at(i);
      const Pairs pairs = pairs_of(sink_.line(i));
      if (!pairs.all.empty()) take(pairs, i);
    }
    if (!switches_.empty()) {
      sink_.at(switches_.front().line);
      sink_.text("slurm.topology", "", "tree");
    }
    add_slurm_tree(sink_, switches_, "");
    if (blocks_ > 0 && switches_.empty()) {
      sink_.at(first_block_);
      sink_.text("slurm.topology", "", "block");
      sink_.number("slurm.nodes", "", static_cast<double>(block_nodes_));
    }
  }

 private:
  bool refuse_template() {
    for (std::size_t i = 0; i < sink_.size(); ++i) {
      if (!contains(sink_.line(i), "{%") && !contains(sink_.line(i), "{{")) continue;
      sink_.at(i);
      sink_.number("slurm.template", "", 1);
      sink_.skipped("this is a template that nobody has rendered, not a configuration");
      return true;
    }
    return false;
  }

  void take(const Pairs& pairs, std::size_t i) {
    if (pairs.has("SwitchName")) return take_switch(pairs, i);
    if (pairs.has("BlockName")) return take_block(pairs, i);
    if (pairs.has("BlockSizes")) {
      for (const std::string_view size : split(pairs.get("BlockSizes"), ','))
        sink_.measure("slurm.block_size", "", size);
      return;
    }
    if (pairs.has("AutoDetect")) sink_.text("gres.autodetect", "", pairs.get("AutoDetect"));
    if (pairs.get("Name") == "gpu") take_gres(pairs);
    for (const std::string_view key : kParameters)
      if (pairs.has(key)) sink_.text("slurm.parameter", key, pairs.get(key));
  }

  void take_switch(const Pairs& pairs, std::size_t i) {
    SlurmSwitch one{std::string(pairs.get("SwitchName")), {}, 0, i};
    if (pairs.has("Switches")) {
      one.switches = expand_hosts(pairs.get("Switches"));
      if (one.switches.empty()) sink_.skipped("a list of switches that cannot be read");
    }
    if (pairs.has("Nodes")) one.nodes = add_slurm_nodes(sink_, pairs.get("Nodes"), one.name);
    switches_.push_back(std::move(one));
  }

  void take_block(const Pairs& pairs, std::size_t i) {
    if (blocks_++ == 0) first_block_ = i;
    const std::string name(pairs.get("BlockName"));
    const std::size_t nodes = add_slurm_nodes(sink_, pairs.get("Nodes"), name);
    sink_.number("slurm.block", name, static_cast<double>(nodes));
    block_nodes_ += nodes;
  }

  void take_gres(const Pairs& pairs) {
    const std::string_view file = pairs.get("File");
    sink_.text("gres.links", file, pairs.get("Links"));
    sink_.text("gres.cores", file, pairs.get("Cores"));
    sink_.text("gres.type", file, pairs.get("Type"));
    if (const std::string_view nodes = pairs.get("NodeName"); !nodes.empty())
      sink_.text("gres.nodes", file, nodes);
  }

  SignalSink& sink_;
  std::vector<SlurmSwitch> switches_;
  std::size_t blocks_ = 0, first_block_ = 0, block_nodes_ = 0;
};

int recognise(const TextIndex& text) {
  for (const char* mark : {"SwitchName=", "BlockName=", "AutoDetect=", "Name=gpu",
                           "TopologyPlugin=", "GresTypes=", "TaskPlugin=", "switchname="})
    if (text.has(mark)) return 90;
  return 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  SlurmReader(sink).read();
}

}  // namespace

extern const SignalReader slurm_conf_signals;
const SignalReader slurm_conf_signals = {"slurm-conf", "topology.conf, gres.conf, slurm.conf",
                                         recognise, read};

}  // namespace isleway::formats
