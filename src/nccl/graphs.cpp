#include "nccl/graphs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "nccl/graph_file.hpp"
#include "nccl/system_rates.hpp"

namespace isleway::nccl {
namespace {

/// Hosts of a unit that are one node: those that NVLink joins, if NCCL may use it that way.
std::vector<std::vector<int>> host_groups(const Unit& unit, const Settings& settings) {
  const int hosts = unit.parts().hosts;
  std::vector<int> group(hosts);
  std::iota(group.begin(), group.end(), 0);
  std::map<int, int> host_of_island;
  std::vector<bool> has_gpu(hosts);
  for (const DeviceIndex gpu : unit.gpus()) {
    const int host = unit.device(gpu).host;
    has_gpu[host] = true;
    const auto [first, is_new] = host_of_island.try_emplace(unit.island_of(gpu), host);
    if (is_new || !settings.mnnvl || group[host] == group[first->second]) continue;
    const int from = std::max(group[host], group[first->second]);
    const int to = std::min(group[host], group[first->second]);
    std::replace(group.begin(), group.end(), from, to);
  }
  std::vector<std::vector<int>> groups;
  for (int first = 0; first < hosts; ++first) {
    std::vector<int> members;
    for (int host = first; host < hosts; ++host)
      if (group[host] == first && has_gpu[host]) members.push_back(host);
    if (!members.empty()) groups.push_back(std::move(members));
  }
  return groups;
}

bool multicasts(const Unit& unit, const System& system) {
  for (const int gpu : system.of(NodeType::gpu))
    if (!unit.has_multicast(unit.island_of(system.node(gpu).device))) return false;
  return true;
}

/// Channels to one peer: two for each NVLink of the thinnest pair, two without NVLink.
void count_peer_links(NodeKind& kind, const System& system, const Settings& settings) {
  const auto& gpus = system.of(NodeType::gpu);
  int fewest = 64;
  kind.all_nvlink = gpus.size() > 1;
  for (std::size_t a = 0; a < gpus.size(); ++a)
    for (std::size_t b = 0; b < gpus.size(); ++b) {
      if (a == b) continue;
      const SystemPath& path = system.path(gpus[a], gpus[b]);
      const float one = nvlink_rate(system.node(gpus[a]).sm, settings.version);
      if (path.type == PathKind::nvl)
        fewest = std::min(fewest, 2 * std::max(1, static_cast<int>(path.bandwidth / one)));
      else fewest = 2;
      if (path.type >= PathKind::pix) kind.all_nvlink = false;
    }
  kind.peer_links = gpus.size() > 1 ? fewest : 2;
}

/// Ports beside a GPU until they carry what its own link to a CPU does (C2C: more than one
/// port); 0 for GPUs behind a PCIe switch.
int ports_to_fill(const System& system, int gpu) {
  float link = 0;
  for (const int wire : system.node(gpu).wires)
    if (system.node(system.wire(wire).to).type == NodeType::cpu) link = system.wire(wire).bandwidth;
  int ports = 0;
  float filled = 0;
  for (const int port : system.nearest(gpu, NodeType::net)) {
    if (filled >= link) break;
    filled += system.path(gpu, system.of(NodeType::net)[port]).bandwidth;
    ++ports;
  }
  return ports;
}

/// The graph of NCCL_GRAPH_FILE, or the one that is found.
Result<SearchGraph> load_or_search(System& system, int id, int pattern, SearchLimits limits,
                                   const std::optional<GraphFile>& file, const Settings& settings,
                                   bool collnet) {
  if (file) {
    auto loaded = file->graph(id, system);
    if (!loaded) return tl::unexpected(loaded.error());
    if (loaded->channels > 0) return loaded;
  }
  return search_graph(system, pattern, limits, settings, collnet);
}

/// CollNet needs a user who wants it, nodes enough, and a network and NICs that reduce.
std::string why_no_collnet(const Fabric& fabric, std::size_t nodes, const Settings& settings) {
  if (!settings.collnet)
    return "CollNet is off: NCCL_COLLNET_ENABLE=1 turns it on, where the network reduces (SHARP)";
  if (nodes < static_cast<std::size_t>(settings.collnet_nodes))
    return fmt::format("CollNet needs {} nodes (NCCL_COLLNET_NODE_THRESHOLD); there {} {}",
                       settings.collnet_nodes, nodes == 1 ? "is" : "are", nodes);
  const NetworkPlan& plan = fabric.network().plan();
  if (plan.technology != "infiniband")
    return fmt::format("CollNet needs a network that reduces (SHARP); {} is {}", plan.name,
                       plan.technology);
  for (const auto& unit : fabric.templates())
    for (const DeviceIndex nic : unit->nics())
      if (unit->device(nic).nic().in_network_reduction) return {};
  return "CollNet needs NICs that use reduction in the network (SHARP); none here does";
}

Result<NodeKind> search_kind(const Unit& unit, const std::vector<int>& hosts, bool alone,
                             bool collnet, const std::optional<GraphFile>& file,
                             const Settings& settings) {
  System system = node_system(unit, hosts, false, settings);
  NodeKind kind;
  kind.hosts = hosts;
  const int gpus = system.count(NodeType::gpu);
  kind.ports.assign(gpus, -1);
  kind.ports_to_fill = most_channels(settings.version);
  for (int i = 0; i < gpus; ++i) {
    const auto& nets = system.own_nets(i);
    if (!nets.empty()) kind.ports[system.gpu(i).rank] = system.node(nets.front()).device;
    kind.ports_to_fill =
        std::min(kind.ports_to_fill, ports_to_fill(system, system.of(NodeType::gpu)[i]));
  }
  count_peer_links(kind, system, settings);
  if (alone) system.drop_network();
  const int most = most_channels(settings.version);
  const auto find = [&](int id, int pattern, SearchLimits limits, SearchGraph& into,
                        bool reduces = false) {
    return load_or_search(system, id, pattern, limits, file, settings, reduces)
        .map([&](SearchGraph found) { into = std::move(found); });
  };
  if (auto found = find(ring_id, ring_pattern, {1, most / 2}, kind.ring); !found)
    return tl::unexpected(found.error());
  const int rings = kind.ring.channels;
  if (auto found = find(tree_id, balanced_tree, {rings, rings}, kind.tree); !found)
    return tl::unexpected(found.error());
  kind.collnet_chain.pattern = plain_tree;
  kind.collnet_direct.pattern = collnet_direct_pattern;
  if (collnet) {
    if (auto found = find(collnet_chain_id, plain_tree, {rings, rings}, kind.collnet_chain, true);
        !found)
      return tl::unexpected(found.error());
    if (auto found =
            find(collnet_direct_id, collnet_direct_pattern, {1, most}, kind.collnet_direct, true);
        !found)
      return tl::unexpected(found.error());
  }
  const bool nvls = settings.nvls && gpus > 1 && multicasts(unit, system);
  kind.nvls.pattern = nvls_pattern;
  if (nvls)
    if (auto found = find(nvls_id, nvls_pattern, {1, most}, kind.nvls); !found)
      return tl::unexpected(found.error());
  kind.hardware.switched = system.count(NodeType::nvs) > 0;
  kind.hardware.min_sm = system.min_sm();
  kind.hardware.max_sm = system.max_sm();
  kind.hardware.cpu_arch = system.arch();
  kind.hardware.cpu_vendor = system.vendor();
  kind.hardware.nvls_supported = nvls && kind.nvls.channels > 0;
  for (int node = 0; node < system.node_count(); ++node)
    kind.device_of_node.push_back(system.node(node).device);
  return kind;
}

Graph published(const SearchGraph& found) {
  Graph graph;
  graph.channels = found.channels;
  graph.bw_intra = found.bw_intra;
  graph.bw_inter = found.bw_inter;
  graph.latency_inter = found.latency_inter;
  graph.type_intra = found.type_intra;
  graph.type_inter = found.type_inter;
  graph.same_channels = found.same_channels;
  graph.cross_nic = found.cross_nic;
  graph.pattern = found.pattern;
  graph.intra = found.intra;
  return graph;
}

void agree(Graph& graph, const SearchGraph& other) {
  graph.channels = std::min(graph.channels, other.channels);
  graph.bw_intra = std::min<double>(graph.bw_intra, other.bw_intra);
  graph.bw_inter = std::min<double>(graph.bw_inter, other.bw_inter);
  graph.type_intra = std::max(graph.type_intra, other.type_intra);
  graph.type_inter = std::max(graph.type_inter, other.type_inter);
  graph.same_channels = graph.same_channels && other.same_channels;
  graph.cross_nic = std::min(graph.cross_nic, other.cross_nic);
}

/// Every search channel runs twice; fast networks twice more where there are few.
void count_channels(Graphs& graphs, const Settings& settings) {
  const bool several = graphs.nodes.size() > 1;
  int least_sm = 1000;
  for (const NodeKind& kind : graphs.kinds) least_sm = std::min(least_sm, kind.hardware.min_sm);
  const int most = most_channels(settings.version);
  int channels = std::min(most, 2 * std::min(graphs.ring.channels, graphs.tree.channels));
  const Graph& chain = graphs.collnet_chain;
  const bool lone = graphs.ranks() == static_cast<int>(graphs.nodes.size());
  if (graphs.collnet_refused.empty() && chain.bw_intra > chain.bw_inter && !lone)
    channels = std::min(most, channels + channels / 2);
  if (least_sm >= 90 && several && graphs.ring.bw_intra > 45 && channels < 16)
    channels = std::min(most, 2 * channels);
  channels = std::min(channels, settings.max_channels.value_or(most));
  graphs.channels = std::max({1, channels, std::min(most, settings.min_channels.value_or(0))});

  if (graphs.nvls_supported) {
    int nvls = 16;
    if (least_sm >= 100 && settings.version >= release(2, 25))
      nvls = several || settings.version < release(2, 27) ? 32 : 24;
    graphs.nvls_channels = settings.nvls_channels.value_or(nvls);
    graphs.nvls_channels = std::min(graphs.nvls_channels, settings.max_channels.value_or(most));
  }

  const auto power = [](int n) {
    return static_cast<int>(std::bit_ceil(static_cast<unsigned>(n)));
  };
  graphs.p2p_channels = power(std::clamp(graphs.channels, settings.min_p2p_channels.value_or(1),
                                         settings.max_p2p_channels.value_or(most)));
  int per_peer = graphs.channels, ports = most;
  for (const NodeKind& kind : graphs.kinds) {
    per_peer = std::min(per_peer, kind.peer_links);
    ports = std::min(ports, kind.ports_to_fill);
  }
  if (several) {
    // Two a peer, fewer where peers are many, but never so few that ports stand idle.
    int over_network = 2;
    while (over_network > 1 && over_network * graphs.ranks() > 4 * graphs.p2p_channels)
      over_network /= 2;
    over_network = settings.channels_per_net_peer.value_or(std::max(over_network, ports));
    per_peer = std::min(per_peer, over_network);
  }
  graphs.channels_per_peer = std::min(graphs.p2p_channels, power(std::max(1, per_peer)));
}

bool has_nic(const Unit& unit, const std::vector<int>& hosts) {
  return std::any_of(unit.nics().begin(), unit.nics().end(), [&](DeviceIndex nic) {
    return std::find(hosts.begin(), hosts.end(), unit.device(nic).host) != hosts.end();
  });
}

}  // namespace

System node_system(const Unit& unit, std::span<const int> hosts, bool alone,
                   const Settings& settings) {
  System system = System::build(unit, hosts, settings);
  if (alone) system.drop_network();
  return system;
}

Result<Graphs> find_graphs(const Fabric& fabric, const Settings& settings) {
  if (fabric.gpu_count() == 0) return fail(fabric.name() + " has no GPU", "at least one");
  Graphs graphs;
  std::vector<std::vector<std::vector<int>>> groups;
  for (const auto& unit : fabric.templates()) groups.push_back(host_groups(*unit, settings));
  std::map<std::pair<std::uint32_t, std::size_t>, int> kind_of;
  int rank = 0;
  for (std::uint32_t u = 0; u < fabric.unit_count(); ++u) {
    const std::uint32_t which = fabric.template_of(u);
    std::vector<int> node_of_host(fabric.unit(u).parts().hosts, -1);
    for (std::size_t g = 0; g < groups[which].size(); ++g) {
      const int kind =
          kind_of.try_emplace({which, g}, static_cast<int>(kind_of.size())).first->second;
      for (const int host : groups[which][g])
        node_of_host[host] = static_cast<int>(graphs.nodes.size());
      graphs.nodes.push_back({u, kind, {}});
    }
    for (const DeviceIndex gpu : fabric.unit(u).gpus()) {
      const int node = node_of_host[fabric.unit(u).device(gpu).host];
      graphs.node_of_rank.push_back(node);
      graphs.local_rank.push_back(static_cast<int>(graphs.nodes[node].ranks.size()));
      graphs.nodes[node].ranks.push_back(rank++);
    }
  }
  std::optional<GraphFile> file;
  if (!settings.graph_file.empty()) {
    auto read = GraphFile::read(settings.graph_file);
    if (!read) return tl::unexpected(read.error());
    file = std::move(*read);
  }
  graphs.collnet_refused = why_no_collnet(fabric, graphs.nodes.size(), settings);
  graphs.kinds.resize(kind_of.size());
  for (const auto& [where, kind] : kind_of) {
    const Unit& unit = *fabric.templates()[where.first];
    const std::vector<int>& hosts = groups[where.first][where.second];
    if (graphs.nodes.size() > 1 && !has_nic(unit, hosts))
      return fail(fmt::format("{} of {} has no NIC: nothing joins its GPUs to the other nodes",
                              kind_of.size() == 1 ? "a node" : "one kind of node", unit.name()),
                  "nics: in the description of every machine that stands in a cluster",
                  "copy its file in machines/ and add nics: to it (docs/machines.md), or take one "
                  "machine alone");
    auto searched = search_kind(unit, hosts, graphs.nodes.size() == 1,
                                graphs.collnet_refused.empty(), file, settings);
    if (!searched) return tl::unexpected(searched.error());
    graphs.kinds[kind] = std::move(*searched);
  }
  const NodeKind& first = graphs.kinds.front();
  graphs.ring = published(first.ring);
  graphs.tree = published(first.tree);
  graphs.nvls = published(first.nvls);
  graphs.collnet_chain = published(first.collnet_chain);
  graphs.collnet_direct = published(first.collnet_direct);
  graphs.nvls_supported = true;
  for (const NodeKind& kind : graphs.kinds) {
    agree(graphs.ring, kind.ring);
    agree(graphs.tree, kind.tree);
    agree(graphs.nvls, kind.nvls);
    agree(graphs.collnet_chain, kind.collnet_chain);
    agree(graphs.collnet_direct, kind.collnet_direct);
    graphs.nvls_supported = graphs.nvls_supported && kind.hardware.nvls_supported;
  }
  if (graphs.collnet_refused.empty() && graphs.collnet_chain.channels == 0)
    graphs.collnet_refused = "no way from the GPUs to NICs that reduce was found";
  count_channels(graphs, settings);
  return graphs;
}

}  // namespace isleway::nccl
