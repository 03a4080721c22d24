// What wrong bits do to a train of packets.
#pragma once

#include "engine/packet/ports.hpp"

namespace isleway {

/// Lets a train of `bytes` of payload cross the port's wire. Damaged packets are found by their
/// checksums, or not; from the first that is found on, all is sent again a round trip later.
/// Counts; returns the time that this took longer. Nothing: not one packet gets through.
std::optional<std::int64_t> damage_time(CablePort& port, const link::Framing& framing,
                                        double ps_per_byte, std::int64_t bytes,
                                        const link::Rules& rules);

}  // namespace isleway
