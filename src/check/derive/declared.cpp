// Topology files of NCCL: what they declare, and whether it can be.
#include <bit>
#include <map>
#include <set>

#include "check/derivation.hpp"
#include "check/words.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {

using Lines = std::vector<const Signal*>;
using Words = std::vector<std::pair<std::string, std::string>>;

/// Bits that are set in "0000ffff,ffff0000"; words may have lost leading digits.
int cpus_in_mask(const std::string& mask) {
  int count = 0;
  for (const std::string_view word : split(mask, ',')) {
    const auto value = parse_int(trim(word), 16);
    if (!value || *value < 0) return 0;
    count += std::popcount(static_cast<std::uint64_t>(*value));
  }
  return count;
}

/// One NUMA node with fewer CPUs than all others have.
void short_mask(NodeFacts& node) {
  std::map<int, Lines> by_size;
  for (const Fact& fact : node.named("declared.cpu_affinity"))
    by_size[cpus_in_mask(value_text(*fact.signal))].push_back(fact.signal);
  if (by_size.size() != 2 || node.has("declared.affinity_overlap")) return;
  const auto& [fewer, odd] = *by_size.begin();
  const auto& [usual, others] = *by_size.rbegin();
  if (fewer == 0 || odd.size() > 1 || others.size() < 2) return;
  node.add(Derived{{"declared.affinity_short", odd[0]->subject, "", double(fewer), "", {}, ""},
                   {odd[0], others[0]},
                   {{"usual", std::to_string(usual)}, {"missing", std::to_string(usual - fewer)}}});
}

/// Links declared slower than the GPU can.
void below_part(NodeFacts& node, const Unit& unit, const Parts& parts) {
  std::map<std::pair<int, int>, std::vector<std::string>> gpus;
  for (const DeviceIndex gpu : unit.gpus()) {
    const auto link = unit.pcie_uplink(gpu);
    const GpuPart* part = parts.gpu(unit.device(gpu).part);
    const int declared = link ? unit.link(*link).generation : 0;
    if (part && declared > 0 && declared < part->pcie_generation)
      gpus[{declared, part->pcie_generation}].push_back(unit.device(gpu).name);
  }
  const Signal* line = node.find("declared.pcie_generation");
  for (const auto& [generations, names] : gpus) {
    Derived fact{{"declared.below_product", "", "", double(generations.first), "", {}, ""},
                 {},
                 {{"expected", std::to_string(generations.second)}, {"gpus", list_text(names)}}};
    if (line) fact.from.push_back(line);
    node.add(std::move(fact));
  }
}

/// A part of a file in which NICs stand and no GPU.
void only_nics(NodeFacts& node) {
  if (node.has("gpu.sm") || node.has("declared.distance")) return;
  std::vector<Derived> found;
  for (const Fact& fact : node.named("declared.nic_rate_Gbs"))
    found.push_back(
        {{"nic.numa_without_gpu", fact.signal->subject, "", 1.0, "", {}, ""}, {fact.signal}, {}});
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

void derive_declared(Facts& facts, const Input& input, const Context& context) {
  for (NodeFacts& node : facts.nodes()) {
    short_mask(node);
    ports(node);
    bool has_gpus = false;
    for (const Content& content : input.contents) {
      const auto* unit = std::get_if<std::shared_ptr<const Unit>>(&content.document.content);
      if (!unit || content.node != node.name() || content.document.format != "nccl-xml") continue;
      has_gpus |= !(*unit)->gpus().empty();
      no_gpu_elements(node, content, **unit);
      below_part(node, **unit, context.catalogue.parts());
      distances(node, **unit);
      nics_without_gpu(node, **unit);
    }
    if (!has_gpus) only_nics(node);
  }
}

}  // namespace

extern const Derivation declared_derivation;
const Derivation declared_derivation = {"NCCL's topology files", derive_declared};

}  // namespace isleway::check
