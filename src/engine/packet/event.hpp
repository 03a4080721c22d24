// What happens in a region, and what it hears from others.
#pragma once

#include "engine/event_queue.hpp"
#include "engine/packet/train.hpp"

namespace isleway {

struct PacketEvent {
  enum Kind : std::uint32_t {
    act,         ///< of a stream: its overhead is over
    sent,        ///< of an end: the message's last byte has left
    arrived,     ///< of an end: the receiver may act
    credit,      ///< of an end: the receiver has taken a message
    hop,         ///< of a train: it is at its next port
    wake,        ///< of a port: it is free, or has credits
    ready,       ///< of a strand: its sender has the next train
    whole_sent,  ///< of a strand that moves in closed form
    notify,      ///< of an end: congestion
    // Only between regions; they take effect without an event.
    room,  ///< of a port: there is room behind it again
    left   ///< of an end: the length of a message, and when it left
  };
  std::int64_t time;
  std::uint32_t id;
  Kind kind : 4;
  std::uint32_t version : 28;
};

using PacketQueue = EventQueue<PacketEvent>;

/// To another region. `time` is not before the lookahead is over.
struct Mail {
  std::int64_t time = 0;
  PacketEvent::Kind kind = PacketEvent::hop;
  std::uint32_t id = 0;
  Train train;  ///< hop
  // room: how much, of which virtual channel. left: how long the message is, and its number.
  std::int64_t bytes = 0;
  std::uint32_t packets = 0, channel = 0, message = 0;
  std::int64_t left_at = 0;
};

}  // namespace isleway
