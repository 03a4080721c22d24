#include "nccl/tables.hpp"

#include <bit>

namespace isleway::nccl {
namespace {

constexpr auto kTree = index_of(Algorithm::tree);
constexpr auto kCollnetDirect = index_of(Algorithm::collnet_direct);
constexpr auto kCollnetChain = index_of(Algorithm::collnet_chain);
constexpr auto kNvls = index_of(Algorithm::nvls);
constexpr auto kNvlsTree = index_of(Algorithm::nvls_tree);
constexpr auto kSimple = index_of(Protocol::simple);

/// An algorithm that exists in the Simple protocol only.
constexpr PerProtocol simple_only(double latency) { return {0, 0, latency}; }

// Rows in the order of Algorithm, as of 2.28.
constexpr PerAlgorithm kBase = {{{6.8, 14.0, 8.4},
                                 {6.6, 14.0, 8.4},
                                 simple_only(0),
                                 simple_only(0),
                                 simple_only(0),
                                 simple_only(0),
                                 simple_only(8)}};
constexpr std::array<PerAlgorithm, 3> kHop = {{
    {{{.6, 1.25, 4.0},
      {.6, 1.9, 3.4},
      simple_only(3.7),
      simple_only(2.8),
      simple_only(25),
      simple_only(25),
      simple_only(4.0)}},
    {{{1.0, 1.9, 4.0},
      {1.0, 2.5, 5.7},
      simple_only(3.7),
      simple_only(2.8),
      simple_only(0),
      simple_only(0),
      simple_only(4.0)}},
    {{{5.0, 8.5, 14},
      {2.7, 4.0, 14},
      simple_only(31),
      simple_only(30),
      simple_only(18),
      simple_only(20.9),
      simple_only(14)}},
}};

constexpr PerScale same(double value) { return {value, value, value}; }

// Rows: Volta, Ampere, Hopper, Blackwell, as of 2.28.
constexpr PerArchitecture kLlTotal = {
    {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}};
constexpr PerArchitecture kRingLl128 = {{same(20), same(20), same(36.7), {73.4, 34.6, 73.4}}};
constexpr PerArchitecture kTreeLl128Caps = {
    {same(20), same(20), {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
constexpr PerArchitecture kTreeSimple = {
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
constexpr PerArchitecture kNvlsTreeCaps = {
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 43.8}}};

void set_hops(TuningTables& tables, std::size_t algorithm, double nvlink, double pci, double net) {
  tables.hop_latency[0][algorithm][kSimple] = nvlink;
  tables.hop_latency[1][algorithm][kSimple] = pci;
  tables.hop_latency[2][algorithm][kSimple] = net;
}

/// Undoes, newest first, what each release changed.
void before_2_28(TuningTables& tables) {
  set_hops(tables, kNvlsTree, 25, 0, 14);
  tables.ring_ll128[3] = same(73.4);
  tables.tree_ll128[3] = {73.4, 73.4, 58};
  tables.tree_simple[3] = {77.4, 82.8, 72};
}
void before_2_23(TuningTables& tables) {
  tables.base_latency[kTree][kSimple] = 0;
  set_hops(tables, kTree, 28, 28, 28);
}
void before_2_21(TuningTables& tables) {
  tables.ll_total[2] = tables.ll_total[1];
  set_hops(tables, kNvls, 23, 0, 18);
  set_hops(tables, kNvlsTree, 23, 0, 14);
}
void before_2_19(TuningTables& tables) {
  tables.base_latency[kCollnetDirect] = tables.base_latency[kCollnetChain] = {6.8, 14.0, 0};
  tables.base_latency[kNvls][kSimple] = tables.base_latency[kNvlsTree][kSimple] = 23;
  set_hops(tables, kTree, 4, 6, 14);
  set_hops(tables, kCollnetDirect, 8, 8, 10.7);
  set_hops(tables, kCollnetChain, 4.75, 8, 14);
  set_hops(tables, kNvls, 0, 0, 18);
  set_hops(tables, kNvlsTree, 0, 0, 19);
}

// One entry a power of two from 64 bytes.
constexpr double kTreeLl[] = {1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6, .5,
                              .4, .4, .5, .6, .7, .8, .9, 1,  1,  1,  1,  1};
constexpr double kTreeLl128[] = {1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
                                 .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1,  1};
constexpr double kTreeSimpleShare[] = {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
                                       .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9};

}  // namespace

Architecture TuningTables::architecture(int sm) const {
  if (sm >= 100 && knows_blackwell_) return Architecture::blackwell;
  if (sm >= 90) return Architecture::hopper;
  return sm >= 80 ? Architecture::ampere : Architecture::volta;
}

TuningTables tuning_tables(Version version) {
  TuningTables tables;
  tables.base_latency = kBase;
  tables.hop_latency = kHop;
  tables.ll_total = kLlTotal;
  tables.ring_ll128 = kRingLl128;
  tables.tree_ll128 = kTreeLl128Caps;
  tables.tree_simple = kTreeSimple;
  tables.nvls_tree = kNvlsTreeCaps;
  tables.nvls_efficiency = {0, 0, .85, .74};
  tables.knows_blackwell_ = version >= release(2, 25);

  if (version >= release(2, 29)) tables.ring_ll128[3] = same(40);
  if (version >= release(2, 30)) tables.nvls_tree[3][2] = 80;
  if (version < release(2, 28)) before_2_28(tables);
  if (version < release(2, 23)) before_2_23(tables);
  if (version < release(2, 21)) before_2_21(tables);
  if (version < release(2, 19)) before_2_19(tables);
  return tables;
}

double tree_correction(Version version, Protocol protocol, std::int64_t bytes) {
  const auto units = static_cast<std::uint64_t>(bytes) >> 6;
  const std::size_t entries = version >= release(2, 29) ? 24 : 23;
  const auto entry = static_cast<std::size_t>(std::bit_width(units));
  if (entry == 0 || entry > entries) return 1;
  switch (protocol) {
    case Protocol::ll: return kTreeLl[entry - 1];
    case Protocol::ll128: return kTreeLl128[entry - 1];
    case Protocol::simple: return kTreeSimpleShare[entry - 1];
  }
  return 1;
}

}  // namespace isleway::nccl
