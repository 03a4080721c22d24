// The work by Isleway.
#include "isleway/collective.hpp"
#include "machine.hpp"
#include "training_step.hpp"

namespace {

using namespace isleway;

/// From each rank to the next; a message arrives the links' latency after its last byte left.
class RingWiring final : public Wiring {
 public:
  explicit RingWiring(std::vector<Route> routes) : routes_(std::move(routes)) {}

  Connection connection(Port from, Port) const override {
    Connection connection;
    connection.route = &routes_[static_cast<std::size_t>(from.agent)];
    connection.latency = Time::seconds(work::kLatency);
    return connection;
  }
  Time start() const override { return Time(); }

 private:
  std::vector<Route> routes_;
};

/// Over the star's switch.
RingWiring star_wiring(int ranks) {
  std::vector<Route> routes(static_cast<std::size_t>(ranks));
  for (std::uint32_t i = 0; i < routes.size(); ++i) {
    routes[i].kind = PathKind::nvl;
    routes[i].hops = {{i, true, 1}, {(i + 1) % static_cast<std::uint32_t>(ranks), false, 1}};
  }
  return RingWiring(std::move(routes));
}

/// Around islands: from a GPU to the next over the island's switch, from an island's last GPU to
/// the next island's first over the network.
RingWiring island_wiring(const Fabric& fabric) {
  std::vector<Route> routes(fabric.gpu_count());
  const auto gpus = static_cast<std::uint32_t>(routes.size());
  constexpr auto kIsland = static_cast<std::uint32_t>(work::kIslandGpus);
  for (std::uint32_t i = 0; i < gpus; ++i) {
    const std::uint32_t next = (i + 1) % gpus;
    const std::uint32_t out = i / kIsland == next / kIsland ? 0 : kIsland;
    routes[i].kind = PathKind::nvl;
    routes[i].hops = {{fabric.link_id(i / kIsland, out + i % kIsland), true, 1},
                      {fabric.link_id(next / kIsland, out + next % kIsland), false, 1}};
  }
  return RingWiring(std::move(routes));
}

struct Measured {
  double seconds = 0;
  std::uint64_t events = 0;
  std::vector<double> times;
};

Measured ring(const Fabric& fabric, const Wiring& wiring, const SpeedUps& speed_ups) {
  const auto ranks = static_cast<int>(fabric.gpu_count());
  CollectiveCall call;
  call.size.bytes = work::kRingBytes;
  call.ranks = ranks;
  const std::int64_t chunk = work::ring_chunk(ranks);
  const auto schedule = work::must(make_simple_ring(call, 1, {chunk, chunk}));
  const auto engine = make_flow_engine(speed_ups);
  const double before = work::cpu_seconds();
  const Outcome outcome = work::must(engine->run(fabric, *schedule, wiring));
  return {work::cpu_seconds() - before, outcome.events, {outcome.time.seconds()}};
}

Measured traffic(const Fabric& fabric, const Traffic& traffic, const SpeedUps& speed_ups,
                 bool all_times) {
  Scenario scenario;
  scenario.traffic = &traffic;
  const double before = work::cpu_seconds();
  const ScenarioOutcome outcome = work::must(simulate(fabric, scenario, speed_ups));
  Measured measured{work::cpu_seconds() - before, outcome.events, {}};
  if (!all_times) measured.times.push_back(outcome.time.seconds());
  else
    for (const Time end : outcome.flow_ends) measured.times.push_back(end.seconds());
  return measured;
}

Measured training_step(int gpus, const SpeedUps& speed_ups) {
  const work::TrainingStep step(gpus);
  const double before = work::cpu_seconds();
  const ScenarioOutcome outcome = work::must(simulate(step.fabric(), step.scenario(), speed_ups));
  return {work::cpu_seconds() - before, outcome.events, {outcome.time.seconds()}};
}

Measured run(const work::Request& request) {
  const SpeedUps speed_ups = request.plain ? SpeedUps::none() : SpeedUps{};
  if (request.what == "s1")
    return ring(work::star(request.size), star_wiring(request.size), speed_ups);
  if (request.what == "s6") {
    const Fabric fabric = work::islands(request.size / work::kIslandGpus);
    return ring(fabric, island_wiring(fabric), speed_ups);
  }
  if (request.what == "s2")
    return traffic(work::star(request.size), work::EveryPair(request.size), speed_ups, false);
  if (request.what == "s4") {
    const work::FatTree tree(request.size);
    return traffic(work::fat_tree(tree),
                   work::RandomFlows(tree, work::random_flows(tree.hosts, 10000)), speed_ups, true);
  }
  if (request.what == "s5") return training_step(request.size, speed_ups);
  if (request.what == "live") {
    const int island = work::kIslandGpus * work::kFlowsOfGpu;
    const Fabric fabric = work::islands((request.size + island - 1) / island);
    return traffic(fabric, work::LiveFlows(fabric, request.size), speed_ups, false);
  }
  throw std::runtime_error("no work is called " + request.what);
}

}  // namespace

int main(int argc, char** argv) try {
  const work::Request request = work::read_request(argc, argv);
  const Measured measured = run(request);
  work::report(request, measured.seconds, measured.events, measured.times);
} catch (const std::exception& error) {
  std::fprintf(stderr, "isleway_work: %s\n", error.what());
  return 2;
}
