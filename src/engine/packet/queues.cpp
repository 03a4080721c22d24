// Trains at ports: waiting, taking turns, leaving.
#include <algorithm>
#include <cmath>

#include "engine/packet/transport.hpp"
#include "engine/packet/wire_errors.hpp"

namespace isleway {

TrainId Transport::new_train(const Strand& strand, StrandId id, std::int64_t bytes) {
  TrainId train_id;
  if (free_trains_.empty()) {
    train_id = static_cast<TrainId>(trains_.size());
    trains_.emplace_back();
  } else {
    train_id = free_trains_.back();
    free_trains_.pop_back();
  }
  Train& train = trains_[train_id];
  train = Train{};
  train.hop = strand.path->hops.data();
  train.bytes = bytes;
  train.strand = id;
  train.connection = strand.connection;
  train.message = strand.message;
  train.member = strand.member;
  train.latency_share = connections_[strand.connection].latency_share;
  return train_id;
}

void Transport::push_busy(CablePort& port, std::uint32_t lane) {
  if (port.lanes[lane].queued) return;
  port.lanes[lane].queued = true;
  port.busy.push_back(lane);
}

void Transport::enqueue_strand(StrandId id) {
  const Strand& strand = strands_[id];
  push_busy(ports_[strand.port], strand.lane);
  serve(strand.port);
}

void Transport::enqueue(TrainId id) {
  Train& train = trains_[id];
  const PathHop& hop = *train.hop;
  const PortId port_id = ports_.choose(hop.bundle, train.member, train.connection, now_);
  CablePort& port = ports_[port_id];
  const std::int64_t work = hop.time_of(train.bytes);
  ports_.add_work(port_id, now_, work);
  absorb_returns(port);
  if (port.free_at <= now_ && port.busy.empty() && gate_open(port, hop.channel, hop, train.bytes)) {
    start(id, port_id);
    return;
  }
  Lane& lane = port.lane_from(train.came_by);
  if (lane.first == kNobody) lane.first = id;
  else trains_[lane.last].next = id;
  lane.last = id;
  port.queued_bytes += train.bytes;
  if (port.ethernet) mark(port, train, port.queued_bytes);
  push_busy(port, static_cast<std::uint32_t>(&lane - port.lanes.data()));
  serve(port_id);
}

/// A switch marks what joins a long queue.
void Transport::mark(CablePort& port, Train& train, std::int64_t queued) {
  if (!options_.flow_control || train.marked) return;
  const double probability = options_.rules.ecn.probability(queued);
  if (probability <= 0) return;
  // By turns instead of by chance: every so many'th packet.
  port.mark_debt += probability;
  if (port.mark_debt < 1) return;
  port.mark_debt -= 1;
  train.marked = true;
  ++port.counters.ecn_marks;
}

void Transport::absorb_returns(CablePort& port) {
  if (!options_.flow_control) return;
  while (!port.returns.empty() && port.returns.front().at <= now_) {
    const CreditReturn& back = port.returns.front();
    port.gates[back.channel].returned(back.bytes, back.packets);
    port.returns.pop_front();
  }
}

bool Transport::gate_open(CablePort& port, std::uint32_t channel, const PathHop& hop,
                          std::int64_t bytes) {
  return !options_.flow_control ||
         port.gates[channel].open(hop.framing.wire_bytes(bytes), hop.framing.packets(bytes));
}

/// Takes the next train out of a strand.
TrainId Transport::next_train(StrandId id) {
  Strand& strand = strands_[id];
  const std::int64_t bytes = std::min(strand.bytes_left, strand.train_bytes);
  const TrainId train = new_train(strand, id, bytes);
  double pace = strand.pace;
  ConnectionState& connection = connections_[strand.connection];
  if (connection.rate_control) {
    const double rate = connection.rate_control->rate(Time::ps(now_)).bytes_per_second();
    pace = std::max(pace, 1e12 / (rate * strand.path->share));
  }
  // What a turn at the port cost, a sender makes up for, but no more than a train.
  const double takes = static_cast<double>(bytes) * pace;
  strand.ready_at = std::max(strand.ready_at, static_cast<double>(now_) - takes) + takes;
  strand.bytes_left -= bytes;
  ++strand.in_flight;
  ++messages_[strand.message].trains;
  return train;
}

void Transport::serve(PortId id) {
  if (ports_[id].free_at <= now_) {
    absorb_returns(ports_[id]);
    for (std::size_t tries = ports_[id].busy.size(); tries > 0; --tries) {
      CablePort& port = ports_[id];
      const std::uint32_t lane_id = port.busy.front();
      port.busy.pop_front();
      Lane& lane = port.lanes[lane_id];
      const bool from_sender = lane.source != kNobody;
      if (from_sender) {
        const Strand& strand = strands_[lane.source];
        if (strand.ready_at > static_cast<double>(now_)) {
          lane.queued = false;
          capped_bytes_ += static_cast<double>(std::min(strand.bytes_left, strand.train_bytes));
          at(strand.ready_at, PacketEvent::ready, lane.source);
          continue;
        }
      }
      const Strand* sender = from_sender ? &strands_[lane.source] : nullptr;
      const PathHop& hop = from_sender ? sender->path->hops.front() : *trains_[lane.first].hop;
      const std::int64_t bytes = from_sender ? std::min(sender->bytes_left, sender->train_bytes)
                                             : trains_[lane.first].bytes;
      if (!gate_open(port, hop.channel, hop, bytes)) {
        port.busy.push_back(lane_id);
        continue;
      }
      TrainId train;
      bool more;
      if (from_sender) {
        train = next_train(lane.source);
        more = sender->bytes_left > 0;
      } else {
        train = lane.first;
        lane.first = trains_[train].next;
        trains_[train].next = kNobody;
        port.queued_bytes -= bytes;
        more = lane.first != kNobody;
      }
      lane.queued = more;
      if (more) port.busy.push_back(lane_id);
      start(train, id);
      break;
    }
  }
  CablePort& port = ports_[id];
  if (port.busy.empty() || port.wake_set) return;
  std::int64_t wake = port.free_at;
  if (wake <= now_) {  // nobody had credits
    if (!port.starved) port.starved_since = now_;
    port.starved = true;
    if (port.returns.empty()) return;  // whoever returns some wakes it
    wake = std::max(now_, port.returns.front().at);
  }
  port.wake_set = true;
  at(wake, PacketEvent::wake, id);
}

/// The room of a train in the buffer behind a port is free at `when`; the port hears of it a
/// latency later.
void Transport::give_back(PortId id, std::int64_t when, const PathHop& hop, std::int64_t bytes) {
  if (!options_.flow_control) return;
  CablePort& port = ports_[id];
  const std::int64_t heard = when + port.latency;
  port.returns.push_back(
      {heard, hop.framing.wire_bytes(bytes), hop.framing.packets(bytes), hop.channel});
  if (!port.starved || port.wake_set) return;
  port.wake_set = true;
  at(std::max(now_, heard), PacketEvent::wake, id);
}

void Transport::count_packets(CablePort& port, const PathHop& hop, std::int64_t bytes) {
  port.counters.data_bytes += static_cast<std::uint64_t>(bytes);
  port.counters.raw_bytes += static_cast<std::uint64_t>(hop.framing.wire_bytes(bytes));
  port.counters.packets += static_cast<std::uint64_t>(hop.framing.packets(bytes));
}

void Transport::start(TrainId id, PortId port_id) {
  Train& train = trains_[id];
  const PathHop& hop = *train.hop;
  CablePort& port = ports_[port_id];
  if (port.starved) {
    port.starved = false;
    port.counters.wait_ps += static_cast<std::uint64_t>(now_ - port.starved_since);
  }

  const std::int64_t moving = hop.time_of(train.bytes);
  std::int64_t occupied = moving;
  if (port.debt > 0) {
    // Only what came while it was busy itself costs anything.
    port.debt = std::max(0.0, port.debt - static_cast<double>(now_ - port.free_at));
    occupied += static_cast<std::int64_t>(port.debt);
    port.debt = 0;
  }
  if (port.errors.possible()) {
    if (const auto lost =
            damage_time(port, hop.framing, hop.ps_per_byte, train.bytes, options_.rules))
      occupied += *lost;
    else dead_link_ = fabric_.link_name(port.link);
  }
  const std::int64_t end = now_ + occupied;
  port.free_at = end;
  if (ports_.busy_until(port_id) < end) ports_.set_busy_until(port_id, end);
  count_packets(port, hop, train.bytes);
  if (hop.reverse_cost > 0)
    ports_[port.reverse].debt += static_cast<double>(moving) * hop.reverse_cost;

  if (options_.flow_control)
    port.gates[hop.channel].sent(hop.framing.wire_bytes(train.bytes),
                                 hop.framing.packets(train.bytes));
  // It has left the buffer that it waited in.
  if (train.came_by != kNobody) {
    give_back(train.came_by, end, *(&hop - 1), train.bytes);
  } else if (Strand& sender = strands_[train.strand]; sender.bytes_left == 0) {
    strand_left(sender, end);
  }

  const std::int64_t latency = part_of(hop.latency, train.latency_share);
  if (!hop.last) {
    train.came_by = port_id;
    const PathHop& next = *++train.hop;
    // As early as it can go on without a gap.
    const std::int64_t head = now_ + hop.unit_time(train.bytes);
    const std::int64_t tail = end + next.unit_time(train.bytes) - next.time_of(train.bytes);
    at(std::max({head, tail, now_}) + latency, PacketEvent::hop, id);
    return;
  }
  give_back(port_id, end + latency, hop, train.bytes);
  if (train.marked && connections_[train.connection].rate_control)
    at(end + 2 * connections_[train.connection].latency, PacketEvent::notify, train.connection);
  const StrandId strand_id = train.strand;
  const MessageId message = train.message;
  free_trains_.push_back(id);
  Strand& strand = strands_[strand_id];
  if (--strand.in_flight == 0 && strand.bytes_left == 0) drop_user(strand_id);
  train_delivered(strand, message, end + latency);
}

}  // namespace isleway
