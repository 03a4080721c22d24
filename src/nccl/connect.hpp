// From each node's graphs to rings and trees over all ranks.
#pragma once

#include <array>

#include "nccl/graphs.hpp"

namespace isleway::nccl {

/// For each of `channels`, the ranks in ring order.
std::vector<std::vector<int>> global_rings(const Graphs& graphs, int channels);
/// For each of `channels`, a tree; the second half of them are mirrored.
std::vector<TreeShape> global_trees(const Graphs& graphs, int channels);

/// For each of `channels`, chains on every node whose first GPU hands over to the network;
/// the network is the member after the last rank (CollNet chain).
std::vector<TreeShape> network_chains(const Graphs& graphs, int channels);
/// For each of `channels` and each head, all GPUs of a node around that head, and all heads
/// around the network (CollNet direct). Heads vary fastest.
std::vector<TreeShape> network_stars(const Graphs& graphs, int channels);
/// The ranks of a node that are heads of CollNet direct, each once.
std::vector<int> direct_heads(const Graphs& graphs, int node);

/// The three children of a rank as NCCL counts them, -1 where there are fewer: the next GPU
/// of its node, then other nodes' as the tree before mirroring has them.
std::array<int, 3> children_in_order(const Graphs& graphs, const TreeShape& tree, int channel,
                                     int rank);

/// The search's channel that a node uses for a channel of a ring: nodes alternate within
/// pairs where rings cross NICs, so that each ring stays on its rail.
int ring_channel(const Graphs& graphs, int node, int channel);

}  // namespace isleway::nccl
