#include "formats/slurm_tree.hpp"

#include <set>

#include "formats/paste/host_names.hpp"

namespace isleway::formats {

void add_slurm_tree(SignalSink& sink, const std::vector<SlurmSwitch>& switches,
                    const std::string& topology) {
  if (switches.empty()) return;
  std::set<std::string> below;
  std::size_t nodes = 0;
  for (const SlurmSwitch& one : switches) {
    sink.at(one.line);
    sink.number("slurm.switch", one.name, static_cast<double>(one.nodes));
    nodes += one.nodes;
    for (const std::string& child : one.switches) {
      sink.number("slurm.uplink", child, 1, one.name);
      below.insert(child);
    }
  }
  std::size_t islands = 0;
  for (const SlurmSwitch& one : switches) islands += below.contains(one.name) ? 0 : 1;
  sink.at(switches.front().line);
  sink.number("slurm.nodes", topology, static_cast<double>(nodes));
  sink.number("slurm.islands", topology, static_cast<double>(islands));
}

std::size_t add_slurm_nodes(SignalSink& sink, std::string_view list, const std::string& place) {
  const std::vector<std::string> nodes = expand_hosts(list);
  if (nodes.empty() && !trim(list).empty()) sink.skipped("a list of nodes that cannot be read");
  for (const std::string& node : nodes) sink.text("slurm.node_of", node, place);
  return nodes.size();
}

}  // namespace isleway::formats
