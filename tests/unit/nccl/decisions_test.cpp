// Whole decisions against tables of NCCL 2.28.9's own: every graph, every size.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "isleway/fabric/join.hpp"
#include "nccl/connect.hpp"
#include "nccl/plan.hpp"
#include "nccl/point_to_point.hpp"
#include "nccl/tuner_input.hpp"
#include "unit/nccl/decisions_file.hpp"

namespace isleway::nccl {
namespace {

using testing::ExpectedGraph;
using testing::ExpectedMachine;
using testing::ExpectedRow;

std::string hash(const std::string& text) {
  std::uint64_t value = 14695981039346656037u;  // FNV-1a
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return fmt::format("{:016x}", value);
}

std::string rings_text(const Graphs& graphs) {
  std::string text;
  for (auto ring : global_rings(graphs, graphs.channels)) {
    std::rotate(ring.begin(), std::find(ring.begin(), ring.end(), 0), ring.end());
    text += fmt::format("{}\n", fmt::join(ring, " "));
  }
  return text;
}

std::string trees_text(const Graphs& graphs) {
  std::string text;
  const auto trees = global_trees(graphs, graphs.channels);
  for (std::size_t c = 0; c < trees.size(); ++c)
    for (int rank = 0; rank < graphs.ranks(); ++rank)
      text += fmt::format(
          "{}->{}->{}\n",
          fmt::join(children_in_order(graphs, trees[c], static_cast<int>(c), rank), "/"), rank,
          trees[c].parent[rank]);
  return text;
}

/// Ports named by their own name: joined hosts then seem to share them.
std::shared_ptr<const Unit> with_guids(const Unit& unit) {
  UnitParts parts = unit.parts();
  for (Device& device : parts.devices)
    if (auto* nic = std::get_if<NicInfo>(&device.info)) nic->guid = device.name;
  return *Unit::make(std::move(parts));
}

/// "HOST:NUMBER>HOST:NUMBER" of a channel's ports.
std::string ports_text(const Unit& unit, const NodeKind& kind, std::pair<int, int> ports) {
  const auto name = [&](int node) {
    const Device& device = unit.device(kind.device_of_node[node]);
    return fmt::format("{}:{}", device.host, device.index);
  };
  return name(ports.first) + ">" + name(ports.second);
}

class Decisions : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    catalogue_ = new Catalogue(*Catalogue::open(ISLEWAY_SOURCE_DIR "/machines"));
    file_ = new testing::DecisionsFile(*read_file(kFolder + "/decisions-2.28.9.txt"));
  }
  static void TearDownTestSuite() { delete catalogue_, delete file_; }

  static Fabric fabric(const ExpectedMachine& machine) {
    std::shared_ptr<const Unit> unit;
    if (machine.own) {
      const std::string path = kFolder + "/" + machine.machine + ".yaml";
      const auto made = catalogue_->unit_from_yaml(*read_file(path), path);
      EXPECT_TRUE(made) << made.error().text();
      unit = *made;
    } else {
      unit = *catalogue_->unit(machine.machine);
    }
    if (machine.same_guids) unit = with_guids(*unit);
    const auto whole =
        Fabric::make(machine.name, {unit}, std::vector<std::uint32_t>(machine.hosts))
            .and_then([&](const Fabric& f) { return with_joined_hosts(f, machine.joined); })
            .and_then([&](const Fabric& f) { return with_first_gpus(f, machine.gpus); });
    EXPECT_TRUE(whole) << whole.error().text();
    return *whole;
  }

  static inline const std::string kFolder = ISLEWAY_SOURCE_DIR "/tests/data/nccl";
  static inline Catalogue* catalogue_ = nullptr;
  static inline testing::DecisionsFile* file_ = nullptr;
};

void expect_graph(const Graph& graph, const SearchGraph& found, const ExpectedGraph& expected,
                  const Unit& unit, const NodeKind& kind, bool other_order = false) {
  EXPECT_EQ(graph.channels, expected.channels);
  EXPECT_NEAR(graph.bw_intra, expected.bw_intra, 1e-3);
  EXPECT_NEAR(graph.bw_inter, expected.bw_inter, 1e-3);
  const auto name = [](PathKind k) { return k == PathKind::loc ? "LOC" : name_of(k); };
  EXPECT_EQ(name(graph.type_intra), expected.type_intra);
  EXPECT_EQ(name(graph.type_inter), expected.type_inter);
  EXPECT_EQ(graph.pattern, expected.pattern);
  EXPECT_EQ(graph.same_channels, expected.same_channels != 0);
  EXPECT_EQ(graph.cross_nic, expected.cross_nic);
  ASSERT_EQ(found.intra.size(), expected.orders.size());
  for (std::size_t c = 0; c < found.intra.size(); ++c) {
    auto order = found.intra[c];
    order.resize(expected.orders[c].size());  // NVLS: the head alone
    if (!other_order) {
      EXPECT_EQ(order, expected.orders[c]) << "channel " << c;
    }
    if (expected.ports[c] != "-") {
      EXPECT_EQ(ports_text(unit, kind, found.inter[c]), expected.ports[c]) << "channel " << c;
    }
  }
}

void expect_graphs(const ExpectedMachine& machine, const Graphs& graphs, const Unit& unit) {
  const NodeKind& kind = graphs.kinds[0];
  expect_graph(graphs.ring, kind.ring, machine.graphs.at("ring"), unit, kind, machine.other_ring);
  expect_graph(graphs.tree, kind.tree, machine.graphs.at("tree"), unit, kind);
  const auto nvls = machine.graphs.find("nvls");
  EXPECT_EQ(graphs.nvls_supported, nvls != machine.graphs.end());
  if (nvls != machine.graphs.end()) expect_graph(graphs.nvls, kind.nvls, nvls->second, unit, kind);
  EXPECT_EQ(graphs.channels, machine.channels);
  EXPECT_EQ(graphs.nvls_channels, machine.nvls_channels);
  EXPECT_EQ(graphs.p2p_channels, machine.p2p_channels);
  EXPECT_EQ(graphs.channels_per_peer, machine.channels_per_peer);
  EXPECT_EQ(hash(rings_text(graphs)) == machine.rings, !machine.other_ring);
  EXPECT_EQ(hash(trees_text(graphs)), machine.trees);
}

void expect_peers(const ExpectedMachine& machine, const Graphs& graphs, const Settings& settings) {
  for (const testing::ExpectedPeers& peers : machine.peers)
    for (const std::int64_t bytes : {peers.first, peers.last}) {
      const PeerPlan plan = plan_peers(graphs, settings, bytes);
      EXPECT_EQ(name_of(plan.protocol), peers.protocol) << bytes;
      EXPECT_EQ(plan.per_peer, peers.channels) << bytes;
      EXPECT_EQ(plan.chunking.chunk_bytes, peers.chunk) << bytes;
    }
}

void expect_rows(const ExpectedMachine& machine, const Graphs& graphs, const Settings& settings) {
  const Tuner tuner(tuner_input(graphs), settings);
  const auto text = [](const ExpectedRow& row, std::string_view algorithm,
                       std::string_view protocol, int channels, int threads, std::int64_t chunk) {
    return fmt::format("{} {}: {} {} {} {} {}", name_of(row.collective), row.bytes, algorithm,
                       protocol, channels, threads, chunk);
  };
  for (const ExpectedRow& row : machine.rows) {
    const auto choice = tuner.choose(row.collective, row.bytes);
    ASSERT_TRUE(choice);
    const LaunchPlan plan = plan_launch(tuner.input(), settings, row.collective, choice->algorithm,
                                        choice->protocol, row.bytes);
    EXPECT_EQ(text(row, name_of(choice->algorithm), name_of(choice->protocol), plan.channels,
                   plan.threads, plan.chunk_bytes),
              text(row, row.algorithm, row.protocol, row.channels, 32 * row.warps, row.chunk));
    EXPECT_NEAR(choice->time, row.us, .01 * row.us) << row.bytes;
  }
}

TEST_F(Decisions, AreNcclsOwn) {
  std::size_t rows = 0;
  for (const ExpectedMachine& machine : file_->machines()) {
    SCOPED_TRACE(machine.name);
    rows += machine.rows.size();
#ifndef NDEBUG
    // Without optimisation, searching trays beside a network takes seconds each.
    if (machine.machine == "gb200-tray" && machine.hosts > machine.joined) continue;
#endif
    const Fabric whole = fabric(machine);
    const auto settings = Settings::parse(machine.env, {2, 28, 9});
    const auto graphs = find_graphs(whole, *settings);
    ASSERT_TRUE(graphs) << graphs.error().text();
    expect_graphs(machine, *graphs, whole.unit(0));
    expect_peers(machine, *graphs, *settings);
    expect_rows(machine, *graphs, *settings);
  }
  EXPECT_EQ(file_->machines().size(), 51u);
  EXPECT_EQ(rows, 7597u);
}

}  // namespace
}  // namespace isleway::nccl
