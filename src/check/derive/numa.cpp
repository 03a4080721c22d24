// CPUs and NUMA nodes against the GPUs that are used from them.
#include <algorithm>
#include <map>

#include "check/cpu_list.hpp"
#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

void add(NodeFacts& node, const char* name, const std::string& subject, double value,
         std::vector<const Signal*> from, Words words) {
  node.add(Derived{{name, subject, "", value, "", {}, ""}, std::move(from), std::move(words)});
}

/// CPUs that the process may use, against those near each GPU.
void process_mask(NodeFacts& node) {
  const Signal* process = node.find("process.cpus");
  if (!process) return;
  const auto mine = parse_cpu_list(value_text(*process));
  if (!mine) return;
  if (size_of(*mine) == 1)
    add(node, "numa.one_cpu", "", 1, {process}, {{"cpus", value_text(*process)}});
  for (const Fact& fact : node.named("topo.cpu_affinity")) {
    if (gpu_number(fact.signal->subject) < 0) continue;
    const auto near = parse_cpu_list(value_text(*fact.signal));
    if (!near || overlap(*mine, *near)) continue;
    add(node, "numa.process_elsewhere", fact.signal->subject, 1, {process, fact.signal},
        {{"cpus", value_text(*process)}, {"near", value_text(*fact.signal)}});
  }
}

/// GPUs by what topo -m says of their CPUs, in the order met.
struct Places {
  std::vector<std::string> names;
  std::map<std::string, std::vector<const Signal*>> gpus;
};
Places places_by(const NodeFacts& node, std::string_view name) {
  Places places;
  for (const Fact& fact : node.named(name)) {
    if (gpu_number(fact.signal->subject) < 0) continue;
    auto& gpus = places.gpus[value_text(*fact.signal)];
    if (gpus.empty()) places.names.push_back(value_text(*fact.signal));
    gpus.push_back(fact.signal);
  }
  return places;
}

void uneven(NodeFacts& node) {
  Places places = places_by(node, "topo.numa_affinity");
  if (places.names.size() < 2) places = places_by(node, "topo.cpu_affinity");
  if (places.names.size() < 2) return;
  std::size_t least = places.gpus[places.names[0]].size(), most = least;
  std::string counts, members;
  std::vector<const Signal*> from;
  for (const std::string& name : places.names) {
    const auto& gpus = places.gpus[name];
    least = std::min(least, gpus.size());
    most = std::max(most, gpus.size());
    counts += (counts.empty() ? "" : "+") + std::to_string(gpus.size());
    from.push_back(gpus[0]);
    std::vector<std::string> subjects;
    for (const Signal* gpu : gpus) subjects.push_back(subject_text(gpu->subject));
    members += (members.empty() ? "{" : " {") + list_text(subjects) + "}";
  }
  const Words words = {{"counts", counts}, {"members", members}};
  if (least != most) add(node, "numa.uneven", "", double(most), std::move(from), words);
  else if (!node.has("topo.nvlinks"))
    add(node, "numa.groups", "", double(places.names.size()), std::move(from), words);
}

/// A list with more than one node in it, where GPU memory is nodes too: Grace.
void memory_nodes(NodeFacts& node) {
  for (const Fact& fact : node.named("topo.numa_affinity")) {
    const auto list = parse_cpu_list(value_text(*fact.signal));
    const Signal* own = node.find("topo.gpu_numa", fact.signal->subject);
    if (!list || size_of(*list) < 2 || !own || whole_number(*own).value_or(-1) < 0) continue;
    add(node, "numa.memory_only_nodes", fact.signal->subject, size_of(*list), {fact.signal},
        {{"nodes", value_text(*fact.signal)},
         {"cpu_node", std::to_string(list->front().first)},
         {"gpu_node", value_text(*own)}});
  }
  const Signal* all = node.find("cpu.numa_nodes");
  const Signal* with_cpus = node.find("cpu.numa_nodes_with_cpus");
  if (all && with_cpus && number_of(*all) > number_of(*with_cpus))
    add(node, "numa.nodes_without_cpus", "", number_of(*all) - number_of(*with_cpus),
        {all, with_cpus}, {{"all", value_text(*all)}, {"with_cpus", value_text(*with_cpus)}});
}

/// Every NIC across the socket from GPUs that all sit at one.
void nics_on_other_socket(NodeFacts& node) {
  const Places places = places_by(node, "topo.cpu_affinity");
  if (places.names.size() != 1 || places.gpus.begin()->second.size() < 2) return;
  const Signal* line = nullptr;
  for (const Fact& fact : node.named("topo.link")) {
    if (gpu_number(fact.signal->subject) < 0 || gpu_number(fact.signal->peer) >= 0) continue;
    if (value_text(*fact.signal) != "SYS") return;
    line = fact.signal;
  }
  if (line && !node.has("nic.all_far_on_grace"))
    add(node, "numa.nics_on_other_socket", "", 1, {line}, {{"cpus", places.names[0]}});
}

void derive_numa(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    process_mask(node);
    uneven(node);
    memory_nodes(node);
    nics_on_other_socket(node);
  }
}

}  // namespace

extern const Derivation numa_derivation;
const Derivation numa_derivation = {"CPUs and NUMA nodes against GPUs", derive_numa};

}  // namespace isleway::check
