// Reduction in the network.
#pragma once

#include "isleway/collective/collective.hpp"

namespace isleway {

/// all_reduce over trees, one per channel, whose root is a switch of the network that reduces
/// and multicasts (SHARP): each shape has one member more than there are ranks, its root.
/// The agent of that number is the switch. Streams are as in make_tree.
Result<std::unique_ptr<Schedule>> make_network_tree(const CollectiveCall& call,
                                                    const std::vector<TreeShape>& trees,
                                                    const Chunking& chunking);

/// all_reduce by the switches of each island (see make_nvls) and, between islands, by those of the
/// network: heads of equal index send their sums to the agent ranks + (islands x heads) + index,
/// and get back that of all islands.
Result<std::unique_ptr<Schedule>> make_network_nvls(const CollectiveCall& call, int channels,
                                                    std::vector<std::vector<int>> islands,
                                                    int heads_per_island, const Chunking& chunking);

}  // namespace isleway
