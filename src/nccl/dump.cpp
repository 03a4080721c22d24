#include "isleway/nccl/dump.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "nccl/connect.hpp"
#include "nccl/graph_file.hpp"
#include "nccl/info_topology.hpp"
#include "nccl/point_to_point.hpp"

namespace isleway::nccl {
namespace {

struct Prepared {
  Settings settings;
  Graphs graphs;
};

Result<Prepared> prepare(const Fabric& fabric, const Options& options, int rank) {
  auto settings = Settings::parse(options.env, options.version);
  if (!settings) return tl::unexpected(settings.error());
  auto graphs = find_graphs(fabric, *settings);
  if (!graphs) return tl::unexpected(graphs.error());
  if (rank < 0 || rank >= graphs->ranks())
    return fail(fmt::format("there is no rank {}", rank),
                fmt::format("0 to {}", graphs->ranks() - 1));
  return Prepared{std::move(*settings), std::move(*graphs)};
}

const NodeKind& kind_of(const Graphs& graphs, int rank) {
  return graphs.kinds[graphs.nodes[graphs.node_of_rank[rank]].kind];
}

System system_of(const Fabric& fabric, const Prepared& all, int rank) {
  const NcclNode& node = all.graphs.nodes[all.graphs.node_of_rank[rank]];
  return node_system(fabric.unit(node.unit), all.graphs.kinds[node.kind].hosts,
                     all.graphs.nodes.size() == 1, all.settings);
}

/// "Channel 00/24 :  0  1  2": all numbers as wide as the widest.
std::string channel_line(const std::vector<int>& ring, int channel, int channels) {
  std::string line = fmt::format("Channel {:02}/{:02} :", channel, channels);
  const auto width = std::to_string(ring.size()).size();
  const auto zero = std::find(ring.begin(), ring.end(), 0) - ring.begin();
  for (std::size_t i = 0; i < ring.size(); ++i)
    line += fmt::format(" {:{}}", ring[(i + static_cast<std::size_t>(zero)) % ring.size()], width);
  return line;
}

std::string ring_line(const std::vector<int>& ring, int channel, int rank) {
  const auto at =
      static_cast<std::size_t>(std::find(ring.begin(), ring.end(), rank) - ring.begin());
  const std::size_t n = ring.size();
  return fmt::format("Ring {:02} : {} -> {} -> {}", channel, ring[(at + n - 1) % n], rank,
                     ring[(at + 1) % n]);
}

/// "Trees [0] 1/16/-1->0->-1": children, the rank, its parent.
std::string trees_line(const Graphs& graphs, const std::vector<TreeShape>& trees, int rank) {
  std::string line = "Trees";
  for (std::size_t c = 0; c < trees.size(); ++c) {
    const auto children = children_in_order(graphs, trees[c], static_cast<int>(c), rank);
    line += fmt::format(" [{}] {}/{}/{}->{}->{}", c, children[0], children[1], children[2], rank,
                        trees[c].parent[rank]);
  }
  return line;
}

}  // namespace

Result<std::string> graph_dump(const Fabric& fabric, const Options& options, int rank) {
  const auto all = prepare(fabric, options, rank);
  if (!all) return tl::unexpected(all.error());
  const System system = system_of(fabric, *all, rank);
  const NodeKind& kind = kind_of(all->graphs, rank);
  return write_graphs(system, {{ring_id, &kind.ring},
                               {tree_id, &kind.tree},
                               {collnet_direct_id, &kind.collnet_direct},
                               {collnet_chain_id, &kind.collnet_chain},
                               {nvls_id, &kind.nvls}});
}

Result<std::string> info_lines(const Fabric& fabric, const Options& options, int rank,
                               bool all_ranks) {
  const auto all = prepare(fabric, options, rank);
  if (!all) return tl::unexpected(all.error());
  const Graphs& graphs = all->graphs;
  const NodeKind& kind = kind_of(graphs, rank);
  const System system = system_of(fabric, *all, rank);
  const TopologyText text(fabric.unit(graphs.nodes[graphs.node_of_rank[rank]].unit), system);
  std::vector<std::string> lines = text.system_lines();
  for (const SearchGraph* graph :
       {&kind.ring, &kind.tree, &kind.collnet_chain, &kind.collnet_direct, &kind.nvls}) {
    if (graph->channels == 0) continue;
    const std::vector<std::string> more = text.graph_lines(*graph);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  const auto rings = global_rings(graphs, graphs.channels);
  const auto trees = global_trees(graphs, graphs.channels);
  const auto each_channel = [&](auto line) {
    for (int c = 0; c < graphs.channels; ++c) lines.push_back(line(c));
  };
  if (rank == 0) each_channel([&](int c) { return channel_line(rings[c], c, graphs.channels); });
  for (int r = 0; r < graphs.ranks(); ++r) {
    if (r != rank && !all_ranks) continue;
    each_channel([&](int c) { return ring_line(rings[c], c, r); });
    lines.push_back(trees_line(graphs, trees, r));
  }
  lines.push_back(fmt::format("P2P Chunksize set to {}", peer_chunk(graphs, all->settings)));
  lines.push_back(fmt::format("threadThresholds 8/8/64 | {}/8/64 | 512 | 512", 8 * graphs.ranks()));
  lines.push_back(fmt::format(
      "{} coll channels, {} collnet channels, {} nvls channels, {} p2p channels, {} p2p channels "
      "per peer",
      graphs.channels, graphs.channels, graphs.nvls_channels, graphs.p2p_channels,
      graphs.channels_per_peer));
  std::string joined;
  for (const std::string& line : lines) joined += "NCCL INFO " + line + "\n";
  return joined;
}

}  // namespace isleway::nccl
