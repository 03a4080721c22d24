// Topology files of NCCL: what they declare, and whether it can be.
#include <algorithm>
#include <map>
#include <set>

#include "check/cpu_list.hpp"
#include "check/derivation.hpp"
#include "check/words.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {

using Lines = std::vector<const Signal*>;
using Words = std::vector<std::pair<std::string, std::string>>;

/// "0000ffff,ffff0000", high word first; words may have lost leading digits.
std::vector<bool> bits_of_mask(const std::string& mask) {
  const auto words = split(mask, ',');
  std::vector<bool> bits(words.size() * 32, false);
  if (words.size() > 1024) return {};
  for (std::size_t w = 0; w < words.size(); ++w) {
    const auto value = parse_int(trim(words[words.size() - 1 - w]), 16);
    if (!value || *value < 0) return {};
    for (std::size_t bit = 0; bit < 32; ++bit) bits[w * 32 + bit] = (*value >> bit) & 1;
  }
  return bits;
}

/// CPUs below the highest one that no NUMA node has.
void affinity_gap(NodeFacts& node) {
  std::vector<bool> all;
  Lines lines;
  for (const Fact& fact : node.named("declared.cpu_affinity")) {
    const auto bits = bits_of_mask(value_text(*fact.signal));
    if (bits.size() > all.size()) all.resize(bits.size(), false);
    for (std::size_t i = 0; i < bits.size(); ++i)
      if (bits[i]) all[i] = true;
    lines.push_back(fact.signal);
  }
  if (lines.size() < 2 || node.has("declared.affinity_overlap")) return;
  std::size_t end = all.size();
  while (end > 0 &&
         std::none_of(all.begin() + static_cast<std::ptrdiff_t>((end - 1) / 32 * 32),
                      all.begin() + static_cast<std::ptrdiff_t>(end), [](bool bit) { return bit; }))
    end = (end - 1) / 32 * 32;
  std::vector<std::string> missing;
  std::size_t present = 0;
  for (std::size_t i = 0; i < end; ++i) {
    if (all[i]) ++present;
    else missing.push_back(std::to_string(i));
  }
  // A file may hold only some of a host's nodes; a few missing CPUs are a slip.
  if (missing.empty() || missing.size() * 8 > present) return;
  node.add(Derived{{"declared.affinity_gap", "", "", list_text(missing), "", {}, ""}, lines, {}});
}

void below_product(NodeFacts& node) {
  std::vector<Derived> found;
  for (const Fact& fact : node.named("declared.pcie_generation")) {
    const Product* product = node.product_of(fact.signal->subject);
    const Signal* max = node.find("declared.gpu_pcie_max", fact.signal->subject);
    const double expected = max ? number_of(*max) : product ? product->pcie_generation : 0;
    if (gpu_number(fact.signal->subject) < 0 || !(number_of(*fact.signal) > 0) ||
        !(number_of(*fact.signal) < expected))
      continue;
    found.push_back(
        {{"declared.below_product", fact.signal->subject, "", number_of(*fact.signal), "", {}, ""},
         {fact.signal},
         {{"expected", number_text(expected)}}});
  }
  for (Derived& derived : found) node.add(std::move(derived));
}

/// A file that only places devices has no nvlink elements below its GPUs, nor sm.
void no_gpu_elements(NodeFacts& node, const Content& content, const Unit& unit) {
  if (unit.gpus().empty() || node.has("declared.nvlinks") || node.has("gpu.sm") ||
      node.has("declared.xgmi") || node.has("declared.self_link"))
    return;
  for (const Fact& fact : node.named("output.read"))
    if (fact.signal->where.file == content.file) {
      node.add(Derived{{"declared.no_gpu_elements", "", "", 1.0, "", {}, ""}, {fact.signal}, {}});
      return;
    }
}

/// Distances of NICs where the file's GPUs are only known by their PCI class.
void distances(NodeFacts& node, const Unit& unit) {
  if (node.has("declared.distance") || node.has("topo.link")) return;
  const Signal* line = node.find("declared.pcie_generation");
  for (const DeviceIndex gpu : unit.gpus())
    for (const DeviceIndex nic : unit.nics()) {
      Derived fact{{"declared.distance",
                    to_lower(unit.device(gpu).name),
                    unit.device(nic).name,
                    std::string(name_of(path_kind(unit, gpu, nic, true))),
                    "",
                    {},
                    ""},
                   {},
                   {}};
      if (line) fact.from.push_back(line);
      node.add(std::move(fact));
    }
}

/// A NIC at a NUMA node that has no GPU.
void nics_without_gpu(NodeFacts& node, const Unit& unit) {
  std::set<std::string> with_gpu;
  const auto root_of = [&](DeviceIndex device) {
    for (int hop = 0; hop < 16; ++hop) {
      const auto up = unit.pcie_uplink(device);
      if (!up) break;
      device = unit.peer(*up, device);
    }
    return unit.device(device).name;
  };
  for (const DeviceIndex gpu : unit.gpus()) with_gpu.insert(root_of(gpu));
  if (with_gpu.empty()) return;
  for (const DeviceIndex nic : unit.nics())
    if (with_gpu.count(root_of(nic)) == 0) {
      const std::string& name = unit.device(nic).name;
      Derived fact{{"nic.numa_without_gpu", name, "", 1.0, "", {}, ""}, {}, {}};
      if (const Signal* line = node.find("declared.bus_id", name)) fact.from.push_back(line);
      node.add(std::move(fact));
    }
}

/// Ports of one card (one guid) with different speeds.
void ports(NodeFacts& node) {
  std::map<std::string, std::set<double>> rates;
  std::map<std::string, Lines> lines;
  for (const Fact& fact : node.named("nic.guid")) {
    const Signal* rate = node.find("declared.nic_rate_Gbs", fact.signal->subject);
    if (!rate) continue;
    rates[value_text(*fact.signal)].insert(number_of(*rate));
    lines[value_text(*fact.signal)].push_back(rate);
  }
  for (const auto& [guid, speeds] : rates)
    if (speeds.size() > 1)
      node.add(Derived{{"nic.ports_differ", "", "", guid, "", {}, ""}, lines[guid], {}});
}

void derive_declared(Facts& facts, const Input& input, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    affinity_gap(node);
    below_product(node);
    ports(node);
    for (const Content& content : input.contents) {
      const auto* unit = std::get_if<std::shared_ptr<const Unit>>(&content.document.content);
      if (!unit || content.node != node.name() || content.document.format != "nccl-xml") continue;
      no_gpu_elements(node, content, **unit);
      distances(node, **unit);
      nics_without_gpu(node, **unit);
    }
  }
}

}  // namespace

extern const Derivation declared_derivation;
const Derivation declared_derivation = {"NCCL's topology files", derive_declared};

}  // namespace isleway::check
