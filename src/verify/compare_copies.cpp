// Matrices of nvbandwidth and p2pBandwidthLatencyTest against the machine.
#include <fmt/format.h>

#include <algorithm>

#include "fabric/edit.hpp"
#include "isleway/collective.hpp"
#include "verify/hypotheses.hpp"
#include "verify/judge.hpp"
#include "verify/log_evidence.hpp"

namespace isleway::verify {
namespace {

/// All copies of a machine.
struct Copies {
  CopyMatrices between;
  HostCopies host;
};

Result<Copies> simulate(const Fabric& fabric, const Parts& parts) {
  auto between = copy_matrices(fabric, parts);
  if (!between) return tl::unexpected(between.error());
  auto host = host_copies(fabric, parts);
  if (!host) return tl::unexpected(host.error());
  return Copies{*std::move(between), *std::move(host)};
}

/// A table of the tools, and where its values are among the simulated ones.
struct Known {
  const char* name;
  const char* description;  ///< that must be part of the tool's own; may be empty
  const Matrix CopyMatrices::*matrix;
  const std::vector<double> HostCopies::*list;
  bool transposed, latency;
};

constexpr Known kKnown[] = {
    {"Unidirectional P2P=Disabled Bandwidth", "", &CopyMatrices::unidirectional_no_p2p_GBs, nullptr,
     false, false},
    {"Unidirectional P2P=Enabled Bandwidth", "", &CopyMatrices::unidirectional_GBs, nullptr, false,
     false},
    {"Bidirectional P2P=Disabled Bandwidth", "", &CopyMatrices::bidirectional_no_p2p_GBs, nullptr,
     false, false},
    {"Bidirectional P2P=Enabled Bandwidth", "", &CopyMatrices::bidirectional_GBs, nullptr, false,
     false},
    {"P2P=Disabled Latency", "", &CopyMatrices::latency_no_p2p_us, nullptr, false, true},
    {"P2P=Enabled Latency", "", &CopyMatrices::latency_us, nullptr, false, true},
    {"host_to_device_memcpy_ce", "", nullptr, &HostCopies::host_to_device_GBs, false, false},
    {"device_to_host_memcpy_ce", "", nullptr, &HostCopies::device_to_host_GBs, false, false},
    {"device_to_device_memcpy_read_ce", "", &CopyMatrices::unidirectional_GBs, nullptr, true,
     false},
    {"device_to_device_memcpy_write_ce", "", &CopyMatrices::unidirectional_GBs, nullptr, false,
     false},
    {"device_to_device_bidirectional_memcpy_read_ce", "Total", &CopyMatrices::bidirectional_GBs,
     nullptr, true, false},
    {"device_to_device_bidirectional_memcpy_write_ce", "Total", &CopyMatrices::bidirectional_GBs,
     nullptr, false, false},
};

const Known* find_known(const formats::CopyTable& table) {
  for (const Known& known : kKnown) {
    // isleway and older nvbandwidth have the part after "_ce" in the name.
    const bool named = table.name == known.name || table.name == std::string(known.name) + "_total";
    if (named && table.description.find(known.description) != std::string::npos) return &known;
  }
  return nullptr;
}

double value_at(const Known& known, const Copies& copies, std::size_t i, std::size_t j) {
  if (known.list != nullptr) {
    const auto& list = copies.host.*known.list;
    return j < list.size() ? list[j] : 0;
  }
  const Matrix& matrix = copies.between.*known.matrix;
  if (known.transposed) std::swap(i, j);
  return i < matrix.size() && j < matrix.size() ? matrix[i][j] : 0;
}

std::vector<double> values_of(const Known& known, const Copies& copies,
                              const std::vector<std::pair<std::size_t, std::size_t>>& places) {
  std::vector<double> values;
  for (const auto& [i, j] : places) values.push_back(value_at(known, copies, i, j));
  return values;
}

/// The GPU whose row and column together are slowest: what single faults are tried on.
std::size_t suspect(const std::vector<Point>& points,
                    const std::vector<std::pair<std::size_t, std::size_t>>& places,
                    std::size_t gpus) {
  std::vector<std::vector<double>> shares(gpus);
  for (std::size_t k = 0; k < points.size(); ++k)
    for (const std::size_t gpu : {places[k].first, places[k].second})
      if (gpu < gpus) shares[gpu].push_back(points[k].share);
  std::size_t worst = 0;
  double least = 2;
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    if (shares[gpu].empty()) continue;
    const double share = median(shares[gpu]);
    if (share < least) {
      least = share;
      worst = gpu;
    }
  }
  return worst;
}

/// Faults of one GPU, by name.
void add_gpu_hypotheses(const Setup& setup, std::size_t gpu, std::vector<Hypothesis>& all) {
  const std::string name = setup.fabric.device_name(setup.fabric.gpu(static_cast<GpuId>(gpu)));
  Result<Fabric> fewer = setup.fabric;
  for (int down = 1; down <= 4; ++down) {
    // Naming a port again takes the next link of its bundle.
    fewer = with_fault(*fewer, fmt::format("{}:nvlink0", name));
    if (!fewer) break;
    all.push_back({fmt::format("nvlink-down-{}", down),
                   fmt::format("{} has {} NVLink{} down", name, down, down == 1 ? "" : "s"),
                   "nvidia-smi nvlink -s -i on this GPU; Xid 74, 144 to 150",
                   {{*fewer, setup.options}}});
  }
  for (const int lanes : {8, 4})
    if (auto narrow = with_fault(setup.fabric, fmt::format("{}:pcie:lanes={}", name, lanes)))
      all.push_back({fmt::format("pcie-x{}", lanes),
                     fmt::format("the PCIe link of {} runs with {} lanes", name, lanes),
                     "lspci -vv of this GPU: LnkSta against LnkCap; the riser",
                     {{*std::move(narrow), setup.options}}});
}

void add_causes(const Setup& setup, const CompareContext& context, const Known& known,
                const Copies& expected,
                const std::vector<std::pair<std::size_t, std::size_t>>& places,
                Comparison& comparison) {
  std::vector<Hypothesis> all;
  add_link_hypotheses(setup, all);
  add_gpu_hypotheses(setup, suspect(comparison.points, places, setup.fabric.gpu_count()), all);
  for (const Hypothesis& hypothesis : all) {
    const auto copies = simulate(hypothesis.variant.setup.fabric, context.parts);
    if (!copies) continue;
    comparison.causes.push_back({hypothesis.key,
                                 hypothesis.title,
                                 hypothesis.remedy,
                                 0,
                                 values_of(known, *copies, places),
                                 {}});
  }
  const bool with_peers = known.matrix == &CopyMatrices::unidirectional_GBs ||
                          known.matrix == &CopyMatrices::bidirectional_GBs;
  if (with_peers) {
    Known without = known;
    without.matrix = known.matrix == &CopyMatrices::unidirectional_GBs
                         ? &CopyMatrices::unidirectional_no_p2p_GBs
                         : &CopyMatrices::bidirectional_no_p2p_GBs;
    comparison.causes.push_back({"p2p-off", "copies between GPUs go through the host's memory",
                                 "nvidia-smi topo -p2p; ACS and IOMMU; MIG; confidential mode", 0,
                                 values_of(without, expected, places),
                                 evidence_for("p2p-off", context.log)});
  }
  keep_best(comparison.points, comparison.causes);
}

Comparison compare(const formats::CopyTable& table, const Known& known, const Setup& setup,
                   const Copies& copies, const CompareContext& context) {
  Comparison comparison;
  comparison.title = table.name;
  comparison.unit = known.latency ? "us" : "GB/s";
  comparison.line = table.line;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t i = 0; i < table.cells.size(); ++i)
    for (std::size_t j = 0; j < table.cells[i].size(); ++j) {
      const auto& cell = table.cells[i][j];
      const double expected = value_at(known, copies, i, j);
      if (!cell || *cell <= 0 || expected <= 0) continue;
      // A GPU's copy to itself shows its memory, not a link.
      if (known.matrix != nullptr && i == j) continue;
      const double share = known.latency ? expected / *cell : *cell / expected;
      const std::string label =
          known.list != nullptr ? fmt::format("{}", j) : fmt::format("{} -> {}", i, j);
      comparison.points.push_back({known.latency ? Point::Kind::latency : Point::Kind::copy,
                                   label,
                                   0,
                                   *cell,
                                   expected,
                                   share,
                                   {}});
      places.emplace_back(known.list != nullptr ? j : i, j);
    }
  judge(comparison);
  if (comparison.verdict >= Verdict::warning)
    add_causes(setup, context, known, copies, places, comparison);
  return comparison;
}

}  // namespace

Result<std::vector<Comparison>> compare_copies(const formats::CopyTables& tables,
                                               const Setup& given, const CompareContext& context,
                                               std::vector<std::string>& skipped) {
  std::size_t gpus = 0;
  for (const formats::CopyTable& table : tables.tables)
    for (const auto& row : table.cells) gpus = std::max(gpus, row.size());
  Setup setup = given;
  if (gpus > setup.fabric.gpu_count())
    return fail(fmt::format("the tables are of {} GPUs, the machine has {}", gpus,
                            setup.fabric.gpu_count()),
                "the machine that was measured");
  if (gpus < setup.fabric.gpu_count() && setup.fabric.host_count() == 1) {
    auto fewer = with_first_gpus(setup.fabric, static_cast<int>(gpus));
    if (!fewer) return tl::unexpected(fewer.error());
    setup.fabric = *std::move(fewer);
  }
  const auto copies = simulate(setup.fabric, context.parts);
  if (!copies) return tl::unexpected(copies.error());
  std::vector<Comparison> all;
  for (const formats::CopyTable& table : tables.tables) {
    if (const Known* known = find_known(table))
      all.push_back(compare(table, *known, setup, *copies, context));
    else if (std::find(skipped.begin(), skipped.end(), table.name) == skipped.end())
      skipped.push_back(table.name);
  }
  return all;
}

}  // namespace isleway::verify
