// Trains at ports: waiting, taking turns, leaving.
#include <algorithm>
#include <cmath>

#include "engine/packet/transport.hpp"
#include "engine/packet/wire_errors.hpp"

namespace isleway {

TrainId Transport::new_train() {
  if (free_trains_.empty()) {
    trains_.emplace_back();
    return static_cast<TrainId>(trains_.size() - 1);
  }
  const TrainId id = free_trains_.back();
  free_trains_.pop_back();
  return id;
}

TrainId Transport::new_train(const Strand& strand, StrandId id, std::int64_t bytes) {
  const TrainId train_id = new_train();
  const End& end = ends_[strand.connection];
  Train train;
  train.hop = strand.path->hops.data();
  train.bytes = static_cast<std::uint32_t>(bytes);
  train.flow = flow_of(id);
  train.to = end.other.end;
  train.message = end.message;
  train.member = strand.member & kMemberMask;
  train.hastens = end.latency_share < 1 ? 1 : 0;
  trains_[train_id] = train;
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
  std::uint32_t member = train.member;
  const PortId port_id = ports_.choose(hop.bundle, member, train.flow, now_);
  train.member = member & kMemberMask;
  CablePort& port = ports_[port_id];
  if (train.visits != 0 && !port.has_choice) {
    ++port.users;
    meet(port, hop, kNobody);
  }
  const OnWire on_wire = train.on_wire();
  if (port.has_choice) ports_.add_work(port_id, now_, on_wire.time);
  absorb_returns(port);
  if (port.free_at <= now_ && port.busy.empty() && gate_open(port, hop, on_wire)) {
    start(id, port_id);
    return;
  }
  Lane& lane = port.lane_from(train.came_by_or_next);
  train.came_by_or_next = kNobody;
  if (lane.first == kNobody) lane.first = id;
  else trains_[lane.last].came_by_or_next = id;
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
  train.marked = 1;
  ++port.counters.ecn_marks;
}

void Transport::absorb_returns(CablePort& port) {
  while (!port.returns.empty() && port.returns.front().at <= now_) {
    const CreditReturn& back = port.returns.front();
    port.gates[back.channel].returned(back.bytes, back.packets);
    port.returns.pop_front();
  }
}

/// Takes the next train out of a strand.
TrainId Transport::next_train(StrandId id) {
  Strand& strand = strands_[id];
  const std::int64_t bytes = std::min(strand.bytes_left, strand.train_bytes);
  const TrainId train = new_train(strand, id, bytes);
  double pace = strand.pace;
  End& connection = ends_[strand.connection];
  if (connection.rate_control) {
    const double rate = connection.rate_control->rate(Time::ps(now_)).bytes_per_second();
    pace = std::max(pace, 1e12 / (rate * strand.path->share));
  }
  // What a turn at the port cost, a sender makes up for, but no more than a train.
  const double takes = static_cast<double>(bytes) * pace;
  strand.ready_at = std::max(strand.ready_at, static_cast<double>(now_) - takes) + takes;
  strand.bytes_left -= bytes;
  ++strand.in_flight;
  return train;
}

void Transport::serve(PortId id) {
  CablePort& port = ports_[id];
  if (port.free_at <= now_) {
    absorb_returns(port);
    for (std::size_t tries = port.busy.size(); tries > 0; --tries) {
      const std::uint32_t lane_id = port.busy.front();
      port.busy.pop_front();
      Lane& lane = port.lanes[lane_id];
      const Strand* sender = lane.source != kNobody ? &strands_[lane.source] : nullptr;
      if (sender != nullptr && sender->ready_at > static_cast<double>(now_)) {
        lane.queued = false;
        capped_bytes_ += static_cast<double>(std::min(sender->bytes_left, sender->train_bytes));
        at(sender->ready_at, PacketEvent::ready, lane.source);
        continue;
      }
      const bool open =
          sender != nullptr
              ? !options_.flow_control || gate_open(port, sender->path->hops.front(),
                                                    sender->path->hops.front().on_wire(std::min(
                                                        sender->bytes_left, sender->train_bytes)))
              : gate_open(port, *trains_[lane.first].hop, trains_[lane.first].on_wire());
      if (!open) {
        port.busy.push_back(lane_id);
        continue;
      }
      TrainId train;
      bool more;
      if (sender != nullptr) {
        train = next_train(lane.source);
        more = sender->bytes_left > 0;
      } else {
        train = lane.first;
        lane.first = trains_[train].came_by_or_next;
        trains_[train].came_by_or_next = lane.input;
        port.queued_bytes -= trains_[train].bytes;
        more = lane.first != kNobody;
      }
      lane.queued = more;
      if (more) port.busy.push_back(lane_id);
      start(train, id);
      break;
    }
  }
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
void Transport::give_back(PortId id, std::int64_t when, const PathHop& hop, const OnWire& on_wire) {
  if (!options_.flow_control) return;
  const std::int64_t heard = when + hop.latency;
  if (hop.region == region_) {
    hear_of_room(id, {heard, on_wire.bytes, on_wire.packets, hop.channel});
    return;
  }
  Mail room;
  room.time = heard;
  room.kind = PacketEvent::room;
  room.id = id;
  room.bytes = on_wire.bytes;
  room.packets = on_wire.packets;
  room.channel = hop.channel;
  mail(hop.region, room);
}

void Transport::hear_of_room(PortId id, const CreditReturn& back) {
  CablePort& port = ports_[id];
  port.hear_of(back);
  if (!port.starved || port.wake_set) return;
  port.wake_set = true;
  at(std::max(now_, back.at), PacketEvent::wake, id);
}

void Transport::count_packets(CablePort& port, std::int64_t bytes, const OnWire& on_wire) {
  port.counters.data_bytes += static_cast<std::uint64_t>(bytes);
  port.counters.raw_bytes += static_cast<std::uint64_t>(on_wire.bytes);
  port.counters.packets += static_cast<std::uint64_t>(on_wire.packets);
}

/// The port is the train's from now on until the time that is returned.
std::int64_t Transport::occupy(const Train& train, PortId port_id, const OnWire& on_wire) {
  const PathHop& hop = *train.hop;
  CablePort& port = ports_[port_id];
  if (port.starved) {
    port.starved = false;
    port.counters.wait_ps += static_cast<std::uint64_t>(now_ - port.starved_since);
  }
  std::int64_t occupied = on_wire.time;
  if (port.debt > 0) {
    // Only what came while it was busy itself costs anything, not what came since then.
    const auto idle = static_cast<double>(now_ - port.free_at);
    port.debt = std::max(0.0, port.debt - idle * port.reverse_cost);
    occupied += static_cast<std::int64_t>(port.debt);
    port.debt = 0;
  }
  if (port.faulty) {
    if (const auto lost =
            damage_time(port, hop.framing, hop.ps_per_byte, train.bytes, options_.rules))
      occupied += *lost;
    else dead_link_ = wires_.fabric().link_name(port.link);
  }
  const std::int64_t end = now_ + occupied;
  port.free_at = end;
  if (port.has_choice) ports_.busy_at_least_until(port_id, end);
  count_packets(port, train.bytes, on_wire);
  if (hop.reverse_cost > 0)
    ports_[port.reverse].debt += static_cast<double>(on_wire.time) * hop.reverse_cost;
  if (options_.flow_control) port.gates[hop.channel].sent(on_wire.bytes, on_wire.packets);
  if (train.visits != 0 && !port.has_choice) --port.users;
  return end;
}

void Transport::start(TrainId id, PortId port_id) {
  Train& train = trains_[id];
  const PathHop& hop = *train.hop;
  const OnWire on_wire = train.on_wire();
  const std::int64_t end = occupy(train, port_id, on_wire);
  // It has left the buffer that it waited in.
  if (train.came_by_or_next == kNobody) {
    if (Strand& sender = strands_[strand_of(train)]; sender.bytes_left == 0)
      strand_left(sender, end);
  } else if (options_.flow_control) {
    const PathHop& before = *(&hop - 1);
    give_back(train.came_by_or_next, end, before, before.on_wire(train.bytes));
  }

  const std::int64_t latency = train.hastens != 0 ? hastened(train) : hop.latency;
  if (hop.last) {
    end_train(id, port_id, end, latency);
    return;
  }
  const PathHop& next = *++train.hop;
  // As early as it can go on without a gap.
  const std::int64_t head = now_ + hop.head_time(train.bytes);
  const std::int64_t tail = end + next.head_time(train.bytes) - next.on_wire(train.bytes).time;
  const std::int64_t when = std::max({head, tail, now_}) + latency;
  train.came_by_or_next = port_id;
  if (hop.leaves) travel(id, when);
  else at(when, PacketEvent::hop, id);
}

/// The latency of the train's hop where its connection has less than its links: at its sender or
/// its receiver, since in between are only cables.
std::int64_t Transport::hastened(const Train& train) const {
  if (train.hop->network) return train.hop->latency;
  const EndId end = train.visits != 0 ? train.to : strands_[strand_of(train)].connection;
  return latency_of(*train.hop, ends_[end].latency_share);
}

/// It is on the last link of its way, until `end`.
void Transport::end_train(TrainId id, PortId port, std::int64_t end, std::int64_t latency) {
  const Train train = trains_[id];
  free_trains_.push_back(id);
  if (options_.flow_control) give_back(port, end + latency, *train.hop, train.on_wire());
  const End& to = ends_[train.to];
  if (train.marked != 0 && to.rate_control != nullptr)
    tell(to.other, PacketEvent::notify, end + 2 * to.latency);
  if (train.visits == 0) train_is_through(strand_of(train));
  delivered(train.to, train.message, train.bytes, end + latency + to.extra_latency);
}

/// One train less of a strand in this region.
void Transport::train_is_through(StrandId id) {
  Strand& strand = strands_[id];
  if (--strand.in_flight == 0 && strand.bytes_left == 0) drop_user(id);
}

}  // namespace isleway
