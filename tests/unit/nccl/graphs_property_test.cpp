// Whatever the machine: the search ends, and what it finds is rings and trees over all ranks.
#include <algorithm>
#include <numeric>

#include "isleway/nccl.hpp"
#include "nccl/connect.hpp"
#include "unit/fabric/random_machines.hpp"

namespace isleway::nccl {
namespace {

using testing::any_fabric;
using testing::any_fault;
using testing::pick;

/// GPUs and CPUs of one generation each, so that all branches of the rules are met.
Fabric with_generations(const Fabric& fabric) {
  constexpr int kSm[] = {0, 60, 70, 80, 86, 89, 90, 100, 103};
  constexpr const char* kVendors[] = {"GenuineIntel", "AuthenticAMD", "CentaurHauls", ""};
  const int sm = kSm[pick(0, 8)];
  const char* vendor = kVendors[pick(0, 3)];
  std::vector<std::shared_ptr<const Unit>> templates;
  for (const auto& unit : fabric.templates()) {
    UnitParts parts = unit->parts();
    for (Device& device : parts.devices) {
      if (auto* gpu = std::get_if<GpuInfo>(&device.info)) gpu->sm = sm;
      if (auto* cpu = std::get_if<CpuInfo>(&device.info)) cpu->vendor = vendor;
      if (auto* chip = std::get_if<NvswitchInfo>(&device.info)) chip->multicast = sm >= 90;
    }
    templates.push_back(*Unit::make(std::move(parts)));
  }
  return fabric.with_units(std::move(templates), fabric.unit_templates());
}

Fabric any_machine() {
  Fabric fabric = with_generations(any_fabric());
  for (int i = 0; i < pick(0, 3); ++i)
    if (auto broken = with_fault(fabric, any_fault(fabric))) fabric = std::move(*broken);
  return fabric;
}

Settings any_settings() {
  std::map<std::string, std::string> env;
  const auto maybe = [&](const char* name, int most) {
    if (pick(0, 3) == 0) env[name] = std::to_string(pick(0, most));
  };
  maybe("NCCL_CROSS_NIC", 2);
  maybe("NCCL_P2P_DISABLE", 1);
  maybe("NCCL_PXN_DISABLE", 1);
  maybe("NCCL_NVB_DISABLE", 1);
  maybe("NCCL_NVLS_ENABLE", 1);
  maybe("NCCL_MNNVL_ENABLE", 1);
  maybe("NCCL_P2P_LEVEL", 5);
  maybe("NCCL_MIN_NCHANNELS", 64);
  constexpr Version kVersions[] = {{2, 18, 6}, {2, 21, 5}, {2, 25, 1}, {2, 28, 9}, {2, 30, 1}};
  return *Settings::parse(env, kVersions[pick(0, 4)]);
}

bool is_permutation_of_ranks(std::vector<int> order, int ranks) {
  std::sort(order.begin(), order.end());
  std::vector<int> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  return order == all;
}

/// One root, and every rank's way up ends there.
bool is_tree(const TreeShape& tree) {
  const int ranks = static_cast<int>(tree.parent.size());
  int roots = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    int steps = 0;
    for (int at = rank; tree.parent[at] >= 0; at = tree.parent[at])
      if (++steps > ranks) return false;
    roots += tree.parent[rank] < 0 ? 1 : 0;
  }
  return roots == 1;
}

RC_GTEST_PROP(GraphsProperty, AreRingsAndTreesOverAllRanks, ()) {
  const Fabric fabric = any_machine();
  const Settings settings = any_settings();
  const auto graphs = find_graphs(fabric, settings);
  RC_PRE(bool(graphs));  // without a GPU there is nothing to find
  RC_ASSERT(graphs->channels >= 1 && graphs->channels <= 64);
  for (const auto& ring : global_rings(*graphs, graphs->channels))
    RC_ASSERT(is_permutation_of_ranks(ring, graphs->ranks()));
  for (std::size_t c = 0; const TreeShape& tree : global_trees(*graphs, graphs->channels)) {
    RC_ASSERT(is_tree(tree));
    for (int rank = 0; rank < graphs->ranks(); ++rank) {
      const auto children = children_in_order(*graphs, tree, static_cast<int>(c), rank);
      RC_ASSERT(std::count_if(children.begin(), children.end(), [](int r) { return r >= 0; }) ==
                std::count(tree.parent.begin(), tree.parent.end(), rank));
    }
    ++c;
  }
  for (const NodeKind& kind : graphs->kinds) {
    std::vector<int> heads;
    for (const auto& channel : kind.nvls.intra) heads.push_back(channel.front());
    std::sort(heads.begin(), heads.end());
    RC_ASSERT(std::adjacent_find(heads.begin(), heads.end()) == heads.end());
  }
}

RC_GTEST_PROP(GraphsProperty, SearchingLeavesTheSystemAsItWas, ()) {
  const Fabric fabric = any_machine();
  const Settings settings = any_settings();
  const Unit& unit = fabric.unit(0);
  RC_PRE(!unit.gpus().empty());
  const std::vector<int> hosts = {unit.device(unit.gpus()[0]).host};
  System system = node_system(unit, hosts, pick(0, 1) == 0, settings);
  std::vector<float> before, after;
  const auto rates = [&](std::vector<float>& into) {
    for (int node = 0; node < system.node_count(); ++node) {
      into.push_back(system.node(node).bandwidth);
      for (const int wire : system.node(node).wires) into.push_back(system.wire(wire).bandwidth);
    }
  };
  rates(before);
  search_graph(system, pick(1, 5), {1, 32}, settings);
  rates(after);
  for (std::size_t i = 0; i < before.size(); ++i) RC_ASSERT(std::abs(before[i] - after[i]) < .01F);
}

}  // namespace
}  // namespace isleway::nccl
