// Grouped send/recv: no model chooses, rules do.
#pragma once

#include "nccl/graphs.hpp"

namespace isleway::nccl {

struct PeerPlan {
  Protocol protocol = Protocol::simple;
  int channels = 1;  ///< of all
  int per_peer = 1;  ///< that the bytes for one peer are split over
  Chunking chunking;
  int group_ranks = 8;  ///< rounds visit groups of so many
};

/// Bytes of one message to a peer, before what the size of a call makes of it.
std::int64_t peer_chunk(const Graphs& graphs, const Settings& settings);

/// `bytes` go to one peer. Between nodes it is the network's rules that count, since the
/// network is what such calls wait for.
PeerPlan plan_peers(const Graphs& graphs, const Settings& settings, std::int64_t bytes);

}  // namespace isleway::nccl
