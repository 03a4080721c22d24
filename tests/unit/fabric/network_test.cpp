#include <cmath>

#include "unit/fabric/build_unit.hpp"

namespace isleway {
namespace {

using Shape = NetworkPlan::Shape;

NetworkPlan plan_of(Shape shape, int ports) {
  NetworkPlan plan;
  plan.name = "test";
  plan.shape = shape;
  plan.leaf_ports = ports;
  plan.switch_latency = Time::ns(200);
  plan.cable_latency = Time::ns(10);
  return plan;
}

/// `units` hosts with `nics` NICs of 400 Gb/s each.
Result<Network> try_build(const NetworkPlan& plan, int units, int nics) {
  std::vector<NicPort> ports;
  for (int i = 0; i < nics; ++i) ports.push_back({Rate::gbits(400), 0, i});
  return Network::build(plan, {ports}, std::vector<std::uint32_t>(static_cast<std::size_t>(units)));
}

Network build(const NetworkPlan& plan, int units, int nics) {
  auto network = try_build(plan, units, nics);
  if (!network) throw std::logic_error(network.error().text());
  return *network;
}

std::vector<std::string> names(const Network& network) {
  std::vector<std::string> out;
  for (const NetSwitch& s : network.switches()) out.push_back(s.name);
  return out;
}

/// "leaf0.0 spine0 leaf0.1": the switches along the way between two NICs.
std::string way(const Network& network, std::size_t nic_from, std::size_t nic_to) {
  std::uint32_t at = network.attachments()[nic_from].leaf;
  std::string out = network.switches()[at].name;
  std::vector<Hop> hops;
  if (!network.route(at, network.attachments()[nic_to].leaf, hops)) return "none";
  for (const Hop& hop : hops) {
    const Network::Ends ends = network.trunk_ends()[hop.link];
    EXPECT_EQ(at, hop.forward ? ends.a : ends.b);
    at = hop.forward ? ends.b : ends.a;
    out += ' ' + network.switches()[at].name;
  }
  EXPECT_EQ(at, network.attachments()[nic_to].leaf);
  return out;
}

TEST(Network, IdealIsOneSwitch) {
  const Network network = build(plan_of(Shape::ideal, 64), 3, 2);
  EXPECT_EQ(network.switches().size(), 1u);
  EXPECT_EQ(network.attachments().size(), 6u);
  EXPECT_EQ(network.attachments()[0].cable.rate().gbits(), 400);
  EXPECT_EQ(way(network, 0, 5), "network");
}

TEST(Network, RailsShareALeafPerGroup) {
  NetworkPlan plan = plan_of(Shape::rail, 8);
  const Network network = build(plan, 6, 2);  // 4 ports down: groups of 4 hosts
  EXPECT_EQ(names(network),
            (std::vector<std::string>{"leaf0.0", "leaf0.1", "leaf1.0", "leaf1.1", "spine0"}));
  EXPECT_EQ(way(network, 0, 2), "leaf0.0");                 // hosts 0 and 1, rail 0
  EXPECT_EQ(way(network, 0, 3), "leaf0.0 spine0 leaf0.1");  // rail 0 to rail 1
  EXPECT_EQ(way(network, 0, 8), "leaf0.0 spine0 leaf1.0");  // another group
  EXPECT_EQ(network.trunks()[0].count, 4);
  EXPECT_EQ(network.switches().back().members, 2);  // 16 cables, 8 ports each
  EXPECT_EQ(network.attachments()[0].cable.latency, Time::ns(110));
  EXPECT_EQ(network.trunks()[0].latency, Time::ns(210));

  plan.hosts_per_group = 5;
  EXPECT_FALSE(try_build(plan, 6, 2).has_value());
  plan.oversubscription = 3;  // 6 down, 2 up
  const Network thin = build(plan, 6, 2);
  EXPECT_EQ(thin.trunks()[0].count, 2);
}

TEST(Network, ManyRailsGetACore) {
  const Network network = build(plan_of(Shape::rail, 8), 20, 2);  // 5 groups x 2 rails
  // Pods take 4 leaves of one rail.
  EXPECT_EQ(way(network, 0, 8), "leaf0.0 spine0 leaf1.0");
  EXPECT_EQ(way(network, 0, 32), "leaf0.0 spine0 core0 spine1 leaf4.0");
  EXPECT_EQ(way(network, 0, 1), "leaf0.0 spine0 core0 spine2 leaf0.1");
}

TEST(Network, TwoTiersHoldWhatTheirPortsAllow) {
  const NetworkPlan plan = plan_of(Shape::fat_tree_2, 8);
  const Network network = build(plan, 16, 2);  // 2 hosts a leaf, 8 leaves
  EXPECT_EQ(way(network, 0, 3), "leaf0");
  EXPECT_EQ(way(network, 0, 31), "leaf0 spine0 leaf7");
  EXPECT_EQ(network.switches().back().members, 4);
  const auto more = try_build(plan, 17, 2);
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error().what, "network test: 9 switches of tier 0 under one spine");
  EXPECT_EQ(try_build(plan, 1, 5).error().what, "network test: a host needs 5 ports of one leaf");
}

TEST(Network, ThreeTiersHoldTheCubeOfTheirPorts) {
  NetworkPlan plan = plan_of(Shape::fat_tree_3, 8);
  const Network network = build(plan, 32, 4);  // 8^3 / 4 = 128 NICs
  EXPECT_EQ(way(network, 0, 127), "leaf0 spine0 core0 spine7 leaf31");
  EXPECT_EQ(way(network, 0, 4), "leaf0 spine0 leaf1");
  EXPECT_EQ(network.switches().back().members, 16);
  EXPECT_FALSE(try_build(plan, 33, 4).has_value());
  plan.upper_oversubscription = 3;
  const Network thin = build(plan, 33, 4);
  EXPECT_EQ(thin.switches().back().members, 8);  // 6 pods of 8 cables, spread evenly
}

TEST(Network, DragonflyJoinsEveryTwoGroups) {
  NetworkPlan plan = plan_of(Shape::dragonfly_plus, 8);
  plan.hosts_per_group = 8;  // 4 leaves of 2 hosts
  const Network network = build(plan, 24, 2);
  EXPECT_EQ(names(network)[4], "leaf1.0");
  EXPECT_EQ(way(network, 0, 2), "leaf0.0");
  EXPECT_EQ(way(network, 0, 4), "leaf0.0 spine0 leaf0.1");
  EXPECT_EQ(way(network, 0, 47), "leaf0.0 spine0 spine2 leaf2.3");
  EXPECT_EQ(way(network, 47, 0), "leaf2.3 spine2 spine0 leaf0.0");
  EXPECT_EQ(network.trunks().back().count, 8);  // 4 spines x 4 ports over 2 other groups
  plan.groups_joined = 9;
  EXPECT_FALSE(try_build(plan, 24, 2).has_value());
  plan.groups_joined = 5;
  EXPECT_EQ(build(plan, 24, 2).trunks().back().count, 5);
}

TEST(Network, HostsOfARackAreHosts) {
  std::vector<NicPort> rack;
  for (int host = 0; host < 18; ++host)
    for (int rail = 0; rail < 4; ++rail) rack.push_back({Rate::gbits(400), host, rail});
  const Network network = *Network::build(plan_of(Shape::rail, 64), {rack}, {0, 0});
  EXPECT_EQ(network.switches()[network.attachments()[5].leaf].name, "leaf0.1");
  // 32 hosts share leaves: the 15th host of the second rack opens the next group.
  EXPECT_EQ(network.switches()[network.attachments()[72 + 14 * 4].leaf].name, "leaf1.0");
}

TEST(Network, SlowNicsShareFastPorts) {
  NetworkPlan plan = plan_of(Shape::rail, 8);
  plan.port_rate = Rate::gbits(800);
  const Network network = build(plan, 16, 2);  // two 400 Gb/s NICs a port: groups of 8
  EXPECT_EQ(way(network, 0, 14), "leaf0.0");
  EXPECT_EQ(way(network, 0, 16), "leaf0.0 spine0 leaf1.0");
  EXPECT_EQ(network.trunks()[0].count, 4);
  EXPECT_EQ(network.trunks()[0].rate().gbits(), 3200);
  EXPECT_EQ(network.attachments()[0].cable.rate().gbits(), 400);
}

TEST(Network, RefusesSenselessPlans) {
  NetworkPlan plan = plan_of(Shape::rail, 1);
  EXPECT_FALSE(try_build(plan, 2, 2).has_value());
  plan.leaf_ports = 8;
  for (double bad : {0.0, -1.0, 1e9, std::nan("")}) {
    plan.oversubscription = bad;
    EXPECT_FALSE(try_build(plan, 2, 2).has_value());
  }
}

TEST(Network, NothingToJoinIsNoNetwork) {
  for (auto shape :
       {Shape::ideal, Shape::rail, Shape::fat_tree_2, Shape::fat_tree_3, Shape::dragonfly_plus}) {
    EXPECT_TRUE(build(plan_of(shape, 8), 3, 0).trunks().empty());
    EXPECT_TRUE(build(plan_of(shape, 8), 1, 1).trunks().empty());
  }
}

TEST(Network, BrokenTrunksLeaveNoWay) {
  const Network network = build(plan_of(Shape::rail, 8), 6, 2);
  const Network broken = network.changed([](auto&, auto& trunks, auto&) { trunks[0].count = 0; });
  EXPECT_EQ(way(broken, 0, 8), "none");
  EXPECT_EQ(way(broken, 0, 2), "leaf0.0");
  EXPECT_EQ(way(network, 0, 8), "leaf0.0 spine0 leaf1.0");
}

}  // namespace
}  // namespace isleway
