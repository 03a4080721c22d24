// Messages as trains of packets, from port to port.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/event_queue.hpp"
#include "engine/packet/paths.hpp"
#include "engine/packet/ports.hpp"

namespace isleway {

struct PacketEvent {
  enum Kind : std::uint32_t { act, sent, arrived, hop, wake, ready, whole_sent, notify };
  std::int64_t time;
  std::uint32_t id;
  Kind kind : 4;
  std::uint32_t version : 28;
};

/// Moves messages. A connection's bytes are sprayed over the planes of its route; what goes over
/// one of them is a strand. A strand's bytes leave as trains: packets that follow one another
/// without a gap. A train enters a port's queue when enough of it is there to go on without a
/// gap, waits its turn and for credits, and occupies the port for as long as its packets take.
/// So a train costs one event a port, or two where it had to wait. A strand that shares no port
/// moves whole in closed form; the moment another comes, it is cut at a packet's end.
class Transport {
 public:
  using Queue = EventQueue<PacketEvent>;
  using ConnectionId = std::uint32_t;

  Transport(const Fabric& fabric, const PacketOptions& options, Queue& queue)
      : fabric_(fabric), options_(options), ends_(fabric), ports_(fabric, options), queue_(queue) {}

  /// Error: hops that do not join, or a link that carries nothing (which).
  Result<ConnectionId> connect(const Connection& connection);
  /// `bytes` (above 0) of what goes over the wire. Two events tell the end: `sent` when the last
  /// byte has left the sender, `arrived` when the receiver may act; their id is the connection.
  /// A connection sends one message at a time.
  void send(ConnectionId connection, std::int64_t bytes, std::int64_t now);
  /// Kinds from `hop` on.
  void handle(const PacketEvent& event);

  /// A link on which nothing gets through; empty while all is well.
  const std::string& dead_link() const { return dead_link_; }
  const Ports& ports() const { return ports_; }
  /// Share of all bytes that their sender's threads held back, not a link.
  double capped_share() const { return bytes_ > 0 ? capped_bytes_ / bytes_ : 0; }

 private:
  struct PathHop {
    std::uint32_t bundle = 0;
    std::uint32_t channel = 0;  ///< virtual
    std::int64_t latency = 0;
    double ps_per_byte = 0;   ///< on the wire
    double reverse_cost = 0;  ///< of the other direction's time, for each of this one's
    link::Framing framing;
    bool whole_packets = false;  ///< a packet is received whole before it goes on
    bool last = false;           ///< of its path; otherwise the next one follows it in memory

    std::int64_t time_of(std::int64_t bytes) const;
    /// What must have arrived before it can go on: a packet, or its header.
    std::int64_t unit_time(std::int64_t bytes) const;
  };
  struct Path {
    double share = 1;
    std::vector<PathHop> hops;
    std::int64_t latency = 0;
    std::int64_t unit_bytes = 1;  ///< the largest payload of a packet on any hop
    bool fixed = true;            ///< always over the same ports
  };
  using PathSet = std::vector<Path>;
  using MessageId = std::uint32_t;
  using StrandId = std::uint32_t;

  struct Strand {
    ConnectionId connection = 0;
    const Path* path = nullptr;
    MessageId message = 0;
    std::int64_t bytes_left = 0;  ///< not yet in any train
    std::int64_t train_bytes = 0;
    double ready_at = 0;    ///< ps, when the sender has the next train
    double pace = 0;        ///< ps that the sender needs for a byte; 0: no limit
    double carry = 0;       ///< packets that it got less than its share so far
    PortId port = kNobody;  ///< where it begins
    std::uint32_t lane = 0;
    std::uint32_t member = 0;     ///< of the switch group behind its first port
    std::uint32_t in_flight = 0;  ///< trains that have not begun their last hop
    bool counted = false;         ///< among the users of its ports
    bool whole = false;           ///< moves in closed form
    std::uint32_t version = 0;
    std::int64_t whole_bytes = 0;
    std::vector<std::int64_t> starts, ends, free_before;  ///< while whole, by hop
  };
  struct Message {
    ConnectionId connection = 0;
    std::uint32_t open_strands = 0;  ///< with bytes that have not left
    std::uint32_t trains = 0;        ///< that have not begun their last hop
    std::int64_t leaves = 0;         ///< when the last byte so far has left
    std::int64_t delivered = 0;      ///< when the last byte so far is there
    bool done = false;
  };
  struct ConnectionState {
    StrandId first_strand = 0;
    std::uint32_t strand_count = 0;
    std::int64_t latency = 0, last_arrival = 0;
    float latency_share = 1;  ///< of its links' latencies, where they exceed the connection's
    double pace = 0;
    std::optional<link::Dcqcn> rate_control;
    Ring<MessageId> under_way;  ///< in the order sent
  };
  /// Knows what a port must ask, so that nothing else need be looked up there.
  struct Train {
    const PathHop* hop = nullptr;
    std::int64_t bytes = 0;
    StrandId strand = 0;
    ConnectionId connection = 0;
    MessageId message = 0;
    std::uint32_t member = 0;
    PortId came_by = kNobody;
    TrainId next = kNobody;
    float latency_share = 1;
    bool marked = false;
  };

  void at(double time, PacketEvent::Kind kind, std::uint32_t id, std::uint32_t version = 0);
  void at(std::int64_t time, PacketEvent::Kind kind, std::uint32_t id, std::uint32_t version = 0) {
    queue_.push({time, id, kind, version & kVersionMask});
  }

  // transport.cpp: connections and messages.
  Result<const PathSet*> path_set(const Connection& connection);
  Result<PathHop> path_hop(const Hop& hop, Mover mover, std::uint32_t channel);
  void share_out(ConnectionState& connection, std::int64_t bytes);
  void begin_strand(StrandId id, std::int64_t bytes, double pace);
  void strand_left(Strand& strand, std::int64_t time);
  void train_delivered(Strand& strand, MessageId message, std::int64_t time);
  void maybe_done(MessageId id);
  static std::int64_t part_of(std::int64_t latency, float share) {
    return share >= 1 ? latency : static_cast<std::int64_t>(static_cast<double>(latency) * share);
  }
  std::int64_t latency_of(const Strand& strand, const PathHop& hop) const {
    return part_of(hop.latency, connections_[strand.connection].latency_share);
  }

  // queues.cpp: trains and ports.
  void enqueue_strand(StrandId id);
  void enqueue(TrainId id);
  void push_busy(CablePort& port, std::uint32_t lane);
  void serve(PortId id);
  bool gate_open(CablePort& port, std::uint32_t channel, const PathHop& hop, std::int64_t bytes);
  void absorb_returns(CablePort& port);
  TrainId next_train(StrandId id);
  void start(TrainId id, PortId port);
  void give_back(PortId id, std::int64_t when, const PathHop& hop, std::int64_t bytes);
  void mark(CablePort& port, Train& train, std::int64_t queued_bytes);
  static void count_packets(CablePort& port, const PathHop& hop, std::int64_t bytes);
  TrainId new_train(const Strand& strand, StrandId id, std::int64_t bytes);

  // whole.cpp: strands that nobody meets.
  void count_user(StrandId id);
  void drop_user(StrandId id);
  bool may_go_whole(const Strand& strand);
  void go_whole(StrandId id);
  void plan(Strand& strand, std::int64_t first_start, std::int64_t leaves, std::int64_t bytes);
  void cut_whole(StrandId id);
  void whole_sent(StrandId id);
  void leave_whole(StrandId id, std::int64_t bytes);

  static constexpr std::uint32_t kVersionMask = (1U << 28) - 1;

  const Fabric& fabric_;
  const PacketOptions& options_;
  LinkEnds ends_;
  Ports ports_;
  Queue& queue_;
  std::map<std::pair<const Route*, Mover>, PathSet> path_sets_;
  std::vector<ConnectionState> connections_;
  std::vector<Strand> strands_;
  std::vector<Message> messages_;
  std::vector<MessageId> free_messages_;
  std::vector<Train> trains_;
  std::vector<TrainId> free_trains_;
  std::vector<std::int64_t> packets_;  ///< by strand, while a message is shared out
  std::string dead_link_;
  double bytes_ = 0, capped_bytes_ = 0;
  std::int64_t now_ = 0;
};

}  // namespace isleway
