#include "engine/packet/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isleway {
namespace {

constexpr double kPicoseconds = 1e12;
// About 1 GiB of them; beyond that the flow engine is the tool.
constexpr std::size_t kMostStrands = std::size_t{1} << 22;

/// To the nearest; never negative.
std::int64_t whole_ps(double ps) { return static_cast<std::int64_t>(ps + 0.5); }

}  // namespace

std::int64_t Transport::PathHop::time_of(std::int64_t bytes) const {
  return whole_ps(static_cast<double>(framing.wire_bytes(bytes)) * ps_per_byte);
}

std::int64_t Transport::PathHop::unit_time(std::int64_t bytes) const {
  const std::int64_t unit = whole_packets
                                ? framing.wire_bytes(std::min<std::int64_t>(bytes, framing.payload))
                                : framing.header;
  return whole_ps(static_cast<double>(unit) * ps_per_byte);
}

void Transport::at(double time, PacketEvent::Kind kind, std::uint32_t id, std::uint32_t version) {
  at(std::max(now_, static_cast<std::int64_t>(std::ceil(time))), kind, id, version);
}

Result<Transport::PathHop> Transport::path_hop(const Hop& hop, Mover mover, std::uint32_t channel) {
  const Link& link = fabric_.link(hop.link);
  PathHop out;
  out.bundle = ports_.bundle(hop.link, hop.forward);
  out.channel = std::min<std::uint32_t>(channel, kVirtualChannels - 1);
  out.latency = link.latency.ps();
  const CablePort& port = ports_[ports_.bundle(out.bundle).first];
  out.framing = options_.rules.framing(link, mover == Mover::copy_engine, port.ethernet);
  out.whole_packets = port.ethernet;
  const double efficiency =
      mover == Mover::copy_engine ? link.efficiency.copy_engine : link.efficiency.sm;
  if (mover == Mover::copy_engine) out.reverse_cost = port.reverse_cost;
  const double payload_rate = port.rate * efficiency;
  if (payload_rate <= 0)
    return fail("a transfer never ends: " + fabric_.link_name(hop.link) + " carries nothing",
                "links that are up on every route");
  // Full packets get exactly the share of the link that is measured; headers are part of what
  // is lost.
  out.ps_per_byte = out.framing.efficiency() / payload_rate;
  return out;
}

Result<const Transport::PathSet*> Transport::path_set(const Connection& connection) {
  const auto [found, is_new] =
      path_sets_.try_emplace({connection.route, connection.mover}, PathSet{});
  if (!is_new) return &found->second;
  auto planes = plane_paths(ends_, *connection.route);
  if (!planes) return tl::unexpected(planes.error());
  for (const PlanePath& plane : *planes) {
    Path path;
    path.share = plane.share;
    for (const Hop& hop : plane.hops) {
      auto made = path_hop(hop, connection.mover, static_cast<std::uint32_t>(path.hops.size()));
      if (!made) return tl::unexpected(made.error());
      path.latency += made->latency;
      path.unit_bytes = std::max<std::int64_t>(path.unit_bytes, made->framing.payload);
      path.fixed = path.fixed && ports_.bundle(made->bundle).count == 1;
      path.hops.push_back(*made);
    }
    if (path.hops.empty()) continue;
    path.hops.back().last = true;
    found->second.push_back(std::move(path));
  }
  return &found->second;
}

Result<Transport::ConnectionId> Transport::connect(const Connection& connection) {
  ConnectionState state;
  state.latency = connection.latency.ps();
  const double cap = connection.cap.bytes_per_second() * connection.wire_expansion;
  if (std::isfinite(cap)) state.pace = kPicoseconds / cap;
  state.first_strand = static_cast<StrandId>(strands_.size());
  const auto id = static_cast<ConnectionId>(connections_.size());
  if (connection.route != nullptr) {
    const auto paths = path_set(connection);
    if (!paths) return tl::unexpected(paths.error());
    if (strands_.size() + (*paths)->size() > kMostStrands)
      return fail("there are too many connections to simulate their packets",
                  fmt::format("at most {} connections times planes", kMostStrands),
                  "use the flow engine");
    bool ethernet = false;
    double line = 0;
    for (const Path& path : **paths) {
      Strand strand;
      strand.connection = id;
      strand.path = &path;
      strands_.push_back(std::move(strand));
      if (path.latency > 0)
        state.latency_share =
            std::min(state.latency_share, static_cast<float>(static_cast<double>(state.latency) /
                                                             static_cast<double>(path.latency)));
      for (const PathHop& hop : path.hops) {
        const CablePort& port = ports_[ports_.bundle(hop.bundle).first];
        ethernet = ethernet || port.ethernet;
        if (port.ethernet) line = line == 0 ? port.rate : std::min(line, port.rate);
      }
    }
    if (ethernet && options_.flow_control)
      state.rate_control.emplace(options_.rules.dcqcn, Rate::bytes_per_second(line * kPicoseconds));
  }
  state.strand_count = static_cast<std::uint32_t>(strands_.size()) - state.first_strand;
  connections_.push_back(std::move(state));
  return id;
}

void Transport::send(ConnectionId id, std::int64_t bytes, std::int64_t now) {
  now_ = now;
  ConnectionState& connection = connections_[id];
  MessageId message;
  if (free_messages_.empty()) {
    message = static_cast<MessageId>(messages_.size());
    messages_.emplace_back();
  } else {
    message = free_messages_.back();
    free_messages_.pop_back();
  }
  Message& m = messages_[message];
  m = Message{};
  m.connection = id;
  m.leaves =
      now + static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) * connection.pace));
  connection.under_way.push_back(message);
  bytes_ += static_cast<double>(bytes);
  if (connection.strand_count == 0) {
    if (connection.pace > 0) capped_bytes_ += static_cast<double>(bytes);
    at(m.leaves, PacketEvent::sent, id);
    maybe_done(message);
    return;
  }
  share_out(connection, bytes);
  // All are told before any begins, which may end at once.
  for (std::uint32_t i = 0; i < connection.strand_count; ++i)
    if (packets_[i] > 0) ++messages_[message].open_strands;
  const std::uint32_t count = connection.strand_count;
  const StrandId first = connection.first_strand;
  const double pace = connection.pace * static_cast<double>(bytes);
  const std::vector<std::int64_t> parts = packets_;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (parts[i] == 0) continue;
    strands_[first + i].message = message;
    begin_strand(first + i, parts[i], pace / static_cast<double>(parts[i]));
  }
}

/// Whole packets to each strand, in proportion to its share over all messages; packets_ becomes
/// the bytes of each.
void Transport::share_out(ConnectionState& connection, std::int64_t bytes) {
  packets_.assign(connection.strand_count, 0);
  if (connection.strand_count == 1) {
    packets_[0] = bytes;
    return;
  }
  Strand* strands = &strands_[connection.first_strand];
  const std::int64_t payload = strands[0].path->hops.front().framing.payload;
  const std::int64_t all = (bytes + payload - 1) / payload;
  std::int64_t left = all;
  for (std::uint32_t i = 0; i < connection.strand_count; ++i) {
    strands[i].carry += strands[i].path->share * static_cast<double>(all);
    const auto whole = static_cast<std::int64_t>(std::floor(strands[i].carry + 1e-9));
    packets_[i] = std::clamp<std::int64_t>(whole, 0, left);
    strands[i].carry -= static_cast<double>(packets_[i]);
    left -= packets_[i];
  }
  std::uint32_t last = 0;
  for (; left > 0; --left) {
    std::uint32_t most = 0;
    for (std::uint32_t i = 1; i < connection.strand_count; ++i)
      if (strands[i].carry > strands[most].carry + 1e-9) most = i;
    ++packets_[most];
    strands[most].carry -= 1;
    last = most;
  }
  while (packets_[last] == 0) ++last;
  for (std::int64_t& packets : packets_) packets *= payload;
  packets_[last] -= all * payload - bytes;
}

void Transport::begin_strand(StrandId id, std::int64_t bytes, double pace) {
  Strand& strand = strands_[id];
  const Path& path = *strand.path;
  strand.bytes_left = bytes;
  strand.pace = pace;
  strand.ready_at = static_cast<double>(now_);
  std::int64_t train = path.unit_bytes;
  if (options_.most_trains > 0) {
    const std::int64_t wanted = std::max(options_.shortest_train.count(),
                                         (bytes + options_.most_trains - 1) / options_.most_trains);
    train *= std::max<std::int64_t>(1, (wanted + train - 1) / train);
  }
  strand.train_bytes = train;
  strand.member = 0;
  const PortId port =
      ports_.choose(path.hops.front().bundle, strand.member, strand.connection, now_);
  if (port != strand.port) {
    strand.port = port;
    strand.lane = static_cast<std::uint32_t>(ports_[port].lanes.size());
    ports_[port].lanes.push_back({});
    ports_[port].lanes.back().source = id;
  }
  count_user(id);
  if (may_go_whole(strands_[id])) go_whole(id);
  else enqueue_strand(id);
}

void Transport::strand_left(Strand& strand, std::int64_t time) {
  Message& message = messages_[strand.message];
  message.leaves = std::max(message.leaves, time);
  if (--message.open_strands > 0) return;
  at(std::max(now_, message.leaves), PacketEvent::sent, message.connection);
}

void Transport::train_delivered(Strand& strand, MessageId id, std::int64_t time) {
  Message& message = messages_[id];
  const ConnectionState& connection = connections_[strand.connection];
  std::int64_t links = 0;
  for (const PathHop& hop : strand.path->hops) links += latency_of(strand, hop);
  message.delivered =
      std::max(message.delivered, time + std::max<std::int64_t>(0, connection.latency - links));
  --message.trains;
  maybe_done(id);
}

void Transport::maybe_done(MessageId id) {
  if (messages_[id].open_strands > 0 || messages_[id].trains > 0) return;
  messages_[id].done = true;
  const ConnectionId c = messages_[id].connection;
  ConnectionState& connection = connections_[c];
  // A connection is a FIFO, even where packets overtake one another.
  while (!connection.under_way.empty() && messages_[connection.under_way.front()].done) {
    const MessageId first = connection.under_way.front();
    connection.under_way.pop_front();
    const Message& message = messages_[first];
    const std::int64_t arrival = std::max(
        {message.delivered, message.leaves + connection.latency, connection.last_arrival, now_});
    connection.last_arrival = arrival;
    at(arrival, PacketEvent::arrived, c);
    free_messages_.push_back(first);
  }
}

void Transport::handle(const PacketEvent& event) {
  now_ = event.time;
  const std::uint32_t id = event.id;
  switch (event.kind) {
    case PacketEvent::hop: enqueue(id); break;
    case PacketEvent::wake:
      ports_[id].wake_set = false;
      serve(id);
      break;
    case PacketEvent::ready:
      if (!strands_[id].whole && strands_[id].bytes_left > 0) enqueue_strand(id);
      break;
    case PacketEvent::whole_sent:
      if ((strands_[id].version & kVersionMask) == event.version) whole_sent(id);
      break;
    case PacketEvent::notify: connections_[id].rate_control->notified(Time::ps(now_)); break;
    default: break;
  }
}

}  // namespace isleway
