// Messages as trains of packets, from port to port.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/packet/event.hpp"
#include "engine/packet/post.hpp"
#include "engine/packet/wires.hpp"

namespace isleway {

/// An end of a connection, anywhere.
struct EndAddress {
  std::uint32_t region = 0;
  EndId end = 0;
};

/// Moves messages through one region. A connection's bytes are sprayed over the planes of its
/// route; what goes over one of them is a strand. A strand's bytes leave as trains: packets that
/// follow one another without a gap. A train enters a port's queue when enough of it is there to
/// go on without a gap, waits its turn and for credits, and occupies the port for as long as its
/// packets take. So a train costs one event a port, or two where it had to wait. A strand that
/// shares no port and stays in the region moves whole in closed form; the moment another comes, it
/// is cut at a packet's end.
class Transport {
 public:
  Transport(Wires& wires, std::uint32_t region, PacketQueue& queue, Post& post)
      : wires_(wires),
        options_(wires.options()),
        ports_(wires.ports()),
        region_(region),
        queue_(queue),
        post_(post) {}

  /// An end of a connection, for both sides of it where they are in this region. Error: hops that
  /// do not join, or a link that carries nothing (which).
  Result<EndId> connect(const Connection& connection);
  /// Tells both sides of a connection of one another.
  void join(EndId end, EndAddress other) { ends_[end].other = other; }
  EndAddress other(EndId end) const { return ends_[end].other; }

  /// `bytes` (above 0) of what goes over the wire. Two events tell the end: `sent` here when the
  /// last byte has left the sender, `arrived` where the receiver is when it may act. A connection
  /// sends one message at a time.
  void send(EndId connection, std::int64_t bytes, std::int64_t now);
  /// A message without bytes: only `arrived`.
  void send_nothing(EndId connection, std::int64_t now);
  /// The receiver has taken a message: a `credit` for the sender, as late as wires are long.
  void give_credit(EndId connection, std::int64_t now);
  /// Kinds from `hop` on.
  void handle(const PacketEvent& event);

  /// Takes what other regions sent in the window before.
  void collect(unsigned window);
  /// Brings what an event is about nearer, as it will be wanted soon.
  void prefetch(const PacketEvent& event) const {
    if (event.kind == PacketEvent::hop) __builtin_prefetch(&trains_[event.id]);
    else if (event.kind == PacketEvent::wake) __builtin_prefetch(&ports_[event.id]);
  }
  /// The earliest mail of this window.
  std::int64_t earliest_mail() const { return earliest_mail_; }

  /// A link on which nothing gets through; empty while all is well.
  const std::string& dead_link() const { return dead_link_; }
  /// All bytes, and those that their sender's threads held back, not a link.
  double bytes() const { return bytes_; }
  double capped_bytes() const { return capped_bytes_; }

 private:
  /// When a strand that moves whole is on a link, and until when that was busy before.
  struct OnLink {
    std::int64_t start = 0, end = 0, free_before = 0;
  };
  struct Strand {
    EndId connection = 0;
    const Path* path = nullptr;
    std::int64_t bytes_left = 0;  ///< not yet in any train
    std::int64_t train_bytes = 0;
    double ready_at = 0;    ///< ps, when the sender has the next train
    double pace = 0;        ///< ps that the sender needs for a byte; 0: no limit
    double carry = 0;       ///< packets that it got less than its share so far
    PortId port = kNobody;  ///< where it begins
    std::uint32_t lane = 0;
    std::uint32_t member = 0;     ///< of the switch group behind its first port
    std::uint32_t in_flight = 0;  ///< trains that are in the region and not on their last link
    bool counted = false;         ///< among the users of its ports
    bool whole = false;           ///< moves in closed form
    std::uint32_t version = 0;
    std::int64_t whole_bytes = 0;
    std::vector<OnLink> on_links;  ///< while whole, by hop
  };
  /// A message as its receiver knows it.
  struct Incoming {
    std::int64_t bytes = -1;  ///< how many it has; -1 before it has left
    std::int64_t there = 0;
    std::int64_t leaves = 0;     ///< when the last byte left
    std::int64_t delivered = 0;  ///< when the last byte so far is there
  };
  struct End {
    EndAddress other;
    std::int64_t latency = 0;
    std::int64_t extra_latency = 0;  ///< beyond that of its longest way's links
    // The sender's side. The message that is being sent:
    std::uint32_t message = 0, open_strands = 0;
    std::int64_t bytes = 0, leaves = 0;
    StrandId first_strand = 0;
    std::uint32_t strand_count = 0;
    float latency_share = 1;  ///< of its units' links, where they exceed the connection's
    double pace = 0;
    std::unique_ptr<link::Dcqcn> rate_control;
    // The receiver's.
    std::int64_t return_latency = 0;  ///< of a credit
    std::uint32_t first_incoming = 0;
    std::int64_t last_arrival = 0;
    Ring<Incoming> incoming;  ///< in the order sent
  };

  void at(double time, PacketEvent::Kind kind, std::uint32_t id, std::uint32_t version = 0);
  void at(std::int64_t time, PacketEvent::Kind kind, std::uint32_t id, std::uint32_t version = 0) {
    queue_.push({time, id, kind, version & kVersionMask});
  }
  void mail(std::uint32_t region, const Mail& mail);

  // transport.cpp: connections, and messages that leave.
  void add_strands(End& end, EndId id, const Wires::PathSet& paths);
  void share_out(End& connection, std::int64_t bytes);
  void begin_strand(StrandId id, std::int64_t bytes, double pace);
  void strand_left(Strand& strand, std::int64_t time);
  void announce(EndId id);
  static std::int64_t latency_of(const PathHop& hop, float share) {
    return share >= 1 || hop.network
               ? hop.latency
               : static_cast<std::int64_t>(static_cast<double>(hop.latency) * share);
  }
  std::int64_t latency_of(const Strand& strand, const PathHop& hop) const {
    return latency_of(hop, ends_[strand.connection].latency_share);
  }

  // arrivals.cpp: messages that arrive, and what other regions say.
  Incoming& incoming(End& end, std::uint32_t message);
  void message_left(EndId id, std::uint32_t message, std::int64_t bytes, std::int64_t leaves);
  void delivered(EndId id, std::uint32_t message, std::int64_t bytes, std::int64_t time);
  void maybe_arrived(EndId id);
  void take(const Mail& mail);
  void tell(EndAddress other, PacketEvent::Kind kind, std::int64_t time);
  void travel(TrainId id, std::int64_t when);

  // queues.cpp: trains and ports.
  void enqueue_strand(StrandId id);
  void enqueue(TrainId id);
  void push_busy(CablePort& port, std::uint32_t lane);
  void serve(PortId id);
  bool gate_open(CablePort& port, const PathHop& hop, const OnWire& on_wire) {
    return !options_.flow_control || port.gates[hop.channel].open(on_wire.bytes, on_wire.packets);
  }
  void absorb_returns(CablePort& port);
  TrainId next_train(StrandId id);
  void start(TrainId id, PortId port);
  std::int64_t hastened(const Train& train) const;
  void end_train(TrainId id, PortId port, std::int64_t end, std::int64_t latency);
  void train_is_through(StrandId id);
  std::int64_t occupy(const Train& train, PortId port, const OnWire& on_wire);
  void give_back(PortId id, std::int64_t when, const PathHop& hop, const OnWire& on_wire);
  void hear_of_room(PortId id, const CreditReturn& back);
  void mark(CablePort& port, Train& train, std::int64_t queued_bytes);
  static void count_packets(CablePort& port, std::int64_t bytes, const OnWire& on_wire);
  /// A strand's number among those of all regions.
  std::uint32_t flow_of(StrandId strand) const { return strand * Regions::kMost + region_; }
  /// While the train is in the region that it began in.
  static StrandId strand_of(const Train& train) { return train.flow / Regions::kMost; }
  TrainId new_train();
  TrainId new_train(const Strand& strand, StrandId id, std::int64_t bytes);

  // whole.cpp: strands that nobody meets.
  void count_user(StrandId id);
  void drop_user(StrandId id);
  void meet(CablePort& port, const PathHop& hop, StrandId who);
  bool may_go_whole(const Strand& strand);
  void go_whole(StrandId id);
  void plan(Strand& strand, std::int64_t first_start, std::int64_t leaves, std::int64_t bytes);
  void cut_whole(StrandId id);
  void whole_sent(StrandId id);
  void leave_whole(StrandId id, std::int64_t bytes);

  static constexpr std::uint32_t kVersionMask = (1U << 28) - 1, kMemberMask = kVersionMask;

  Wires& wires_;
  const PacketOptions& options_;
  Ports& ports_;
  std::uint32_t region_;
  PacketQueue& queue_;
  Post& post_;
  unsigned window_ = 0;
  std::int64_t earliest_mail_ = kNever;
  std::vector<End> ends_;
  std::vector<Strand> strands_;
  std::vector<Train> trains_;
  std::vector<TrainId> free_trains_;
  std::vector<std::int64_t> packets_, parts_;  ///< by strand, while a message is shared out
  std::string dead_link_;
  double bytes_ = 0, capped_bytes_ = 0;
  std::int64_t now_ = 0;
};

}  // namespace isleway
