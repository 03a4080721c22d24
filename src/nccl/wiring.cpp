#include "nccl/wiring.hpp"

#include <algorithm>

namespace isleway::nccl {
namespace {

/// Bytes on the wire for each byte of payload: flags travel with the data (LL: 4 of 8 bytes,
/// LL128: 8 of 128).
double expansion(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll: return 2;
    case Protocol::ll128: return 128.0 / 120.0;
    case Protocol::simple: return 1;
  }
  return 1;
}

/// Chunks that a GPU has under way through the switches before it waits for their return.
constexpr int kNvlsCredits = 2;

}  // namespace

NcclWiring::NcclWiring(Context context, const CollectiveCall& call, const Decision& decision)
    : context_(context),
      routes_(context_.fabric, context_.graphs, context_.settings),
      algorithm_(decision.algorithm),
      protocol_(decision.protocol),
      start_(context_.timing.kernel),
      in_place_(call.in_place),
      rotates_(call.collective == Collective::all_gather ||
               call.collective == Collective::reduce_scatter) {
  const std::int64_t message = wire_chunking(call, decision).slice_bytes;
  credits_ = kSlots / slots_per_message(call.collective, algorithm_, protocol_) *
             static_cast<int>(std::max<std::int64_t>(1, decision.chunking.slice_bytes / message));
  heads_ = static_cast<double>(std::max<std::size_t>(1, direct_heads(context_.graphs, 0).size()));
  // What NCCL calls a message may be several here; its price is for all of them.
  const std::int64_t share = call.size.bytes / std::max(1, decision.channels);
  const std::int64_t whole = std::min(decision.chunking.slice_bytes, share);
  if (whole > message) message_share_ = static_cast<double>(message) / static_cast<double>(whole);
  if (algorithm_ == Algorithm::p2p) start_ += context_.timing.proxy_peer * network_peers(call);
}

/// Where one rank does it for the whole call (the root of a broadcast), it hides behind the
/// links, as tables show; where all ranks do it in the same step, nothing else moves.
Rate NcclWiring::own_rate(bool reduces) const {
  const bool shows = rotates_ && (reduces || !in_place_);
  return shows ? context_.timing.own_rate : Rate::unlimited();
}

/// Of the rank that has the most, in a group of sends and receives.
int NcclWiring::network_peers(const CollectiveCall& call) const {
  const Graphs& graphs = context_.graphs;
  if (graphs.nodes.size() == 1) return 0;
  if (call.collective == Collective::sendrecv) return 1;
  std::size_t smallest = graphs.nodes.front().ranks.size();
  for (const NcclNode& node : graphs.nodes) smallest = std::min(smallest, node.ranks.size());
  return graphs.ranks() - static_cast<int>(smallest);
}

int NcclWiring::rank_of(int agent) const {
  const Graphs& graphs = context_.graphs;
  if (agent < graphs.ranks()) return agent;
  const int number = agent - graphs.ranks();
  return graphs.nodes[number / nvls_heads()].ranks[number % nvls_heads()];
}

bool NcclWiring::is_network_switch(int agent) const {
  // Algorithms from files know no switch but those of NVLink; NCCL's sends and receives none.
  const bool nvls = algorithm_ == Algorithm::nvls || algorithm_ == Algorithm::nvls_tree ||
                    algorithm_ == Algorithm::p2p;
  const Graphs& graphs = context_.graphs;
  const std::size_t nvswitches =
      nvls ? graphs.nodes.size() * static_cast<std::size_t>(nvls_heads()) : 0;
  return agent >= graphs.ranks() + static_cast<int>(nvswitches);
}

int NcclWiring::first_nvswitch(int rank) const {
  const Graphs& graphs = context_.graphs;
  return graphs.ranks() + graphs.node_of_rank[rank] * nvls_heads();
}

int NcclWiring::graph_channel(Port port) const {
  if (algorithm_ == Algorithm::ring)
    return port.stream % std::max(1, context_.graphs.ring.channels);
  if (algorithm_ == Algorithm::tree)
    return port.stream / 2 % std::max(1, context_.graphs.tree.channels);
  if (algorithm_ == Algorithm::collnet_chain)
    return port.stream / 2 % std::max(1, context_.graphs.collnet_chain.channels);
  return 0;
}

Way NcclWiring::network_way(int from, int to, int channel) const {
  const Graphs& graphs = context_.graphs;
  const auto port = [&](int rank, bool leaving) -> int {
    const int node = graphs.node_of_rank[rank];
    const NodeKind& kind = graphs.kinds[graphs.nodes[node].kind];
    if (algorithm_ == Algorithm::ring) {
      const auto& ends = kind.ring.inter[ring_channel(graphs, node, channel)];
      const int net = leaving ? ends.second : ends.first;
      return net < 0 ? -1 : kind.device_of_node[net];
    }
    if (algorithm_ == Algorithm::tree) {
      const int net = kind.tree.inter[channel].first;
      return net < 0 ? -1 : kind.device_of_node[net];
    }
    if (algorithm_ == Algorithm::p2p && leaving) return routes_.rail_port(rank, to);
    return routes_.own_port(rank);
  };
  int out = port(from, true), in = port(to, false);
  if (out < 0) out = routes_.own_port(from);
  if (in < 0) in = routes_.own_port(to);
  if (out < 0 || in < 0) return {Route{}, Transport::network};
  return routes_.across(from, static_cast<DeviceIndex>(out), static_cast<DeviceIndex>(in), to);
}

/// Between a head of CollNet and the network's switch, by the port that the graph gives it.
Way NcclWiring::collnet_way(int rank, bool towards, int channel) const {
  const Graphs& graphs = context_.graphs;
  const NodeKind& kind = graphs.kinds[graphs.nodes[graphs.node_of_rank[rank]].kind];
  int net = -1;
  if (algorithm_ == Algorithm::collnet_chain) {
    net = kind.collnet_chain.inter[channel].first;
  } else if (algorithm_ == Algorithm::collnet_direct) {
    const SearchGraph& direct = kind.collnet_direct;
    for (int c = direct.channels - 1; c >= 0; --c)
      if (direct.intra[c].front() == graphs.local_rank[rank]) net = direct.inter[c].first;
  }
  const int port = net < 0 ? routes_.own_port(rank) : kind.device_of_node[net];
  if (port < 0) return {Route{}, Transport::network};
  return routes_.to_network(rank, static_cast<DeviceIndex>(port), towards);
}

Way NcclWiring::find_way(int from, int to, int channel) const {
  if (is_network_switch(from) != is_network_switch(to))
    return collnet_way(is_network_switch(to) ? from : to, is_network_switch(to), channel);
  const int a = rank_of(from), b = rank_of(to);
  if (is_switch(from) != is_switch(to))
    return routes_.to_switches(is_switch(to) ? a : b, is_switch(to));
  if (routes_.same_node(a, b)) return routes_.inside(a, b);
  return network_way(a, b, channel);
}

const Way& NcclWiring::way(Key key) const {
  auto known = ways_.find(key);
  if (known == ways_.end())
    known = ways_.emplace(key, find_way(key.from, key.to, key.channel)).first;
  return known->second;
}

Connection NcclWiring::connection(Port from, Port to) const {
  Connection connection;
  const ProtocolTiming& timing = context_.timing.protocol[index_of(protocol_)];
  const bool nvls = algorithm_ == Algorithm::nvls || algorithm_ == Algorithm::nvls_tree;
  connection.wire_expansion = expansion(protocol_);
  connection.credits = credits_;
  connection.cap = timing.block_rate;
  // A block's threads serve all heads at once.
  if (algorithm_ == Algorithm::collnet_direct) connection.cap = timing.block_rate / heads_;
  if (from.agent == to.agent) {
    // A copy inside a GPU: into or out of multicast memory, or a rank's own share.
    if (nvls) connection.cap = context_.timing.nvls_block_rate;
    return connection;
  }
  // Inside a node the way does not depend on the channel.
  const bool to_or_from_switch = is_switch(from.agent) != is_switch(to.agent);
  const bool leaves = is_network_switch(from.agent) != is_network_switch(to.agent);
  const bool inside = !leaves && routes_.same_node(rank_of(from.agent), rank_of(to.agent));
  const int channel = inside ? 0 : graph_channel(from);
  Key key{from.agent, to.agent, channel};
  // A GPU has one way to the switches of its node, whichever head they act for.
  if (to_or_from_switch && !leaves) {
    int& nvswitch = is_switch(to.agent) ? key.to : key.from;
    nvswitch = first_nvswitch(rank_of(nvswitch));
  }
  const Way& way = this->way(key);
  connection.route = &way.route;
  const auto transport = static_cast<std::size_t>(way.transport);
  connection.latency = timing.hop[transport];
  connection.overhead = timing.message[transport].scaled(message_share_);
  if (way.transport == Transport::network)
    connection.latency += way.route.latency + context_.timing.stack;
  if (!to_or_from_switch) return connection;
  if (leaves) {
    connection.wire_expansion /= context_.timing.network_reduction;
    if (!is_network_switch(from.agent)) return connection;
  } else {
    connection.latency = context_.timing.nvls_hop;
    connection.credits = kNvlsCredits;
  }
  connection.overhead = Time();
  connection.cap = Rate::unlimited();
  return connection;
}

}  // namespace isleway::nccl
