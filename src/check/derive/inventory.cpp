// How many of what there should be: GPUs, NVSwitches, and whether they are of one kind.
#include <algorithm>
#include <map>
#include <set>

#include "check/derivation.hpp"
#include "check/gpu_matrix.hpp"
#include "check/words.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;
using Lines = std::vector<const Signal*>;

void add(NodeFacts& node, const char* name, double value, Lines from, Words words = {}) {
  node.add(Derived{{name, "", "", value, "", {}, ""}, std::move(from), std::move(words)});
}

std::set<std::string> gpus_shown(const NodeFacts& node) {
  std::set<std::string> gpus;
  for (const char* name : {"gpu.name", "gpu.uuid", "topo.numa_affinity", "topo.cpu_affinity"})
    for (const Fact& fact : node.named(name))
      if (gpu_number(fact.signal->subject) >= 0) gpus.insert(fact.signal->subject);
  return gpus;
}

/// Against the expected machine. Without one only numbers that no board has are odd:
/// `nvidia-smi -q -i 0` and a job in a cgroup show fewer for good reasons.
void gpus(NodeFacts& node, const Context& context) {
  int shown = static_cast<int>(gpus_shown(node).size());
  const Signal* counted = node.find("gpu.count");
  if (counted) shown = std::max(shown, static_cast<int>(number_of(*counted)));
  const Signal* line = counted ? counted : node.find("gpu.name");
  if (shown == 0 || !line) return;
  if (context.machine && context.machine->host_count() > 0) {
    const auto expected =
        static_cast<int>(context.machine->gpu_count() / context.machine->host_count());
    // One GPU's own output is asked for often, and says nothing of the others.
    if (!counted || expected <= shown) return;
    add(node, "gpu.missing", expected - shown, {line},
        {{"expected", std::to_string(expected)},
         {"shown", std::to_string(shown)},
         {"machine", context.machine->name()}});
    return;
  }
  const Product* product = node.product_of("");
  if (product && product->form == "sxm" && (shown == 7 || shown == 15))
    add(node, "gpu.odd_count", shown, {line},
        {{"product", product->name}, {"expected", std::to_string(shown + 1)}});
}

void kinds(NodeFacts& node) {
  std::set<std::string> names;
  Lines lines;
  for (const Fact& fact : node.named("gpu.name"))
    if (names.insert(value_text(*fact.signal)).second) lines.push_back(fact.signal);
  if (names.size() > 1)
    add(node, "gpu.mixed", double(names.size()), lines,
        {{"names", list_text({names.begin(), names.end()})}});
}

/// Chips on boards of eight (DGX-2: sixteen) that carry NVSwitches. Those of Blackwell are no PCI
/// devices: the driver reaches them through InfiniBand bridges (fabric manager user guide).
int switches_of(const Product& product, std::size_t gpus) {
  if (product.wiring != Wiring::nvswitch || gpus < 8) return 0;
  if (product.architecture == "volta") return gpus == 16 ? 12 : 6;
  if (product.architecture == "ampere") return 6;
  return product.architecture == "hopper" ? 4 : 0;
}

/// Boards whose NVSwitches lspci does not list.
void hidden_switches(NodeFacts& node) {
  for (const Fact& fact : node.named("pcie.device"))
    if (is_like_any(value_text(*fact.signal), {"*NVIDIA*B100*", "*NVIDIA*B200*", "*NVIDIA*B300*"}))
      return add(node, "board.needs_switch", 1, {fact.signal});
}

void switches(NodeFacts& node) {
  const Signal* count = node.find("nvswitch.count");
  const Product* product = node.product_of("");
  if (!count || !product) return;
  const int expected = switches_of(*product, node.products.size());
  if (expected == 0 || !(number_of(*count) < expected)) return;
  add(node, "nvswitch.missing", expected - number_of(*count), {count},
      {{"expected", std::to_string(expected)}, {"shown", value_text(*count)}});
}

void single_gpu(NodeFacts& node) {
  std::set<std::string> gpus;
  const Signal* line = nullptr;
  for (const char* name : {"topo.link", "topo.cpu_affinity", "topo.numa_affinity"})
    for (const Fact& fact : node.named(name))
      for (const std::string* end : {&fact.signal->subject, &fact.signal->peer})
        if (gpu_number(*end) >= 0) {
          gpus.insert(*end);
          if (!line) line = fact.signal;
        }
  for (const Fact& fact : node.named("output.read"))
    if (fact.signal->subject == "topo" && gpus.empty()) line = fact.signal;
  if (!line || gpus.size() > 1 || node.has("tool.error")) return;
  if (gpus.empty() && !(node.find("gpu.count") && number_of(*node.find("gpu.count")) == 1)) return;
  add(node, "topo.one_gpu", 1, {line});
}

void mig_pending(NodeFacts& node) {
  std::vector<Derived> found;
  for (const Fact& fact : node.named("mig.pending")) {
    const Signal* now = node.find("mig.mode", fact.signal->subject);
    const std::string next = value_text(*fact.signal);
    if (!now || is_like(next, "*N/A*") || equal_ignoring_case(value_text(*now), next)) continue;
    found.push_back(
        {{"mig.pending_change", fact.signal->subject, "", next, "", {}, ""}, {fact.signal}, {}});
  }
  for (Derived& derived : found) node.add(std::move(derived));
}

/// What a port is: a slower one of another kind serves another purpose.
std::string kind_of_port(const NodeFacts& node, const std::string& port) {
  std::string kind;
  if (const Signal* type = node.find("nic.type", device_of(port))) kind += value_text(*type);
  if (const Signal* layer = node.find("nic.link_layer", port)) kind += " " + value_text(*layer);
  return kind;
}

/// A NIC slower than most of the node's.
void nic_rates(NodeFacts& node) {
  std::map<double, Lines> by_rate;
  for (const Fact& fact : node.named("nic.rate_Gbs"))
    if (number_of(*fact.signal) > 0) by_rate[number_of(*fact.signal)].push_back(fact.signal);
  if (by_rate.size() < 2) return;
  const auto usual = std::max_element(by_rate.begin(), by_rate.end(), [](auto& a, auto& b) {
    return a.second.size() < b.second.size();
  });
  for (const auto& [rate, lines] : by_rate) {
    if (rate >= usual->first) continue;
    for (const Signal* line : lines) {
      const Signal* state = node.find("nic.state", line->subject);
      if (state && !is_like_any(value_text(*state), {"*active*", "up"})) continue;
      const bool alike =
          kind_of_port(node, line->subject) == kind_of_port(node, usual->second[0]->subject);
      node.add(
          Derived{{alike ? "nic.rate_odd" : "nic.rate_other", line->subject, "", rate, "", {}, ""},
                  {line, usual->second[0]},
                  {{"usual", number_text(usual->first)}}});
    }
  }
}

void derive_inventory(Facts& facts, const Input&, const Context& context) {
  for (NodeFacts& node : facts.nodes()) {
    gpus(node, context);
    kinds(node);
    switches(node);
    hidden_switches(node);
    single_gpu(node);
    mig_pending(node);
    nic_rates(node);
  }
}

}  // namespace

extern const Derivation inventory_derivation;
const Derivation inventory_derivation = {"Numbers and kinds of devices", derive_inventory};

}  // namespace isleway::check
