// NCCL's search for channels: rings, trees and NVLS heads that fit on a node's links.
#pragma once

#include "nccl/system.hpp"

namespace isleway::nccl {

/// A graph while it is being looked for, and what was found.
struct SearchGraph {
  int pattern = ring_pattern;
  bool collnet = false;  ///< only ports whose network reduces count
  int cross_nic = 0;
  int min_channels = 1, max_channels = 1;
  int channels = 0;
  float bw_intra = 0, bw_inter = 0;
  double latency_inter = 0;
  PathKind type_intra = PathKind::loc, type_inter = PathKind::pix;
  bool same_channels = true;
  int hops = 0;
  std::vector<std::vector<int>> intra;     ///< ranks of the system, by channel
  std::vector<std::pair<int, int>> inter;  ///< ports (node numbers): in, out

  /// Room for one more channel at `channels`.
  void make_room(int gpus);
};

struct SearchLimits {
  int min_channels = 1, max_channels = 1;
};

/// The best graph of `pattern`. With nothing found, one channel in order over anything
/// (NVLS and CollNet: none at all), as NCCL falls back. The system's bandwidths are as before.
SearchGraph search_graph(System& system, int pattern, SearchLimits limits, const Settings& settings,
                         bool collnet = false);

/// Channels that a communicator may have.
int most_channels(Version version);
/// Heads that NVLS may have.
int most_nvls_heads(Version version);
/// Heads that CollNet direct may have: one GPU with seven peers.
inline constexpr int kMostDirectHeads = 8;
/// Patterns whose channels are heads alone.
constexpr bool has_heads(int pattern) {
  return pattern == nvls_pattern || pattern == collnet_direct_pattern;
}

/// GB/s a channel that NCCL tries, high to low.
std::span<const float> candidate_speeds(int sm, bool inter, Version version);

}  // namespace isleway::nccl
