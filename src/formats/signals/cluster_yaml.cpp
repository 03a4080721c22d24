// YAML of schedulers: Slurm's topology.yaml and topograph's models.
// Formats: https://slurm.schedmd.com/topology.yaml.html; NVIDIA/topograph, docs.
#include <map>

#include "fabric/yaml_reader.hpp"
#include "formats/paste/host_names.hpp"
#include "formats/slurm_tree.hpp"

namespace isleway::formats {
namespace {

std::size_t line_of(const YAML::Node& node) {
  return static_cast<std::size_t>(std::max(node.Mark().line, 0));
}

std::string text_of(const YAML::Node& node, const char* key) {
  if (!node.IsMap()) return {};
  const YAML::Node value = node[key];
  return value && value.IsScalar() ? value.Scalar() : std::string();
}

/// A list, or a single word, of host lists.
std::vector<std::string> names_of(const YAML::Node& node) {
  std::vector<std::string> names;
  const auto add = [&](const YAML::Node& item) {
    if (!item.IsScalar()) return;
    for (std::string& name : expand_hosts(item.Scalar())) names.push_back(std::move(name));
  };
  if (node && node.IsSequence()) {
    for (const YAML::Node& item : node) add(item);
  } else if (node && node.IsScalar()) {
    add(node);
  }
  return names;
}

class SlurmYamlReader {
 public:
  explicit SlurmYamlReader(SignalSink& sink) : sink_(sink) {}

  void read(const YAML::Node& root) {
    for (const YAML::Node& topology : root) {
      if (!topology.IsMap() || !topology["topology"]) continue;
      const std::string name = text_of(topology, "topology");
      for (const char* kind : {"tree", "block", "flat", "ring", "torus3d"}) {
        const YAML::Node body = topology[kind];
        if (!body) continue;
        sink_.at(line_of(topology));
        sink_.text("slurm.topology", name, kind);
        if (kind == std::string_view("tree")) read_tree(body, name);
        if (kind == std::string_view("block")) read_block(body, name);
      }
    }
  }

 private:
  void read_tree(const YAML::Node& tree, const std::string& name) {
    std::vector<SlurmSwitch> switches;
    if (!tree.IsMap() || !tree["switches"] || !tree["switches"].IsSequence()) return;
    for (const YAML::Node& node : tree["switches"]) {
      if (!node.IsMap()) continue;
      SlurmSwitch one{text_of(node, "switch"), names_of(node["children"]), 0, line_of(node)};
      sink_.at(one.line);
      one.nodes = add_slurm_nodes(sink_, text_of(node, "nodes"), one.name);
      switches.push_back(std::move(one));
    }
    add_slurm_tree(sink_, switches, name);
  }

  void read_block(const YAML::Node& block, const std::string& name) {
    if (!block.IsMap()) return;
    const YAML::Node sizes = block["block_sizes"];
    if (sizes && sizes.IsSequence())
      for (const YAML::Node& size : sizes) {
        sink_.at(line_of(size));
        if (size.IsScalar()) sink_.measure("slurm.block_size", name, size.Scalar());
      }
    const YAML::Node blocks = block["blocks"];
    if (!blocks || !blocks.IsSequence()) return;
    std::size_t total = 0;
    for (const YAML::Node& one : blocks) {
      sink_.at(line_of(one));
      const std::string block_name = text_of(one, "block");
      const std::size_t nodes = add_slurm_nodes(sink_, text_of(one, "nodes"), block_name);
      sink_.number("slurm.block", block_name, static_cast<double>(nodes));
      total += nodes;
    }
    sink_.at(line_of(block));
    sink_.number("slurm.nodes", name, static_cast<double>(total));
  }

  SignalSink& sink_;
};

/// `switches:` by name with switches below, `blocks:` with nodes and their domains.
void read_topograph(const YAML::Node& root, SignalSink& sink) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> domains;  // line, nodes
  const YAML::Node switches = root["switches"], blocks = root["blocks"];
  if (switches && switches.IsMap()) {
    for (const auto& entry : switches) {
      if (!entry.first.IsScalar() || !entry.second.IsMap()) continue;
      sink.at(line_of(entry.first));
      for (const std::string& child : names_of(entry.second["switches"]))
        sink.number("cluster.uplink", child, 1, entry.first.Scalar());
    }
  }
  if (!blocks || !blocks.IsSequence()) return;
  for (const YAML::Node& block : blocks) {
    if (!block.IsMap()) continue;
    sink.at(line_of(block));
    std::string domain = text_of(block, "nvlink"), sub_domain;
    if (const YAML::Node notes = block["annotations"]; notes && notes.IsMap())
      for (const auto& entry : notes) {
        if (!entry.first.IsScalar() || !entry.second.IsScalar()) continue;
        if (entry.first.Scalar().ends_with("/sub-domain")) sub_domain = entry.second.Scalar();
        else if (entry.first.Scalar().ends_with("/domain")) domain = entry.second.Scalar();
      }
    for (const std::string& node : names_of(block["nodes"])) {
      sink.text("cluster.switch", node, text_of(block, "switch"));
      sink.text("cluster.domain", node, domain);
      sink.text("cluster.sub_domain", node, sub_domain);
      if (domain.empty()) continue;
      const auto [place, is_new] = domains.try_emplace(domain, line_of(block), 0);
      ++place->second.second;
    }
  }
  for (const auto& [domain, place] : domains) {
    sink.at(place.first);
    sink.number("cluster.domain_nodes", domain, static_cast<double>(place.second));
  }
}

int recognise(const TextIndex& text) {
  if (text.has("topology:") && (text.has("block_sizes:") || text.has("cluster_default:") ||
                                text.has("switches:") || text.has("blocks:")))
    return 90;
  return text.has("switches:") && text.has("blocks:") ? 90 : 0;
}

void read(std::string_view text, const Location& from, Signals& signals, Notices& notices) {
  SignalSink sink(text, from, signals, notices);
  // The line of a prompt is no YAML; a comment in its place keeps the lines' numbers.
  std::string document(text);
  if (document.starts_with("$ ")) document[0] = '#';
  auto file = YamlFile::parse(document, from.file);
  if (!file) return notices.skipped(file.error().where, file.error().what);
  try {
    if (file->root().IsSequence()) SlurmYamlReader(sink).read(file->root());
    else if (file->root().IsMap()) read_topograph(file->root(), sink);
  } catch (const YAML::Exception& error) {  // a node of a shape that its getters refuse
    notices.skipped({from.file, error.mark.line + 1}, error.msg);
  }
}

}  // namespace

extern const SignalReader cluster_yaml_signals;
const SignalReader cluster_yaml_signals = {
    "cluster-yaml", "Slurm's topology.yaml, topograph's model", recognise, read};

}  // namespace isleway::formats
