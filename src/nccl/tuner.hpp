// NCCL's tuning model: what each algorithm in each protocol should cost.
#pragma once

#include "nccl/settings.hpp"

namespace isleway::nccl {

enum class CpuArch : std::uint8_t { x86, arm, power };
enum class CpuVendor : std::uint8_t { intel, amd, other };

/// NCCL_TOPO_PATTERN_*: the numbers that logs and graph files show.
enum Pattern : int {
  balanced_tree = 1,
  split_tree = 2,
  plain_tree = 3,
  ring_pattern = 4,
  nvls_pattern = 5,
  collnet_direct_pattern = 6
};

/// All that the model looks at.
struct TunerInput {
  int ranks = 1, nodes = 1;
  int min_sm = 0, max_sm = 0;
  CpuArch cpu_arch = CpuArch::x86;
  CpuVendor cpu_vendor = CpuVendor::intel;
  Graph ring, tree, nvls, collnet_chain, collnet_direct;
  bool nvls_supported = false;
  bool switched = false;        ///< every node has NVSwitches
  int most_node_ranks = 1;      ///< of any node
  int direct_heads = 1;         ///< GPUs that are heads of CollNet direct
  std::string collnet_refused;  ///< why there is no CollNet; empty where there is
  int channels = 1;             ///< of collectives, after connecting
  int nvls_channels = 0;
};

/// What the model says of one combination. `bandwidth` 0: it cannot be used, and why.
struct Price {
  double latency = 0;    ///< us
  double bandwidth = 0;  ///< GB/s of the call's bytes, not of the bus
  std::string why_not;

  bool available() const { return bandwidth > 0; }
};

class Tuner {
 public:
  Tuner(TunerInput input, const Settings& settings);

  const TunerInput& input() const { return input_; }
  const Price& price(Collective collective, Algorithm algorithm, Protocol protocol) const {
    return prices_[static_cast<std::size_t>(collective)][index_of(algorithm)][index_of(protocol)];
  }
  /// us for one call of `bytes` (nccl-tests' size); nothing when it is not available.
  std::optional<double> time(Collective collective, Algorithm algorithm, Protocol protocol,
                             std::int64_t bytes) const;

  struct Choice {
    Algorithm algorithm;
    Protocol protocol;
    double time;
  };
  /// The cheapest of what is left; nothing when nothing is.
  std::optional<Choice> choose(Collective collective, std::int64_t bytes,
                               std::optional<Algorithm> algorithm = {},
                               std::optional<Protocol> protocol = {}) const;

 private:
  void fill(Collective collective, Algorithm algorithm, Protocol protocol);

  TunerInput input_;
  Settings settings_;
  TuningTables tables_;
  std::array<std::array<std::array<Price, kProtocolCount>, kAlgorithmCount>, kTunedCollectives>
      prices_;
};

/// Rounded down, as NCCL counts the levels of its trees.
int floor_log2(int value);

}  // namespace isleway::nccl
