// From each node's graphs to rings and trees over all ranks.
#pragma once

#include "nccl/graphs.hpp"

namespace isleway::nccl {

/// For each of `channels`, the ranks in ring order.
std::vector<std::vector<int>> global_rings(const Graphs& graphs, int channels);
/// For each of `channels`, a tree; the second half of them are mirrored.
std::vector<TreeShape> global_trees(const Graphs& graphs, int channels);

/// The search's channel that a node uses for a channel of a ring: nodes alternate within
/// pairs where rings cross NICs, so that each ring stays on its rail.
int ring_channel(const Graphs& graphs, int node, int channel);

}  // namespace isleway::nccl
