// One NVLink, bit by bit: checksums, acknowledgements, replay, credits.
#pragma once

#include <cstdint>
#include <vector>

#include "isleway/core/error.hpp"
#include "isleway/core/units.hpp"
#include "isleway/link/bit_errors.hpp"
#include "isleway/link/counters.hpp"
#include "isleway/link/packet.hpp"

namespace isleway::link {

struct ReliableRules {
  Time flit;                ///< time of one flit on the wire
  Time latency;             ///< one way
  int replay_packets = 64;  ///< that the replay buffer holds; below 2^11
  int credits = 64;         ///< packets that the receiver's buffer holds, for each virtual channel
  Time drain;               ///< that the receiver needs for a packet before its room is free
  Time timeout;             ///< without any acknowledgement before all is sent again
  int attempts = 4;         ///< replays without progress before the link is trained anew
  Time recovery;            ///< that training takes
};

struct ReliableResult {
  std::vector<Packet> received;  ///< in the order of arrival
  Time time;                     ///< until the last packet was acknowledged
  Counters counters;
};

/// Sends `packets` (their sequence numbers are set here) with bits flipped by `there`, while the
/// acknowledgements suffer from `back`. Every bit is really sent, and every checksum computed.
/// Error: nothing gets through, however often it is tried.
Result<ReliableResult> send_reliably(std::vector<Packet> packets, const ReliableRules& rules,
                                     BitErrors there, BitErrors back);

}  // namespace isleway::link
