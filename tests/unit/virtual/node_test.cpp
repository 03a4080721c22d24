#include <algorithm>
#include <set>

#include "isleway/fabric/change.hpp"
#include "unit/virtual/machines.hpp"

namespace isleway::vgpu::nvml {
namespace {

using testing::node;

TEST(Node, EveryMachineOfTheCatalogueHasOne) {
  for (const CatalogueEntry& entry : testing::catalogue().machines()) {
    SCOPED_TRACE(entry.name);
    const Node seen = node(entry.name.c_str());
    EXPECT_EQ(seen.gpus().size(), seen.healthy().gpu_count());
    std::set<std::string> uuids;
    std::set<std::pair<std::uint32_t, std::string>> addresses;
    for (const Gpu& gpu : seen.gpus()) {
      uuids.insert(gpu.uuid_name());
      addresses.insert({seen.healthy().host_of(gpu.ref), gpu.pci.text()});
      EXPECT_GT(gpu.board.frame_buffer.count(), 0);
      EXPECT_FALSE(gpu.lost);
      for (const Port& port : gpu.ports) {
        EXPECT_TRUE(port.up);
        EXPECT_GE(port.printed_rate.GBs(), 14);
      }
    }
    EXPECT_EQ(uuids.size(), seen.gpus().size());
    EXPECT_EQ(addresses.size(), seen.gpus().size());
  }
}

TEST(Node, LinksMeetTheirOtherEnds) {
  for (const char* name : {"dgx-1-v100", "dgx-h100", "hgx-a100-4", "gb200-nvl72", "h100-nvl-8"}) {
    SCOPED_TRACE(name);
    const Node seen = node(name);
    std::set<std::pair<DeviceRef, int>> switch_ports;
    for (const Gpu& gpu : seen.gpus())
      for (std::size_t i = 0; i < gpu.ports.size(); ++i) {
        const Port& port = gpu.ports[i];
        if (seen.healthy().device(port.peer).kind == DeviceKind::nvswitch) {
          EXPECT_TRUE(switch_ports.insert({port.peer, port.peer_port}).second);
          continue;
        }
        const auto peer = std::find_if(seen.gpus().begin(), seen.gpus().end(),
                                       [&](const Gpu& other) { return other.ref == port.peer; });
        ASSERT_NE(peer, seen.gpus().end());
        const Port& back = peer->ports[static_cast<std::size_t>(port.peer_port)];
        EXPECT_EQ(back.peer, gpu.ref);
        EXPECT_EQ(back.peer_port, static_cast<int>(i));
        EXPECT_EQ(back.link, port.link);
        EXPECT_NE(back.from_a, port.from_a);
      }
  }
}

TEST(Node, ALinkFaultHitsBothEndsAndNoOther) {
  const Node seen = node("dgx-1-v100", {"gpu0:nvlink1"});
  const Gpu& gpu = seen.gpus()[0];
  EXPECT_FALSE(gpu.ports[1].up);
  EXPECT_EQ(gpu.links_up(), 5);
  int down = 0;
  for (const Gpu& other : seen.gpus())
    for (const Port& port : other.ports) down += port.up ? 0 : 1;
  EXPECT_EQ(down, 2);
}

TEST(Node, ASwitchTakesItsLinksAtEveryGpu) {
  const Node seen = node("dgx-h100", {"nvswitch1"});
  for (const Gpu& gpu : seen.gpus()) {
    EXPECT_EQ(gpu.links_up(), 14);
    EXPECT_TRUE(gpu.fabric.degraded);
    for (const Port& port : gpu.ports)
      EXPECT_EQ(port.up, seen.healthy().device(port.peer).name != "NVSwitch1");
  }
}

TEST(Node, AGpuOffTheBusKeepsItsNumber) {
  for (const char* fault : {"gpu3", "gpu3:xid=79"}) {
    const Node seen = node("hgx-a100-4", {fault});
    ASSERT_EQ(seen.gpus().size(), 4u);
    EXPECT_TRUE(seen.gpus()[3].lost);
    EXPECT_EQ(seen.gpus()[3].links_up(), 0);
    EXPECT_EQ(seen.gpus()[0].links_up(), 8);  // four links to each of three peers
    EXPECT_EQ(seen.peer_status(seen.gpus()[0], seen.gpus()[3], PeerCapability::read),
              PeerStatus::unknown);
    EXPECT_EQ(seen.peer_status(seen.gpus()[0], seen.gpus()[1], PeerCapability::nvlink),
              PeerStatus::ok);
  }
}

TEST(Node, LanesPcieEccAndErrorsAreCounted) {
  const Node seen =
      node("dgx-h100", {"gpu2:nvlink7:lanes=1", "gpu2:pcie:lanes=8", "gpu2:ecc:corrected=5",
                        "gpu2:ecc:corrected=2", "gpu2:nvlink3:crc=100", "gpu2:xid=94"});
  const Gpu& gpu = seen.gpus()[2];
  EXPECT_EQ(gpu.links_up(), 18);
  EXPECT_EQ(gpu.ports[7].lanes, 1);
  EXPECT_EQ(gpu.ports[6].lanes, 2);
  EXPECT_EQ(gpu.pcie.width, 8);
  EXPECT_EQ(gpu.pcie.max_width, 16);
  EXPECT_EQ(gpu.ecc_corrected, 7u);
  EXPECT_EQ(gpu.ports[3].crc, 100u);
  EXPECT_EQ(gpu.last_xid, 94);
  EXPECT_EQ(seen.gpus()[1].ports[7].lanes, 2);
}

TEST(Node, RepairsTakeFaultsBack) {
  const Node seen = node("dgx-h100", {"gpu3:nvlink5", "mlx5_0", "repair GPU3:nvlink5"});
  EXPECT_EQ(seen.gpus()[3].links_up(), 18);
  const Fabric fabric = testing::machine("dgx-h100");
  EXPECT_EQ(faults_in_force(testing::faults(fabric, {"repair gpu1"})).error().text(),
            "\"gpu1\" is not broken\n"
            "  expected: a fault that was injected before, in the same words");
}

TEST(Node, FabricStateFollowsTheFabricManager) {
  const Node rack = node("gb200-nvl72");
  EXPECT_EQ(rack.gpus()[0].fabric.state, FabricState::completed);
  EXPECT_NE(rack.gpus()[0].fabric.cluster, Uuid{});
  EXPECT_EQ(rack.gpus()[0].fabric.cluster, rack.gpus()[71].fabric.cluster);
  const Node server = node("dgx-h100");
  EXPECT_EQ(server.gpus()[0].fabric.state, FabricState::completed);
  EXPECT_EQ(server.gpus()[0].fabric.cluster, Uuid{});
  EXPECT_EQ(node("dgx-a100").gpus()[0].fabric.state, FabricState::not_supported);
  EXPECT_EQ(node("dgx-h100", {"fabricmanager"}).gpus()[0].fabric.state, FabricState::in_progress);
  const Node broken = node("gb200-nvl72", {"node2/gpu1:clique", "node3/gpu0:clique=7"});
  EXPECT_FALSE(broken.gpus()[9].fabric.resources);
  EXPECT_EQ(broken.gpus()[9].fabric.cluster, Uuid{});
  EXPECT_EQ(broken.gpus()[12].fabric.clique, 7u);
  EXPECT_TRUE(broken.gpus()[0].fabric.resources);
}

TEST(Node, PeersAsTopoP2pPrintsThem) {
  const Node geforce = node("rtx-4090-8");
  EXPECT_EQ(geforce.peer_status(geforce.gpus()[0], geforce.gpus()[1], PeerCapability::read),
            PeerStatus::chipset);
  const Node bridged = node("h100-nvl-8");
  EXPECT_EQ(bridged.peer_status(bridged.gpus()[0], bridged.gpus()[1], PeerCapability::nvlink),
            PeerStatus::ok);
  EXPECT_EQ(bridged.peer_status(bridged.gpus()[0], bridged.gpus()[2], PeerCapability::nvlink),
            PeerStatus::not_supported);
  EXPECT_EQ(bridged.peer_status(bridged.gpus()[0], bridged.gpus()[2], PeerCapability::read),
            PeerStatus::ok);
}

TEST(Fault, BadWordsAreErrors) {
  const Fabric fabric = testing::machine("dgx-h100");
  for (const char* bad : {"",
                          ":",
                          "gpu3:",
                          "gpu3:xid",
                          "gpu3:xid=0",
                          "gpu3:xid=-1",
                          "gpu3:xid=79x",
                          "gpu9:xid=79",
                          "gpu3:ecc=1",
                          "gpu3:ecc:corrected",
                          "gpu3:ecc:sideways=2",
                          "gpu3:nvlink:crc=1",
                          "gpu3:nvlink99",
                          "gpu3:nvlink5:crc",
                          "mlx5_0:clique",
                          "repair",
                          "repair ",
                          "a:b:c:d",
                          "gpu3:clique=99999999999999",
                          "fabric manager"})
    EXPECT_FALSE(parse_fault(fabric, bad).has_value()) << bad;
}

}  // namespace
}  // namespace isleway::vgpu::nvml
