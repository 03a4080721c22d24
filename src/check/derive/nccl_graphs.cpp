// Graphs that NCCL found: equal on every host, or rings change rails between them.
#include <map>
#include <set>

#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

/// "pattern 4: crossNic 0 on n1, 1 on n2"
void derive_nccl_graphs(Facts& facts, const Input&, const Context&) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> values;
  std::map<std::string, std::vector<const Signal*>> lines;
  for (const NodeFacts& node : facts.nodes())
    for (const char* name : {"nccl.graph_cross_nic", "nccl.graph_channels"})
      for (const Fact& fact : node.named(name)) {
        const std::string key = std::string(name) + " of pattern " + fact.signal->subject;
        auto& nodes = values[key][value_text(*fact.signal)];
        if (nodes.empty()) lines[key].push_back(fact.signal);
        nodes.push_back(node.name().empty() ? "a rank" : node.name());
      }
  for (const auto& [key, by_value] : values) {
    if (by_value.size() < 2) continue;
    std::string text = key + ":";
    for (const auto& [value, nodes] : by_value)
      text += " " + value + " on " + list_text(nodes, 4) + ";";
    text.pop_back();
    NodeFacts& node = facts.nodes().size() == 1 ? facts.nodes()[0] : facts.cluster();
    node.add(Derived{{"graph.differs", "", "", text, "", {}, ""}, lines[key], {}});
  }
}

}  // namespace

extern const Derivation nccl_graphs_derivation;
const Derivation nccl_graphs_derivation = {"NCCL's graphs on different hosts", derive_nccl_graphs};

}  // namespace isleway::check
