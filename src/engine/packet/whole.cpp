// Strands that nobody meets move as one train, in closed form.
#include <algorithm>
#include <cmath>

#include "engine/packet/transport.hpp"

namespace isleway {

void Transport::count_user(StrandId id) {
  if (strands_[id].counted) return;
  strands_[id].counted = true;
  for (const PathHop& hop : strands_[id].path->hops) {
    const Bundle& bundle = ports_.bundle(hop.bundle);
    if (bundle.count > 1) continue;
    CablePort& port = ports_[bundle.first];
    ++port.users;
    if (port.whole_strand != kNobody && port.whole_strand != id) cut_whole(port.whole_strand);
    if (hop.reverse_cost == 0) continue;
    if (const StrandId against = ports_[port.reverse].whole_strand; against != kNobody)
      cut_whole(against);
  }
}

void Transport::drop_user(StrandId id) {
  if (!strands_[id].counted) return;
  strands_[id].counted = false;
  for (const PathHop& hop : strands_[id].path->hops) {
    const Bundle& bundle = ports_.bundle(hop.bundle);
    if (bundle.count == 1) --ports_[bundle.first].users;
  }
}

bool Transport::may_go_whole(const Strand& strand) {
  if (!options_.whole_when_alone || !strand.path->fixed || strand.in_flight > 0) return false;
  // One train is all there is to it anyway.
  if (strand.bytes_left <= strand.train_bytes && strand.path->hops.size() == 1) return false;
  if (connections_[strand.connection].rate_control) return false;
  return std::ranges::all_of(strand.path->hops, [&](const PathHop& hop) {
    const CablePort& port = ports_[ports_.bundle(hop.bundle).first];
    if (hop.reverse_cost > 0 && ports_[port.reverse].users > 0) return false;
    return port.users == 1 && port.busy.empty() && !port.errors.possible();
  });
}

/// When `bytes` begin and end to cross each link, if the first does so at `first_start` and the
/// sender has given the last of them by `leaves`.
void Transport::plan(Strand& strand, std::int64_t first_start, std::int64_t leaves,
                     std::int64_t bytes) {
  const std::vector<PathHop>& hops = strand.path->hops;
  std::int64_t start = first_start;
  for (std::size_t h = 0; h < hops.size(); ++h) {
    std::int64_t end = start + hops[h].time_of(bytes);
    if (h == 0) end = std::max(end, leaves);
    strand.starts[h] = start;
    strand.ends[h] = end;
    if (h + 1 == hops.size()) break;
    const PathHop& next = hops[h + 1];
    const std::int64_t head = start + hops[h].unit_time(bytes);
    const std::int64_t tail = end + next.unit_time(bytes) - next.time_of(bytes);
    start = std::max(std::max(head, tail) + latency_of(strand, hops[h]), strand.free_before[h + 1]);
  }
}

void Transport::go_whole(StrandId id) {
  Strand& strand = strands_[id];
  const std::vector<PathHop>& hops = strand.path->hops;
  strand.whole = true;
  strand.whole_bytes = strand.bytes_left;
  ++strand.version;
  ++strand.in_flight;
  ++messages_[strand.message].trains;
  for (auto* times : {&strand.starts, &strand.ends, &strand.free_before})
    times->resize(hops.size());
  for (std::size_t h = 0; h < hops.size(); ++h)
    strand.free_before[h] = ports_[ports_.bundle(hops[h].bundle).first].free_at;
  const double paced = static_cast<double>(strand.whole_bytes) * strand.pace;
  plan(strand, std::max(now_, strand.free_before[0]),
       now_ + static_cast<std::int64_t>(std::llround(paced)), strand.whole_bytes);
  for (std::size_t h = 0; h < hops.size(); ++h) {
    CablePort& port = ports_[ports_.bundle(hops[h].bundle).first];
    port.whole_strand = id;
    port.free_at = strand.ends[h];
  }
  at(strand.ends[0], PacketEvent::whole_sent, id, strand.version);
}

/// Makes an ordinary train of the `bytes` that have left. Links that it has reached are its own
/// until its end; those that it has not are free until it does.
void Transport::leave_whole(StrandId id, std::int64_t bytes) {
  Strand& strand = strands_[id];
  const std::vector<PathHop>& hops = strand.path->hops;
  std::size_t reached = 0;
  while (bytes > 0 && reached < hops.size() && strand.starts[reached] <= now_) ++reached;
  for (std::size_t h = 0; h < hops.size(); ++h) {
    const PortId port_id = ports_.bundle(hops[h].bundle).first;
    CablePort& port = ports_[port_id];
    port.whole_strand = kNobody;
    port.free_at = h < reached ? strand.ends[h] : strand.free_before[h];
    ports_.set_busy_until(port_id, port.free_at);
    if (h < reached) count_packets(port, hops[h], bytes);
  }
  strand.whole = false;
  ++strand.version;
  if (strand.pace > 0 && strand.ends[0] > strand.starts[0] + hops[0].time_of(bytes))
    capped_bytes_ += static_cast<double>(bytes);
  if (bytes == 0) {
    --strand.in_flight;
    --messages_[strand.message].trains;
    return;
  }
  if (reached == hops.size()) {
    --strand.in_flight;
    train_delivered(strand, strand.message, strand.ends.back() + latency_of(strand, hops.back()));
    return;
  }
  const TrainId train_id = new_train(strand, id, bytes);
  Train& train = trains_[train_id];
  train.hop = &hops[reached];
  train.came_by = ports_.bundle(hops[reached - 1].bundle).first;
  const PathHop& before = hops[reached - 1];
  if (options_.flow_control)
    ports_[train.came_by].gates[before.channel].sent(before.framing.wire_bytes(bytes),
                                                     before.framing.packets(bytes));
  at(strand.starts[reached], PacketEvent::hop, train_id);
}

void Transport::whole_sent(StrandId id) {
  Strand& strand = strands_[id];
  strand.bytes_left = 0;
  strand_left(strand, strand.ends[0]);
  leave_whole(id, strand.whole_bytes);
  if (strand.in_flight == 0) drop_user(id);
}

/// Another came: what has not left yet goes on train by train.
void Transport::cut_whole(StrandId id) {
  Strand& strand = strands_[id];
  if (now_ >= strand.ends[0]) {
    whole_sent(id);
    return;
  }
  const std::int64_t all = strand.whole_bytes, unit = strand.path->unit_bytes;
  const double lasted = static_cast<double>(std::max<std::int64_t>(0, now_ - strand.starts[0])) /
                        static_cast<double>(strand.ends[0] - strand.starts[0]);
  const std::int64_t packets = (all + unit - 1) / unit;
  const auto begun = static_cast<std::int64_t>(std::ceil(lasted * static_cast<double>(packets)));
  const std::int64_t gone = std::min(all, begun * unit);
  if (gone == all) {  // the last packet is on its way
    whole_sent(id);
    return;
  }
  const std::int64_t start = strand.starts[0];
  const auto leaves =
      start + static_cast<std::int64_t>(static_cast<double>(strand.ends[0] - start) *
                                        static_cast<double>(gone) / static_cast<double>(all));
  if (gone > 0) plan(strand, start, leaves, gone);
  strand.bytes_left = all - gone;
  strand.ready_at = std::max(static_cast<double>(now_),
                             strand.ready_at + static_cast<double>(gone) * strand.pace);
  leave_whole(id, gone);
  enqueue_strand(id);
}

}  // namespace isleway
