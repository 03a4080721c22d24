// S3: this program's packet engine beside ns-3, on the same work, with both results.
//
//   network_compare [alone] [HOSTS...]   128 and 1024 hosts, or HOSTS; alone: without ns-3
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <random>
#include <set>
#include <string_view>
#include <thread>

#include "isleway/engine/packet.hpp"
#include "network_work.hpp"

namespace isleway::bench {
namespace {

std::shared_ptr<const Unit> host() {
  UnitParts parts;
  parts.name = "host";
  Device cpu, gpu, nic;
  cpu.kind = DeviceKind::cpu;
  cpu.name = "CPU0";
  cpu.info = CpuInfo{};
  gpu.name = "GPU0";
  gpu.info = GpuInfo{};
  nic.kind = DeviceKind::nic;
  nic.name = "mlx5_0";
  NicInfo info;
  info.rate = Rate::gbits(400);
  nic.info = info;
  parts.devices = {cpu, gpu, nic};
  for (const DeviceIndex device : {DeviceIndex{1}, DeviceIndex{2}}) {
    Link link;
    link.kind = LinkKind::pcie;
    link.a = 0;
    link.b = device;
    link.link_rate = Rate::GBs(63);
    parts.links.push_back(link);
  }
  return Unit::make(std::move(parts)).value();
}

Fabric tree(std::uint32_t hosts, int tiers) {
  NetworkPlan plan;
  plan.name = fmt::format("{} tiers", tiers);
  plan.shape = tiers == 2 ? NetworkPlan::Shape::fat_tree_2 : NetworkPlan::Shape::fat_tree_3;
  plan.technology = "ethernet";
  plan.port_rate = Rate::gbits(400);
  // As small as hold the hosts: half of a leaf's ports go to them.
  plan.leaf_ports = tiers == 2 ? (hosts > 128 ? 64 : 16) : (hosts > 128 ? 16 : 8);
  plan.switch_latency = Time::ns(600);
  plan.cable_latency = Time::ns(50);
  plan.efficiency = double(NetworkWork::kPayload) / (NetworkWork::kPayload + NetworkWork::kHeaders);
  return Fabric::make("tree", {host()}, std::vector<std::uint32_t>(hosts, 0), plan).value();
}

struct Work {
  std::string name;
  Fabric fabric;                                               ///< a unit a host, each with one NIC
  std::vector<std::pair<std::uint32_t, std::uint32_t>> flows;  ///< from, to
  std::int64_t bytes = 0;                                      ///< of each flow
};

Work permutation(std::uint32_t hosts, int tiers, std::int64_t bytes) {
  Work work{
      fmt::format("permutation, {} hosts, {} tiers", hosts, tiers), tree(hosts, tiers), {}, bytes};
  std::vector<std::uint32_t> to(hosts);
  std::iota(to.begin(), to.end(), 0U);
  std::mt19937 random(7);
  for (std::size_t i = to.size() - 1; i > 0; --i)  // one cycle: nobody sends to itself
    std::swap(to[i], to[random() % i]);
  for (std::uint32_t from = 0; from < hosts; ++from) work.flows.emplace_back(from, to[from]);
  return work;
}

Work incast(std::uint32_t hosts, int tiers, std::int64_t bytes) {
  constexpr std::uint32_t kSenders = 64;
  Work work{
      fmt::format("64 to 1, {} hosts, {} tiers", hosts, tiers), tree(hosts, tiers), {}, bytes};
  for (std::uint32_t i = 0; i < kSenders; ++i)
    work.flows.emplace_back(1 + i * (hosts - 1) / kSenders, 0);
  return work;
}

Route way(const Work& work, std::size_t flow) {
  const auto [from, to] = work.flows[flow];
  return route(work.fabric, {from, work.fabric.unit(from).nics()[0]},
               {to, work.fabric.unit(to).nics()[0]});
}

/// The same tree and ways as plain data. Links are numbered from the first cable of a NIC.
NetworkWork plain(const Work& work) {
  const Network& network = work.fabric.network();
  const LinkId first = work.fabric.first_cable();
  NetworkWork out;
  out.bytes = work.bytes;
  std::vector<std::uint32_t> first_node;  // by switch group
  std::vector<std::uint32_t> members;
  for (const NetSwitch& s : network.switches()) {
    first_node.push_back(out.nodes);
    members.push_back(static_cast<std::uint32_t>(s.members));
    out.nodes += members.back();
  }
  const auto add = [&](const Link& link, std::uint32_t ma, std::uint32_t mb) {
    out.links.push_back({link.latency.ps(),
                         static_cast<std::uint64_t>(link.link_rate.bytes_per_second() * 8), ma,
                         mb});
  };
  for (const NicAttachment& nic : network.attachments()) {
    add(nic.cable, 1, 1);
    out.cables.push_back({static_cast<std::uint32_t>(out.links.size() - 1), out.nodes++,
                          first_node[nic.leaf], 0, 0});
  }
  for (std::size_t t = 0; t < network.trunks().size(); ++t) {
    const auto [a, b] = network.trunk_ends()[t];
    add(network.trunks()[t], members[a], members[b]);
    for (std::uint32_t c = 0; c < network.trunks()[t].count; ++c)
      out.cables.push_back({static_cast<std::uint32_t>(out.links.size() - 1),
                            first_node[a] + c % members[a], first_node[b] + c % members[b],
                            c % members[a], c % members[b]});
  }
  for (std::size_t f = 0; f < work.flows.size(); ++f) {
    out.ways.emplace_back();
    for (const Hop& hop : way(work, f).hops)
      out.ways.back().push_back({hop.link - first, hop.forward});
  }
  return out;
}

/// Flow f is stream f of its sender and of its receiver.
class FlowsSchedule final : public Schedule {
 public:
  explicit FlowsSchedule(const Work& work) : work_(work) {}
  int ranks() const override { return 2 * static_cast<int>(work_.flows.size()); }
  int streams() const override { return 1; }
  std::int64_t action_count(Port) const override { return 1; }
  void action(Port port, std::int64_t, Action& out) const override {
    out.clear();
    out.bytes = work_.bytes;
    if (port.agent % 2 == 0) out.send.push_back({port.agent + 1, 0});
    else out.recv.push_back({port.agent - 1, 0});
  }
  std::vector<CriticalStep> critical_path() const override { return {}; }

 private:
  const Work& work_;
};

class FlowsWiring final : public Wiring {
 public:
  explicit FlowsWiring(const Work& work) {
    for (std::size_t f = 0; f < work.flows.size(); ++f) routes_.push_back(way(work, f));
  }
  Connection connection(Port from, Port) const override {
    Connection connection;
    connection.route = &routes_[static_cast<std::size_t>(from.agent / 2)];
    connection.latency = connection.route->latency;
    return connection;
  }
  Time start() const override { return Time(); }

 private:
  std::vector<Route> routes_;
};

class Arrivals final : public Recorder {
 public:
  explicit Arrivals(std::size_t flows) : finish_us(flows) {}
  void run_begins() override {}
  void action(const ActionSpan&) override {}
  void message(const MessageSpan& span) override {
    finish_us[static_cast<std::size_t>(span.from.agent / 2)] = span.arrived.us();
  }
  std::vector<double> finish_us;
};

struct Ours : NetworkResult {
  std::uint64_t hops = 0, events = 0;
  double wall_1 = 0, wall_all = 0;  ///< on one thread, and on as many as there are cores
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Ours with_packets(const Work& work, const link::Rules& rules) {
  PacketOptions options;
  options.rules = rules;
  options.most_trains = 0;  // packet by packet
  options.whole_when_alone = false;
  options.flow_control = false;  // ns-3's queues hold everything, too
  options.spreading = link::Spreading::adaptive;
  Ours result;
  Arrivals arrivals(work.flows.size());
  const FlowsSchedule schedule(work);
  const FlowsWiring wiring(work);
  make_packet_engine(options, &arrivals)->run(work.fabric, schedule, wiring).value();
  result.finish_us = std::move(arrivals.finish_us);

  options.threads = 1;
  const std::clock_t began = std::clock();
  double start = now();
  const Outcome outcome = make_packet_engine(options)->run(work.fabric, schedule, wiring).value();
  result.wall_1 = now() - start;
  result.seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  for (const LinkCounters& one : outcome.counters) result.hops += one.counters.packets;
  result.events = outcome.events;

  options.threads = 0;
  start = now();
  make_packet_engine(options)->run(work.fabric, schedule, wiring).value();
  result.wall_all = now() - start;
  return result;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double last(const std::vector<double>& values) { return *std::ranges::max_element(values); }

struct Asked {
  bool alone = false;
  std::set<std::uint32_t> hosts;
};

void compare(const Work& work, const link::Rules& rules, bool alone) {
  const Ours ours = with_packets(work, rules);
  fmt::print("{:32} {:>8} {:5.2f} {:7.3f} {:7.2f} {:6.3f} {:6.3f}", work.name, ours.hops,
             static_cast<double>(ours.events) / static_cast<double>(ours.hops), ours.seconds,
             static_cast<double>(ours.hops) / ours.seconds * 1e-6, ours.wall_1, ours.wall_all);
  if (!alone) {
    const NetworkResult theirs = with_ns3(plain(work));
    fmt::print(" {:7.2f} {:6.1f} {:8.1f} {:8.1f} {:8.1f} {:8.1f}", theirs.seconds,
               theirs.seconds / ours.seconds, mean(ours.finish_us), mean(theirs.finish_us),
               last(ours.finish_us), last(theirs.finish_us));
  }
  fmt::print("\n");
  std::fflush(stdout);
}

void compare_all(const Asked& asked) {
  const auto rules =
      link::Rules::from(Parts::load(ISLEWAY_SOURCE_DIR "/machines/parts").value()).value();
  constexpr const char* kTitles =
      "{:32} {:>8} {:>5} {:>7} {:>7} {:>6} {:>6} {:>7} {:>6} {:>8} {:>8} {:>8} {:>8}\n";
  fmt::print(fmt::runtime(kTitles), "flow completion times in us", "packet", "event", "isleway",
             "million", "wall s", "wall s", "ns-3", "", "mean", "ns-3's", "last", "ns-3's");
  fmt::print(fmt::runtime(kTitles), "", "hops", "s/hop", "CPU s", "hops/s", "1 thr.",
             fmt::format("{} thr.", std::thread::hardware_concurrency()), "CPU s", "ratio", "", "",
             "", "");
  for (const std::uint32_t hosts : {128U, 1024U}) {
    if (!asked.hosts.empty() && !asked.hosts.contains(hosts)) continue;
    for (const int tiers : {2, 3}) {
      compare(permutation(hosts, tiers, 1 << 20), rules, asked.alone);
      compare(incast(hosts, tiers, 1 << 20), rules, asked.alone);
    }
  }
}

}  // namespace
}  // namespace isleway::bench

int main(int argc, char** argv) {
  isleway::bench::Asked asked;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "alone") asked.alone = true;
    else asked.hosts.insert(static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10)));
  }
  isleway::bench::compare_all(asked);
}
