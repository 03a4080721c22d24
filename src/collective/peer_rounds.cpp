#include "collective/peer_rounds.hpp"

#include <bit>

namespace isleway {
namespace {

/// The lowest bits of x, as many as `power_of_two` has zeros, in reverse order.
unsigned reverse_bits(unsigned x, unsigned power_of_two) {
  unsigned reversed = 0;
  for (unsigned bit = 1; bit < power_of_two; bit <<= 1, x >>= 1) reversed = reversed << 1 | (x & 1);
  return reversed;
}

}  // namespace

PeerRounds::PeerRounds(int ranks, int group)
    : ranks_(ranks), group_(ranks % group == 0 ? group : ranks) {
  const auto groups = static_cast<unsigned>(ranks_ / group_);
  const unsigned modulus = std::bit_ceil(groups);
  index_of_delta_.resize(groups);
  for (unsigned i = 0, delta = 0; i < modulus; ++i, delta = (delta + i) % modulus) {
    if (delta >= groups) continue;
    index_of_delta_[delta] = static_cast<int>(deltas_.size());
    deltas_.push_back(static_cast<int>(delta));
  }
}

int PeerRounds::recv_peer(int rank, int round) const {
  const int groups = ranks_ / group_;
  return peer(rank, groups - deltas_[round / group_], group_ - round % group_);
}

int PeerRounds::round_of(int rank, int peer) const {
  const int groups = ranks_ / group_;
  const int delta = (peer / group_ - rank / group_ + groups) % groups;
  const int step = (peer % group_ - rank % group_ + group_) % group_;
  return index_of_delta_[delta] * group_ + step;
}

int channel_of_part(const PeerRounds& rounds, int round, int part, int channels) {
  const int batches = (rounds.group() + kPeersAtOnce - 1) / kPeersAtOnce;
  const int base = rounds.one_group()
                       ? round
                       : round / rounds.group() * batches + round % rounds.group() / kPeersAtOnce;
  const auto count = static_cast<unsigned>(channels);
  const unsigned channel = reverse_bits(static_cast<unsigned>(base), count) + part;
  return static_cast<int>(channel % count);
}

}  // namespace isleway
