#include "engine/packet/wires.hpp"

#include <algorithm>

namespace isleway {

Result<PathHop> Wires::hop(const Hop& hop, Mover mover, std::size_t number) {
  const Link& link = fabric_.link(hop.link);
  PathHop out;
  out.bundle = ports_.bundle(hop.link, hop.forward);
  const Bundle& bundle = ports_.bundle(out.bundle);
  const CablePort& port = ports_[bundle.first];
  out.region = bundle.region;
  out.channel = static_cast<std::uint8_t>(std::min(number, kVirtualChannels - 1));
  out.latency = link.latency.ps();
  out.network = link.kind == LinkKind::network;
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

/// A packet where all are simulated, else the shortest train.
std::int64_t Wires::usual_train(const Path& path) const {
  const std::int64_t packet = path.unit_bytes;
  if (options_.most_trains <= 0) return packet;
  return (options_.shortest_train.count() + packet - 1) / packet * packet;
}

Result<Path> Wires::path(const PlanePath& plane, Mover mover) {
  Path path;
  path.share = plane.share;
  for (const Hop& step : plane.hops) {
    auto made = hop(step, mover, path.hops.size());
    if (!made) return tl::unexpected(made.error());
    if (!path.hops.empty()) {
      PathHop& before = path.hops.back();
      before.leaves = before.region != made->region;
      path.travels = path.travels || before.leaves;
    }
    path.latency += made->latency;
    if (made->network) path.network_latency += made->latency;
    path.unit_bytes = std::max<std::int64_t>(path.unit_bytes, made->framing.payload);
    path.fixed = path.fixed && ports_.bundle(made->bundle).count == 1;
    path.hops.push_back(*made);
  }
  for (PathHop& one : path.hops) one.set_usual(usual_train(path));
  if (!path.hops.empty()) path.hops.back().last = true;
  return path;
}

Result<const Wires::PathSet*> Wires::paths(const Connection& connection) {
  const auto [found, is_new] =
      path_sets_.try_emplace({connection.route, connection.mover}, PathSet{});
  if (!is_new) return &found->second;
  auto planes = plane_paths(ends_, *connection.route);
  if (!planes) return tl::unexpected(planes.error());
  for (const PlanePath& plane : *planes) {
    auto made = path(plane, connection.mover);
    if (!made) return tl::unexpected(made.error());
    if (!made->hops.empty()) found->second.push_back(*std::move(made));
  }
  return &found->second;
}

}  // namespace isleway
