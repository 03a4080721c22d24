// Strands that nobody meets move as one train, in closed form.
#include <algorithm>
#include <cmath>

#include "engine/packet/transport.hpp"

namespace isleway {

/// Whoever moves whole at a port, or in its way, is cut when `who` comes.
void Transport::meet(CablePort& port, const PathHop& hop, StrandId who) {
  if (port.whole_strand != kNobody && port.whole_strand != who) cut_whole(port.whole_strand);
  if (hop.reverse_cost == 0) return;
  if (const StrandId against = ports_[port.reverse].whole_strand; against != kNobody)
    cut_whole(against);
}

void Transport::count_user(StrandId id) {
  if (strands_[id].counted) return;
  strands_[id].counted = true;
  for (const PathHop& hop : strands_[id].path->hops) {
    const Bundle& bundle = ports_.bundle(hop.bundle);
    if (bundle.count == 1) {
      ++ports_[bundle.first].users;
      meet(ports_[bundle.first], hop, id);
    }
    // Beyond that, its trains count one by one.
    if (hop.leaves) break;
  }
}

void Transport::drop_user(StrandId id) {
  if (!strands_[id].counted) return;
  strands_[id].counted = false;
  for (const PathHop& hop : strands_[id].path->hops) {
    const Bundle& bundle = ports_.bundle(hop.bundle);
    if (bundle.count == 1) --ports_[bundle.first].users;
    if (hop.leaves) break;
  }
}

bool Transport::may_go_whole(const Strand& strand) {
  if (!options_.whole_when_alone || !strand.path->fixed || strand.path->travels) return false;
  if (strand.in_flight > 0 || strand.bytes_left > Train::kMostBytes) return false;
  // One train is all there is to it anyway.
  if (strand.bytes_left <= strand.train_bytes && strand.path->hops.size() == 1) return false;
  if (ends_[strand.connection].rate_control) return false;
  return std::ranges::all_of(strand.path->hops, [&](const PathHop& hop) {
    const CablePort& port = ports_[ports_.bundle(hop.bundle).first];
    if (hop.reverse_cost > 0 && ports_[port.reverse].users > 0) return false;
    return port.users == 1 && port.busy.empty() && !port.faulty;
  });
}

/// When `bytes` begin and end to cross each link, if the first does so at `first_start` and the
/// sender has given the last of them by `leaves`.
void Transport::plan(Strand& strand, std::int64_t first_start, std::int64_t leaves,
                     std::int64_t bytes) {
  const std::vector<PathHop>& hops = strand.path->hops;
  std::int64_t start = first_start;
  for (std::size_t h = 0; h < hops.size(); ++h) {
    std::int64_t end = start + hops[h].on_wire(bytes).time;
    if (h == 0) end = std::max(end, leaves);
    strand.on_links[h].start = start;
    strand.on_links[h].end = end;
    if (h + 1 == hops.size()) break;
    const PathHop& next = hops[h + 1];
    const std::int64_t head = start + hops[h].head_time(bytes);
    const std::int64_t tail = end + next.head_time(bytes) - next.on_wire(bytes).time;
    start = std::max(std::max(head, tail) + latency_of(strand, hops[h]),
                     strand.on_links[h + 1].free_before);
  }
}

void Transport::go_whole(StrandId id) {
  Strand& strand = strands_[id];
  const std::vector<PathHop>& hops = strand.path->hops;
  strand.whole = true;
  strand.whole_bytes = strand.bytes_left;
  ++strand.version;
  ++strand.in_flight;
  strand.on_links.resize(hops.size());
  for (std::size_t h = 0; h < hops.size(); ++h)
    strand.on_links[h].free_before = ports_[ports_.bundle(hops[h].bundle).first].free_at;
  const double paced = static_cast<double>(strand.whole_bytes) * strand.pace;
  plan(strand, std::max(now_, strand.on_links[0].free_before),
       now_ + static_cast<std::int64_t>(std::llround(paced)), strand.whole_bytes);
  for (std::size_t h = 0; h < hops.size(); ++h) {
    CablePort& port = ports_[ports_.bundle(hops[h].bundle).first];
    port.whole_strand = id;
    port.free_at = strand.on_links[h].end;
  }
  at(strand.on_links[0].end, PacketEvent::whole_sent, id, strand.version);
}

/// Makes an ordinary train of the `bytes` that have left. Links that it has reached are its own
/// until its end; those that it has not are free until it does.
void Transport::leave_whole(StrandId id, std::int64_t bytes) {
  Strand& strand = strands_[id];
  const std::vector<PathHop>& hops = strand.path->hops;
  std::size_t reached = 0;
  while (bytes > 0 && reached < hops.size() && strand.on_links[reached].start <= now_) ++reached;
  for (std::size_t h = 0; h < hops.size(); ++h) {
    const PortId port_id = ports_.bundle(hops[h].bundle).first;
    CablePort& port = ports_[port_id];
    port.whole_strand = kNobody;
    port.free_at = h < reached ? strand.on_links[h].end : strand.on_links[h].free_before;
    if (h < reached) count_packets(port, bytes, hops[h].on_wire(bytes));
  }
  strand.whole = false;
  ++strand.version;
  if (strand.pace > 0 &&
      strand.on_links[0].end > strand.on_links[0].start + hops[0].on_wire(bytes).time)
    capped_bytes_ += static_cast<double>(bytes);
  if (bytes == 0) {
    --strand.in_flight;
    return;
  }
  if (reached == hops.size()) {
    --strand.in_flight;
    const End& end = ends_[strand.connection];
    delivered(end.other.end, end.message, bytes,
              strand.on_links.back().end + latency_of(strand, hops.back()) + end.extra_latency);
    return;
  }
  const TrainId train_id = new_train(strand, id, bytes);
  Train& train = trains_[train_id];
  train.hop = &hops[reached];
  train.came_by_or_next = ports_.bundle(hops[reached - 1].bundle).first;
  const PathHop& before = hops[reached - 1];
  if (options_.flow_control)
    ports_[train.came_by_or_next].gates[before.channel].sent(before.on_wire(bytes).bytes,
                                                             before.on_wire(bytes).packets);
  at(strand.on_links[reached].start, PacketEvent::hop, train_id);
}

void Transport::whole_sent(StrandId id) {
  Strand& strand = strands_[id];
  strand.bytes_left = 0;
  const std::int64_t left = strand.on_links[0].end;
  leave_whole(id, strand.whole_bytes);
  strand_left(strand, left);
  if (strand.in_flight == 0) drop_user(id);
}

/// Another came: what has not left yet goes on train by train.
void Transport::cut_whole(StrandId id) {
  Strand& strand = strands_[id];
  if (now_ >= strand.on_links[0].end) {
    whole_sent(id);
    return;
  }
  const std::int64_t all = strand.whole_bytes, unit = strand.path->unit_bytes;
  const double lasted =
      static_cast<double>(std::max<std::int64_t>(0, now_ - strand.on_links[0].start)) /
      static_cast<double>(strand.on_links[0].end - strand.on_links[0].start);
  const std::int64_t packets = (all + unit - 1) / unit;
  const auto begun = static_cast<std::int64_t>(std::ceil(lasted * static_cast<double>(packets)));
  const std::int64_t gone = std::min(all, begun * unit);
  if (gone == all) {  // the last packet is on its way
    whole_sent(id);
    return;
  }
  const std::int64_t start = strand.on_links[0].start;
  const auto leaves =
      start + static_cast<std::int64_t>(static_cast<double>(strand.on_links[0].end - start) *
                                        static_cast<double>(gone) / static_cast<double>(all));
  if (gone > 0) plan(strand, start, leaves, gone);
  strand.bytes_left = all - gone;
  strand.ready_at = std::max(static_cast<double>(now_),
                             strand.ready_at + static_cast<double>(gone) * strand.pace);
  leave_whole(id, gone);
  enqueue_strand(id);
}

}  // namespace isleway
