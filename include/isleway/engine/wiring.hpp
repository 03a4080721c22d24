// How the connections of a schedule run on a fabric: over which links, at what price.
#pragma once

#include "isleway/engine/schedule.hpp"
#include "isleway/fabric.hpp"

namespace isleway {

/// Which engine of the GPU moves the bytes; decides the efficiency of a link.
enum class Mover : std::uint8_t { sm, copy_engine };

/// The price of one connection. Times are calibrated, see docs/model pages.
///
/// Agents in the network sit in the switch: the route from a GPU to one ends at the switches
/// (fabric's route_to_switches), and the route from one to a GPU starts there. So a multicast
/// is one message from its sender to the agent, which loads the sender's links once, and one
/// from the agent to each receiver; an in-switch reduction is the reverse.
struct Connection {
  /// Interned: equal pointers are equal routes. Null: both ends on the same device.
  const Route* route = nullptr;
  double wire_expansion = 1;  ///< bytes on the wire per byte of payload (LL: 2)
  Time latency;   ///< after the last byte left the sender until the receiver acts on it;
                  ///< all of it: engines do not add the route's own
  Time overhead;  ///< of the sender per message, when it can send nothing else
  Rate cap = Rate::unlimited();  ///< payload that this stream's threads can move to the peer
  int credits = 8;               ///< messages that may be under way before the receiver frees one
  Mover mover = Mover::sm;
};

/// Given by whoever knows the transport (NCCL's protocols, a plain copy).
class Wiring {
 public:
  virtual ~Wiring() = default;
  virtual Connection connection(Port from, Port to) const = 0;
  /// At which a stream does what serves only its own rank: copies, or reduces with what was
  /// received.
  virtual Rate own_rate([[maybe_unused]] bool reduces) const { return Rate::unlimited(); }
  /// From the call until the first action starts: launch, and the host's part.
  virtual Time start() const = 0;
  /// After the last action until the caller knows.
  virtual Time finish() const { return Time(); }
};

}  // namespace isleway
