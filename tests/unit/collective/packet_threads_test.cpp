// One simulation on several threads: whatever the machine, the network and the algorithm are, all
// that comes out is the same on any number of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>

#include "isleway/collective.hpp"
#include "isleway/engine/packet.hpp"

namespace isleway {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

/// GPUs around one switch and, with as many NICs, around one CPU.
std::shared_ptr<const Unit> server(int gpus) {
  UnitParts parts;
  parts.name = "server";
  for (int i = 0; i < gpus; ++i) {
    Device gpu;
    gpu.index = static_cast<std::int16_t>(i);
    gpu.name = "GPU" + std::to_string(i);
    gpu.info = GpuInfo{};
    parts.devices.push_back(gpu);
  }
  for (int i = 0; i < gpus; ++i) {
    Device nic;
    nic.kind = DeviceKind::nic;
    nic.index = static_cast<std::int16_t>(i);
    nic.name = "mlx5_" + std::to_string(i);
    NicInfo info;
    info.rate = Rate::gbits(400);
    nic.info = info;
    parts.devices.push_back(nic);
  }
  Device nvswitch;
  nvswitch.kind = DeviceKind::nvswitch;
  nvswitch.name = "NVSwitch0";
  nvswitch.info = NvswitchInfo{};
  parts.devices.push_back(nvswitch);
  Device cpu;
  cpu.kind = DeviceKind::cpu;
  cpu.name = "CPU0";
  cpu.info = CpuInfo{};
  parts.devices.push_back(cpu);
  const auto join = [&](int a, int b, LinkKind kind, double rate, double latency) {
    Link link;
    link.a = static_cast<DeviceIndex>(a);
    link.b = static_cast<DeviceIndex>(b);
    link.kind = kind;
    link.link_rate = Rate::GBs(rate);
    link.latency = Time::ns(latency);
    parts.links.push_back(link);
  };
  for (int i = 0; i < gpus; ++i) {
    join(i, 2 * gpus, LinkKind::nvlink, 450, 150);
    join(2 * gpus + 1, i, LinkKind::pcie, 63, 250);
    join(2 * gpus + 1, gpus + i, LinkKind::pcie, 63, 250);
  }
  return must(Unit::make(std::move(parts)));
}

struct Machine {
  Fabric fabric;
  int per_server = 1;
};

Machine any_machine(std::mt19937& random) {
  const auto whole = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  using Shape = NetworkPlan::Shape;
  Machine machine;
  machine.per_server = std::array{1, 2, 4}[static_cast<std::size_t>(whole(0, 2))];
  const int servers = whole(68, 100) / machine.per_server;
  NetworkPlan plan;
  plan.name = "network";
  plan.shape = std::array{Shape::rail, Shape::fat_tree_2,
                          Shape::fat_tree_3}[static_cast<std::size_t>(whole(0, 2))];
  plan.technology = whole(0, 1) == 0 ? "infiniband" : "ethernet";
  plan.port_rate = Rate::gbits(400);
  plan.leaf_ports = 32;
  plan.oversubscription = whole(1, 2);
  plan.switch_latency = Time::ns(300);
  plan.cable_latency = Time::ns(whole(20, 80));
  machine.fabric =
      must(Fabric::make("machine", {server(machine.per_server)},
                        std::vector<std::uint32_t>(static_cast<std::size_t>(servers), 0), plan));
  return machine;
}

/// Rank i is GPU i; what crosses the network leaves by the GPU's own NIC.
class GpuWiring final : public Wiring {
 public:
  explicit GpuWiring(const Fabric& fabric) : fabric_(fabric) {}
  Connection connection(Port from, Port to) const override {
    Connection connection;
    connection.latency = Time::us(1);
    if (from.agent == to.agent) return connection;
    Route& way = routes_[{from.agent, to.agent}];
    if (way.hops.empty())
      way = route(fabric_, fabric_.gpu(static_cast<GpuId>(from.agent)),
                  fabric_.gpu(static_cast<GpuId>(to.agent)));
    connection.route = &way;
    connection.latency = way.latency + Time::ns(400);
    connection.overhead = Time::ns(100);
    if (to.agent % 3 == 0) connection.cap = Rate::GBs(20);
    return connection;
  }
  Time start() const override { return Time::us(3); }

 private:
  const Fabric& fabric_;
  mutable std::map<std::pair<int, int>, Route> routes_;
};

std::unique_ptr<Schedule> any_schedule(std::mt19937& random, int ranks) {
  CollectiveCall call;
  call.ranks = ranks;
  Chunking chunking;
  chunking.chunk_bytes = chunking.slice_bytes = 32768;
  switch (std::uniform_int_distribution<int>(0, 2)(random)) {
    case 0: call.size.bytes = ranks * 6000; return must(make_simple_ring(call, 1, chunking));
    case 1:
      call.size.bytes = 200000;
      return must(make_tree(call, {binary_tree(ranks), mirrored_binary_tree(ranks)}, chunking));
    default:
      call.size.bytes = ranks * 5000;
      call.collective = Collective::all_to_all;
      return must(make_point_to_point(call, 1, 1, 4, chunking));
  }
}

TEST(PacketThreads, OutcomesAreTheSameOnAnyNumberOfThem) {
  std::mt19937 random(11);
  for (int i = 0; i < 6; ++i) {
    const Machine machine = any_machine(random);
    const GpuWiring wiring(machine.fabric);
    // Not all: some regions may have nothing to do.
    const int gpus = static_cast<int>(machine.fabric.gpu_count());
    const auto schedule =
        any_schedule(random, std::uniform_int_distribution<int>(gpus / 3, gpus)(random));
    PacketOptions options;
    options.rules =
        must(link::Rules::from(must(Parts::load(ISLEWAY_SOURCE_DIR "/machines/parts"))));
    options.most_trains = 8;
    if (i % 2 == 0) options.bit_error_rate = 1e-8;
    std::optional<Outcome> first;
    for (const int threads : {1, 2, 3, 4}) {
      options.threads = threads;
      const auto run = make_packet_engine(options)->run(machine.fabric, *schedule, wiring);
      ASSERT_TRUE(run) << run.error().text();
      if (!first) first = *run;
      EXPECT_EQ(run->time, first->time) << "case " << i << " on " << threads;
      EXPECT_EQ(run->busy, first->busy);
      EXPECT_EQ(run->events, first->events);
      EXPECT_EQ(run->latency_share, first->latency_share);
      ASSERT_EQ(run->counters.size(), first->counters.size());
      for (std::size_t c = 0; c < run->counters.size(); ++c) {
        EXPECT_EQ(run->counters[c].link, first->counters[c].link);
        EXPECT_EQ(run->counters[c].counters, first->counters[c].counters);
      }
      ASSERT_EQ(run->loads.size(), first->loads.size());
      for (std::size_t l = 0; l < run->loads.size(); ++l)
        EXPECT_EQ(run->loads[l].wire_bytes, first->loads[l].wire_bytes);
    }
    EXPECT_GT(first->events, 1000U);
  }
}

/// What a recorder hears, in its order.
class Heard final : public Recorder {
 public:
  void run_begins() override { ++runs; }
  void action(const ActionSpan& span) override { last = std::max(last, span.end); }
  void message(const MessageSpan& span) override {
    ++messages;
    EXPECT_LE(span.begin, span.sent);
    EXPECT_LT(span.sent, span.arrived);
  }
  int runs = 0, messages = 0;
  Time last;
};

TEST(PacketThreads, ARecorderSeesTheSameRun) {
  std::mt19937 random(3);
  const Machine machine = any_machine(random);
  const GpuWiring wiring(machine.fabric);
  const auto schedule = any_schedule(random, static_cast<int>(machine.fabric.gpu_count()));
  PacketOptions options;
  options.rules = must(link::Rules::from(must(Parts::load(ISLEWAY_SOURCE_DIR "/machines/parts"))));
  Heard heard;
  const auto seen = make_packet_engine(options, &heard)->run(machine.fabric, *schedule, wiring);
  const auto unseen = make_packet_engine(options)->run(machine.fabric, *schedule, wiring);
  ASSERT_TRUE(seen && unseen);
  EXPECT_EQ(seen->time, unseen->time);
  EXPECT_EQ(seen->events, unseen->events);
  EXPECT_EQ(heard.runs, 1);
  EXPECT_GT(heard.messages, 0);
  EXPECT_EQ(heard.last, seen->time);
}

}  // namespace
}  // namespace isleway
