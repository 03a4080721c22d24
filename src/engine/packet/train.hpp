// Packets that follow one another without a gap, and the links that they cross.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "isleway/link/framing.hpp"

namespace isleway {

using PortId = std::uint32_t;
using TrainId = std::uint32_t;
using EndId = std::uint32_t;     ///< of a connection, within its region
using StrandId = std::uint32_t;  ///< within a region
inline constexpr std::uint32_t kNobody = UINT32_MAX;

/// What some payload is on a link.
struct OnWire {
  std::int64_t bytes = 0;
  std::int64_t time = 0;  ///< ps that it occupies the link
  std::uint32_t packets = 0;
};

/// One link of a way. What every packet asks comes first: a line of the cache.
struct alignas(64) PathHop {
  std::int64_t latency = 0;
  std::uint32_t bundle = 0;
  std::uint32_t region = 0;  ///< of its ports
  /// The train that is met most often: how long it is, and what else would be computed.
  std::int64_t usual_bytes = 0;
  OnWire usual;
  std::int64_t usual_head = 0;
  std::uint8_t channel = 0;    ///< virtual
  bool network = false;        ///< a cable; never quicker than its latency
  bool whole_packets = false;  ///< a packet is received whole before it goes on
  bool leaves = false;         ///< the next hop is another region's
  bool last = false;           ///< of its path; otherwise the next one follows it in memory

  link::Framing framing;
  double ps_per_byte = 0;   ///< on the wire
  double reverse_cost = 0;  ///< of the other direction's time, for each of this one's

  std::int64_t time_of(std::int64_t wire_bytes) const {
    return static_cast<std::int64_t>(static_cast<double>(wire_bytes) * ps_per_byte + 0.5);
  }
  OnWire on_wire(std::int64_t payload) const {
    return payload == usual_bytes ? usual : computed(payload);
  }
  /// What must have arrived of `payload` bytes before they can go on: a packet, or its header.
  std::int64_t head_time(std::int64_t payload) const {
    return payload == usual_bytes ? usual_head : computed_head(payload);
  }
  void set_usual(std::int64_t payload) {
    usual = computed(payload);
    usual_head = computed_head(payload);
    usual_bytes = payload;
  }

 private:
  OnWire computed(std::int64_t payload) const {
    const std::int64_t bytes = framing.wire_bytes(payload);
    return {bytes, time_of(bytes), static_cast<std::uint32_t>(framing.packets(payload))};
  }
  std::int64_t computed_head(std::int64_t payload) const {
    if (!whole_packets) return time_of(framing.header);
    return time_of(framing.wire_bytes(std::min<std::int64_t>(payload, framing.payload)));
  }
};

/// A single way through a route's planes.
struct Path {
  double share = 1;
  std::vector<PathHop> hops;
  std::int64_t latency = 0, network_latency = 0;
  std::int64_t unit_bytes = 1;  ///< the largest payload of a packet on any hop
  bool fixed = true;            ///< always over the same ports
  bool travels = false;         ///< from region to region
};

/// Knows what a port must ask, so that nothing else need be looked up there. There are many, and
/// all of them are touched in turn: two are a line of the cache.
struct Train {
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

  const PathHop* hop = nullptr;
  std::uint32_t bytes = 0;  ///< of payload
  /// The port that it came by; kNobody: from its sender. In a queue, which knows that, the train
  /// behind it.
  std::uint32_t came_by_or_next = kNobody;
  std::uint32_t flow = 0;         ///< whose it is, among all regions
  EndId to = 0;                   ///< in the region that it ends in
  std::uint32_t message = 0;      ///< of its connection
  std::uint32_t member : 28 = 0;  ///< of the switch group that it is at
  std::uint32_t marked : 1 = 0;
  std::uint32_t visits : 1 = 0;   ///< has left the region that it began in
  std::uint32_t hastens : 1 = 0;  ///< its connection has less latency than its units' links

  OnWire on_wire() const { return hop->on_wire(bytes); }
};
static_assert(sizeof(Train) == 32);

}  // namespace isleway
