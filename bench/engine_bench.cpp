// How fast the engines are, on the calls that `isleway bench` asks for most.
#include <benchmark/benchmark.h>

#include <stdexcept>

#include "isleway/collective.hpp"
#include "isleway/engine.hpp"

namespace isleway {
namespace {

/// `gpus` GPUs, each with `links` NVLinks of 25 GB/s to each of `planes` switches.
Fabric switched(int gpus, int planes, int links) {
  UnitParts parts;
  parts.name = "switched";
  for (int i = 0; i < gpus + planes; ++i) {
    Device device;
    const bool is_gpu = i < gpus;
    device.kind = is_gpu ? DeviceKind::gpu : DeviceKind::nvswitch;
    device.index = static_cast<std::int16_t>(is_gpu ? i : i - gpus);
    device.name = (is_gpu ? "GPU" : "NVSwitch") + std::to_string(device.index);
    if (is_gpu) device.info = GpuInfo{};
    else device.info = NvswitchInfo{};
    parts.devices.push_back(device);
  }
  for (int gpu = 0; gpu < gpus; ++gpu)
    for (int plane = 0; plane < planes; ++plane) {
      Link link;
      link.a = static_cast<DeviceIndex>(gpu);
      link.b = static_cast<DeviceIndex>(gpus + plane);
      link.count = link.count_max = static_cast<std::uint16_t>(links);
      link.link_rate = Rate::GBs(25);
      link.efficiency.sm = 0.82;
      parts.links.push_back(link);
    }
  auto unit = Unit::make(std::move(parts));
  if (!unit) throw std::runtime_error(unit.error().text());
  return Fabric::single(*unit).value();
}

class SwitchedWiring final : public Wiring {
 public:
  explicit SwitchedWiring(const Fabric& fabric) : ranks_(static_cast<int>(fabric.gpu_count())) {
    const Unit& unit = fabric.unit(0);
    for (const DeviceIndex from : unit.gpus())
      for (const DeviceIndex to : unit.gpus()) routes_.push_back(route_in_unit(unit, from, to));
  }
  Connection connection(Port from, Port to) const override {
    Connection connection;
    connection.route = &routes_[static_cast<std::size_t>(from.agent * ranks_ + to.agent)];
    connection.latency = Time::us(0.9);
    connection.overhead = Time::ns(300);
    connection.cap = Rate::GBs(20);
    connection.credits = 4;
    return connection;
  }
  Time start() const override { return Time::us(8); }

 private:
  int ranks_;
  std::vector<Route> routes_;
};

std::unique_ptr<Schedule> ring(int ranks, int channels, std::int64_t bytes) {
  CollectiveCall call;
  call.size.bytes = bytes;
  call.ranks = ranks;
  return make_simple_ring(call, channels, Chunking{}).value();
}

std::unique_ptr<Schedule> all_to_all(int ranks, int channels, std::int64_t bytes) {
  CollectiveCall call;
  call.collective = Collective::all_to_all;
  call.size.bytes = bytes;
  call.ranks = ranks;
  return make_point_to_point(call, channels, channels, ranks, Chunking{512 << 10, 512 << 10})
      .value();
}

void simulate(benchmark::State& state, const char* engine_name, const Fabric& fabric,
              const Schedule& schedule) {
  const SwitchedWiring wiring(fabric);
  const auto engine = make_engine(engine_name).value();
  double events = 0, busbw = 0;
  for (auto _ : state) {
    const Outcome outcome = engine->run(fabric, schedule, wiring).value();
    events += static_cast<double>(outcome.events);
    busbw = outcome.time.us();
  }
  state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
  state.counters["simulated_us"] = busbw;
}

void flow_ring(benchmark::State& state) {
  simulate(state, "flow", switched(8, 4, 4), *ring(8, 24, state.range(0)));
}
BENCHMARK(flow_ring)->Arg(1 << 20)->Arg(1 << 30)->Unit(benchmark::kMillisecond);

void flow_ring_72(benchmark::State& state) {
  simulate(state, "flow", switched(72, 18, 1), *ring(72, 32, state.range(0)));
}
BENCHMARK(flow_ring_72)->Arg(1 << 30)->Unit(benchmark::kMillisecond);

void flow_all_to_all(benchmark::State& state) {
  simulate(state, "flow", switched(8, 4, 4), *all_to_all(8, 32, state.range(0)));
}
BENCHMARK(flow_all_to_all)->Arg(1 << 30)->Unit(benchmark::kMillisecond);

void analytic_ring(benchmark::State& state) {
  const auto ranks = static_cast<int>(state.range(0));
  simulate(state, "analytic", ranks == 8 ? switched(8, 4, 4) : switched(ranks, 18, 1),
           *ring(ranks, ranks == 8 ? 24 : 32, 1 << 30));
}
BENCHMARK(analytic_ring)->Arg(8)->Arg(72)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace isleway
