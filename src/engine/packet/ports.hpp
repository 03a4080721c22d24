// Where packets wait and leave: the sending end of each cable, with the buffer at its far end.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/packet/ring.hpp"
#include "isleway/engine/packet.hpp"
#include "isleway/link.hpp"

namespace isleway {

using PortId = std::uint32_t;
using TrainId = std::uint32_t;
inline constexpr std::uint32_t kNobody = UINT32_MAX;

/// Buffers are counted apart for the first, second, ... link of a packet's way, so that full ones
/// never wait for each other in a circle. Ways that are longer climb a tree and come down.
inline constexpr std::size_t kVirtualChannels = 4;

/// Packets that arrived by one input, or that one sender has yet to send: they leave in order.
/// A port takes its lanes in turn.
struct Lane {
  std::uint32_t input = kNobody;   ///< the port that they came by; kNobody: a sender's
  std::uint32_t source = kNobody;  ///< of a sender
  TrainId first = kNobody, last = kNobody;
  bool queued = false;  ///< among the port's busy lanes
};

struct CreditReturn {
  std::int64_t at;
  std::int64_t bytes, packets;
  std::uint32_t channel;
};

/// One direction of a cable, or of a bundle whose cables share every packet. What every packet
/// touches comes first.
struct CablePort {
  std::int64_t free_at = 0;
  std::int64_t latency = 0;  ///< ps
  Ring<std::uint32_t> busy;  ///< lanes with something to send, in turn
  std::vector<Lane> lanes;
  std::int64_t queued_bytes = 0;
  bool wake_set = false, starved = false, ethernet = false, fec = false;
  PortId reverse = kNobody;  ///< the other direction, where that costs something
  double debt = 0;           ///< ps that the other direction cost since the last train
  link::BitErrors errors;
  link::Counters counters;
  /// Where the lane of an input was found last, by its lowest bits.
  std::array<std::uint8_t, 64> lane_hint{};

  double mark_debt = 0;                  ///< packets that were to be marked and are not yet
  std::uint32_t users = 0;               ///< strands that have something under way here
  std::uint32_t whole_strand = kNobody;  ///< the one that moves as one train
  std::int64_t starved_since = 0;
  std::array<link::Gate, kVirtualChannels> gates;
  Ring<CreditReturn> returns;

  LinkId link = 0;
  bool forward = true;
  double rate = 0;          ///< bytes per ps, nominal
  double reverse_cost = 0;  ///< of its time, for each of ours

  Lane& lane_from(PortId input);
};

/// All cables in one direction of a link.
struct Bundle {
  PortId first = 0;
  std::uint32_t count = 1;  ///< ports: one where packets are striped
  std::uint32_t from_members = 1, to_members = 1;
  link::Spreading spreading = link::Spreading::striped;
  std::uint32_t turn = 0;
};

/// Made as they are asked for.
class Ports {
 public:
  Ports(const Fabric& fabric, const PacketOptions& options) : fabric_(fabric), options_(options) {}

  std::uint32_t bundle(LinkId link, bool forward);
  Bundle& bundle(std::uint32_t id) { return bundles_[id]; }
  CablePort& operator[](PortId port) { return ports_[port]; }
  const CablePort& operator[](PortId port) const { return ports_[port]; }
  std::size_t size() const { return ports_.size(); }

  /// By which cable of a bundle a packet goes on from member `member` of the switch group that
  /// it is at; `flow` tells connections apart. `member` becomes that of the group it gets to.
  PortId choose(std::uint32_t bundle, std::uint32_t& member, std::uint64_t flow, std::int64_t now);
  /// When a port would be done with all that waits for it.
  std::int64_t busy_until(PortId port) const { return busy_until_[port]; }
  void add_work(PortId port, std::int64_t now, std::int64_t ps) {
    busy_until_[port] = std::max(busy_until_[port], now) + ps;
  }
  void set_busy_until(PortId port, std::int64_t time) { busy_until_[port] = time; }

  /// By (link, direction), cables of a bundle together.
  std::vector<LinkCounters> counters() const;

 private:
  void add_port(LinkId id, const Link& link, bool forward, double cables);
  void set_members(LinkId id, bool forward, Bundle& bundle) const;
  link::Spreading spreading(const Link& link) const;
  bool ethernet(const Link& link) const;

  const Fabric& fabric_;
  const PacketOptions& options_;
  std::vector<CablePort> ports_;
  std::vector<std::int64_t> busy_until_;
  std::vector<Bundle> bundles_;
  std::unordered_map<std::uint64_t, std::uint32_t> bundle_of_;
};

}  // namespace isleway
