// Where packets wait and leave: the sending end of each cable, with the buffer at its far end.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/packet/regions.hpp"
#include "engine/packet/ring.hpp"
#include "engine/packet/train.hpp"
#include "isleway/engine/packet.hpp"
#include "isleway/link.hpp"

namespace isleway {

/// Buffers are counted apart for the first, second, ... link of a packet's way, so that full ones
/// never wait for each other in a circle. Ways that are longer climb a tree and come down.
inline constexpr std::size_t kVirtualChannels = 4;

/// Packets that arrived by one input, or that one sender has yet to send: they leave in order.
/// A port takes its lanes in turn.
struct Lane {
  std::uint32_t input = kNobody;  ///< the port that they came by; kNobody: a sender's
  StrandId source = kNobody;      ///< of a sender
  TrainId first = kNobody, last = kNobody;
  bool queued = false;  ///< among the port's busy lanes
};

struct CreditReturn {
  std::int64_t at;
  std::int64_t bytes, packets;
  std::uint32_t channel;
};

/// One direction of a cable, or of a bundle whose cables share every packet. What every packet
/// touches comes first: two lines of the cache.
struct alignas(64) CablePort {
  std::int64_t free_at = 0;
  Ring<std::uint32_t> busy;  ///< lanes with something to send, in turn
  std::vector<Lane> lanes;
  bool wake_set = false, starved = false, ethernet = false, faulty = false;
  bool has_choice = false;  ///< packets choose among it and others

  double debt = 0;  ///< ps that the other direction cost since the last train
  Ring<CreditReturn> returns;
  std::int64_t queued_bytes = 0;
  link::Counters counters;

  std::uint32_t users = 0;          ///< strands that have something under way here
  StrandId whole_strand = kNobody;  ///< the one that moves as one train
  std::array<link::Gate, kVirtualChannels> gates;
  /// Where the lane of an input was found last, by its lowest bits.
  std::array<std::uint8_t, 64> lane_hint{};
  double mark_debt = 0;  ///< packets that were to be marked and are not yet
  std::int64_t starved_since = 0;
  link::BitErrors errors;
  bool fec = false;

  LinkId link = 0;
  bool forward = true;
  PortId reverse = kNobody;  ///< the other direction, where that costs something
  std::int64_t latency = 0;  ///< ps
  double rate = 0;           ///< bytes per ps, nominal
  double reverse_cost = 0;   ///< of its time, for each of ours

  Lane& lane_from(PortId input);
  /// Keeps them in the order in which they are heard of.
  void hear_of(const CreditReturn& back);
};

/// All cables in one direction of a link.
struct Bundle {
  PortId first = 0;
  std::uint32_t count = 1;  ///< ports: one where packets are striped
  std::uint32_t region = 0;
  std::uint32_t from_members = 1, to_members = 1;
  link::Spreading spreading = link::Spreading::striped;
  std::uint32_t turn = 0;
};

/// Made as they are asked for.
class Ports {
 public:
  Ports(const Fabric& fabric, const PacketOptions& options, const Regions& regions)
      : fabric_(fabric), options_(options), regions_(regions) {}

  std::uint32_t bundle(LinkId link, bool forward);
  Bundle& bundle(std::uint32_t id) { return bundles_[id]; }
  CablePort& operator[](PortId port) { return ports_[port]; }
  const CablePort& operator[](PortId port) const { return ports_[port]; }
  std::size_t size() const { return ports_.size(); }

  /// By which cable of a bundle a packet goes on from member `member` of the switch group that
  /// it is at; `flow` tells connections apart. `member` becomes that of the group it gets to.
  PortId choose(std::uint32_t bundle, std::uint32_t& member, std::uint32_t flow, std::int64_t now) {
    const Bundle& all = bundles_[bundle];
    if (all.count > 1) return choose_among(bundle, member, flow, now);
    member = 0;
    return all.first;
  }
  /// A port that has_choice has so much more to do, or is known to be done no earlier.
  void add_work(PortId port, std::int64_t now, std::int64_t ps) {
    busy_until_[port] = std::max(busy_until_[port], now) + ps;
  }
  void busy_at_least_until(PortId port, std::int64_t time) {
    busy_until_[port] = std::max(busy_until_[port], time);
  }

  /// By (link, direction), cables of a bundle together.
  std::vector<LinkCounters> counters() const;

 private:
  PortId choose_among(std::uint32_t bundle, std::uint32_t& member, std::uint32_t flow,
                      std::int64_t now);
  void add_port(LinkId id, const Link& link, bool forward, double cables, bool choice);
  void set_members(LinkId id, bool forward, Bundle& bundle) const;
  link::Spreading spreading(const Link& link) const;
  bool ethernet(const Link& link) const;

  const Fabric& fabric_;
  const PacketOptions& options_;
  const Regions& regions_;
  std::vector<CablePort> ports_;
  /// When those among which packets choose would be done with all that waits for them.
  std::vector<std::int64_t> busy_until_;
  std::vector<Bundle> bundles_;
  std::unordered_map<std::uint64_t, std::uint32_t> bundle_of_;
};

}  // namespace isleway
