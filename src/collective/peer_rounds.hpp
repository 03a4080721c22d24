// NCCL's order of grouped sends and receives (2.28: src/init.cc, src/include/channel.h,
// src/include/device.h).
#pragma once

#include <vector>

namespace isleway {

/// In round r each rank sends to one peer and receives from one, so no rank is flooded. Ranks
/// are in groups; a round pairs each group with the one `delta` further on, and in it each
/// rank with the one `step` further on. Group deltas are triangular numbers modulo a power
/// of two, which spreads them; those that are no group are left out.
class PeerRounds {
 public:
  /// Groups of `group` ranks, or one group where that does not divide `ranks`.
  PeerRounds(int ranks, int group);

  int count() const { return ranks_; }
  int group() const { return group_; }
  bool one_group() const { return group_ == ranks_; }
  int send_peer(int rank, int round) const {
    return peer(rank, deltas_[round / group_], round % group_);
  }
  int recv_peer(int rank, int round) const;
  /// The round in which `rank` sends to `peer`, and `peer` receives from it.
  int round_of(int rank, int peer) const;

 private:
  int peer(int rank, int delta, int step) const {
    const int groups = ranks_ / group_;
    return (rank / group_ + delta) % groups * group_ + (rank % group_ + step) % group_;
  }

  int ranks_, group_;
  std::vector<int> deltas_, index_of_delta_;
};

/// Which channel carries part `part` of what is sent in `round`: the parts follow one another
/// from a first channel, which rounds spread over all. `channels` is a power of two.
int channel_of_part(const PeerRounds& rounds, int round, int part, int channels);

/// Sends and receives that one channel works on at once, each with some of its threads.
inline constexpr int kPeersAtOnce = 8;

}  // namespace isleway
