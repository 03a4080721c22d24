#include "engine/packet/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isleway {
namespace {

constexpr double kPicoseconds = 1e12;
// About 1 GiB of them; beyond that the flow engine is the tool.
constexpr std::size_t kMostStrands = std::size_t{1} << 22;

}  // namespace

void Transport::at(double time, PacketEvent::Kind kind, std::uint32_t id, std::uint32_t version) {
  at(std::max(now_, static_cast<std::int64_t>(std::ceil(time))), kind, id, version);
}

Result<EndId> Transport::connect(const Connection& connection) {
  End end;
  end.latency = connection.latency.ps();
  const double cap = connection.cap.bytes_per_second() * connection.wire_expansion;
  if (std::isfinite(cap)) end.pace = kPicoseconds / cap;
  end.first_strand = static_cast<StrandId>(strands_.size());
  const auto id = static_cast<EndId>(ends_.size());
  end.other = {region_, id};
  if (connection.route != nullptr) {
    const auto paths = wires_.paths(connection);
    if (!paths) return tl::unexpected(paths.error());
    if (strands_.size() + (*paths)->size() > kMostStrands)
      return fail("there are too many connections to simulate their packets",
                  fmt::format("at most {} connections times planes", kMostStrands),
                  "use the flow engine");
    add_strands(end, id, **paths);
  }
  ends_.push_back(std::move(end));
  return id;
}

void Transport::add_strands(End& end, EndId id, const Wires::PathSet& paths) {
  bool ethernet = false;
  double line = 0;
  for (const Path& path : paths) {
    // No network is quicker than its cables, whatever the connection says.
    end.latency = std::max(end.latency, path.network_latency);
    if (path.latency > end.latency)
      end.latency_share =
          std::min(end.latency_share, static_cast<float>(end.latency - path.network_latency) /
                                          static_cast<float>(path.latency - path.network_latency));
    end.return_latency = std::max(end.return_latency, path.latency);
    for (const PathHop& hop : path.hops) {
      const CablePort& port = ports_[ports_.bundle(hop.bundle).first];
      ethernet = ethernet || port.ethernet;
      if (port.ethernet) line = line == 0 ? port.rate : std::min(line, port.rate);
    }
    // Only where messages begin.
    if (path.hops.empty() || path.hops.front().region != region_) continue;
    Strand strand;
    strand.connection = id;
    strand.path = &path;
    strands_.push_back(std::move(strand));
  }
  end.return_latency = std::min(end.return_latency, end.latency);
  std::int64_t longest = 0;
  for (const Path& path : paths) {
    std::int64_t links = 0;
    for (const PathHop& hop : path.hops) links += latency_of(hop, end.latency_share);
    longest = std::max(longest, links);
  }
  end.extra_latency = std::max<std::int64_t>(0, end.latency - longest);
  end.strand_count = static_cast<std::uint32_t>(strands_.size()) - end.first_strand;
  if (ethernet && options_.flow_control)
    end.rate_control = std::make_unique<link::Dcqcn>(options_.rules.dcqcn,
                                                     Rate::bytes_per_second(line * kPicoseconds));
}

void Transport::send(EndId id, std::int64_t bytes, std::int64_t now) {
  now_ = now;
  End& connection = ends_[id];
  connection.bytes = bytes;
  connection.leaves =
      now + static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) * connection.pace));
  bytes_ += static_cast<double>(bytes);
  if (connection.strand_count == 0) {
    if (connection.pace > 0) capped_bytes_ += static_cast<double>(bytes);
    at(connection.leaves, PacketEvent::sent, id);
    delivered(id, connection.message, bytes, connection.leaves);
    announce(id);
    return;
  }
  share_out(connection, bytes);
  parts_ = packets_;
  // All are told before any begins, which may end at once.
  const std::uint32_t count = connection.strand_count;
  connection.open_strands = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    if (parts_[i] > 0) ++connection.open_strands;
  const StrandId first = connection.first_strand;
  const double pace = connection.pace * static_cast<double>(bytes);
  for (std::uint32_t i = 0; i < count; ++i)
    if (parts_[i] > 0) begin_strand(first + i, parts_[i], pace / static_cast<double>(parts_[i]));
}

/// Whole packets to each strand, in proportion to its share over all messages; packets_ becomes
/// the bytes of each.
void Transport::share_out(End& connection, std::int64_t bytes) {
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
  strand.train_bytes = std::min(train, Train::kMostBytes);
  strand.member = 0;
  const PortId port = ports_.choose(path.hops.front().bundle, strand.member, flow_of(id), now_);
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

void Transport::send_nothing(EndId id, std::int64_t now) {
  now_ = now;
  ends_[id].bytes = 0;
  ends_[id].leaves = now;
  announce(id);
}

void Transport::strand_left(Strand& strand, std::int64_t time) {
  End& connection = ends_[strand.connection];
  connection.leaves = std::max({connection.leaves, time, now_});
  if (--connection.open_strands > 0) return;
  at(connection.leaves, PacketEvent::sent, strand.connection);
  announce(strand.connection);
}

/// The receiver learns how long a message is that has left.
void Transport::announce(EndId id) {
  End& connection = ends_[id];
  const std::uint32_t message = connection.message++;
  if (connection.other.region == region_) {
    message_left(connection.other.end, message, connection.bytes, connection.leaves);
    return;
  }
  Mail notice;
  notice.time = connection.leaves + connection.latency;
  notice.kind = PacketEvent::left;
  notice.id = connection.other.end;
  notice.message = message;
  notice.bytes = connection.bytes;
  notice.left_at = connection.leaves;
  mail(connection.other.region, notice);
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
    case PacketEvent::notify: ends_[id].rate_control->notified(Time::ps(now_)); break;
    default: break;
  }
}

}  // namespace isleway
