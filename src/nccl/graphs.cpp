#include "nccl/graphs.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

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
      else fewest = 2, kind.all_nvlink = false;
    }
  kind.peer_links = gpus.size() > 1 ? fewest : 2;
}

NodeKind search_kind(const Unit& unit, const std::vector<int>& hosts, bool alone,
                     const Settings& settings) {
  System system = System::build(unit, hosts, settings);
  NodeKind kind;
  const int gpus = system.count(NodeType::gpu);
  kind.ports.assign(gpus, -1);
  for (int i = 0; i < gpus; ++i) {
    const auto& nets = system.own_nets(i);
    if (!nets.empty()) kind.ports[system.gpu(i).rank] = system.node(nets.front()).device;
  }
  count_peer_links(kind, system, settings);
  if (alone) system.drop_network();
  const int most = most_channels(settings.version);
  kind.ring = search_graph(system, ring_pattern, {1, most / 2}, settings);
  kind.tree =
      search_graph(system, balanced_tree, {kind.ring.channels, kind.ring.channels}, settings);
  const bool nvls = settings.nvls && gpus > 1 && multicasts(unit, system);
  kind.nvls.pattern = nvls_pattern;
  if (nvls) kind.nvls = search_graph(system, nvls_pattern, {1, most}, settings);
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
  int per_peer = graphs.channels;
  for (const NodeKind& kind : graphs.kinds) per_peer = std::min(per_peer, kind.peer_links);
  if (several) {
    int over_network = settings.channels_per_net_peer.value_or(2);
    while (over_network > 1 && over_network * graphs.ranks() > 4 * graphs.p2p_channels)
      over_network /= 2;
    per_peer = std::min(per_peer, over_network);
  }
  graphs.channels_per_peer = std::min(graphs.p2p_channels, power(std::max(1, per_peer)));
}

}  // namespace

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
  graphs.kinds.resize(kind_of.size());
  for (const auto& [where, kind] : kind_of)
    graphs.kinds[kind] =
        search_kind(*fabric.templates()[where.first], groups[where.first][where.second],
                    graphs.nodes.size() == 1, settings);
  const NodeKind& first = graphs.kinds.front();
  graphs.ring = published(first.ring);
  graphs.tree = published(first.tree);
  graphs.nvls = published(first.nvls);
  graphs.nvls_supported = true;
  for (const NodeKind& kind : graphs.kinds) {
    agree(graphs.ring, kind.ring);
    agree(graphs.tree, kind.tree);
    agree(graphs.nvls, kind.nvls);
    graphs.nvls_supported = graphs.nvls_supported && kind.hardware.nvls_supported;
  }
  count_channels(graphs, settings);
  return graphs;
}

}  // namespace isleway::nccl
