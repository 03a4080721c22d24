// The constants of NCCL's tuning model, by version.
#pragma once

#include <array>

#include "isleway/nccl/communicator.hpp"

namespace isleway::nccl {

inline constexpr int kAlgorithmCount = 7;  ///< those that the tuner compares; p2p has no choice
inline constexpr int kProtocolCount = 3;

constexpr std::size_t index_of(Algorithm a) { return static_cast<std::size_t>(a); }
constexpr std::size_t index_of(Protocol p) { return static_cast<std::size_t>(p); }

/// By protocol: LL, LL128, Simple.
using PerProtocol = std::array<double, kProtocolCount>;
using PerAlgorithm = std::array<PerProtocol, kAlgorithmCount>;
/// By number of nodes: one, two, more.
using PerScale = std::array<double, 3>;

/// Rows of the bandwidth caps.
enum class Architecture : std::uint8_t { volta, ampere, hopper, blackwell };
inline constexpr std::size_t kArchitectureCount = 4;
using PerArchitecture = std::array<PerScale, kArchitectureCount>;

/// What a hop crosses, as far as the model tells them apart.
enum class HopClass : std::uint8_t { nvlink, pci, net };

/// Latencies in us, bandwidths in GB/s. Source: https://github.com/NVIDIA/nccl,
/// src/graph/tuning.cc at the release tags; the values are facts of the model, which NCCL
/// also hands to tuner plugins.
struct TuningTables {
  PerAlgorithm base_latency{};
  std::array<PerAlgorithm, 3> hop_latency{};  ///< by HopClass
  PerArchitecture ll_total{};                 ///< of all channels together
  PerArchitecture ring_ll128{}, tree_ll128{}, tree_simple{}, nvls_tree{};  ///< per channel
  std::array<double, kArchitectureCount> nvls_efficiency{};

  Architecture architecture(int sm) const;

 private:
  friend TuningTables tuning_tables(Version version);
  bool knows_blackwell_ = true;
};

TuningTables tuning_tables(Version version);

/// What AllReduce over trees reaches of the model's bandwidth in the range where chunks do
/// not fill the pipeline; 1 outside of the table.
double tree_correction(Version version, Protocol protocol, std::int64_t bytes);

/// A release, for comparisons: `version >= release(2, 23)`.
constexpr Version release(int major, int minor) { return Version{major, minor, 0}; }

}  // namespace isleway::nccl
