// What a fabric costs to build, to ask and to change, up to 100,000 GPUs.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <stdexcept>

#include "isleway/fabric.hpp"

namespace isleway {
namespace {

void must(bool ok) {
  if (!ok) throw std::logic_error("the machine of this benchmark is broken");
}

/// 8 GPUs on 4 NVSwitches, each GPU with a NIC behind a PCIe switch, on 2 CPUs.
std::shared_ptr<const Unit> server() {
  UnitParts parts;
  parts.name = "server";
  const auto add = [&](DeviceKind kind, int index, auto info, const char* stem) {
    Device device;
    device.kind = kind;
    device.index = static_cast<std::int16_t>(index);
    device.name = stem + std::to_string(index);
    device.info = info;
    parts.devices.push_back(device);
    return static_cast<DeviceIndex>(parts.devices.size() - 1);
  };
  const auto join = [&](LinkKind kind, DeviceIndex a, DeviceIndex b, int count, double rate) {
    Link link;
    link.kind = kind;
    link.a = a;
    link.b = b;
    link.count = link.count_max = static_cast<std::uint16_t>(count);
    link.link_rate = Rate::GBs(rate);
    parts.links.push_back(link);
  };
  NicInfo nic;
  nic.rate = Rate::gbits(400);
  const DeviceIndex cpus[] = {add(DeviceKind::cpu, 0, CpuInfo{}, "CPU"),
                              add(DeviceKind::cpu, 1, CpuInfo{}, "CPU")};
  join(LinkKind::smp, cpus[0], cpus[1], 4, 24);
  DeviceIndex switches[4];
  for (int i = 0; i < 4; ++i)
    switches[i] = add(DeviceKind::nvswitch, i, NvswitchInfo{}, "NVSwitch");
  for (int i = 0; i < 8; ++i) {
    const DeviceIndex pcie = add(DeviceKind::pcie_switch, i, PcieSwitchInfo{}, "PCIe");
    join(LinkKind::pcie, cpus[i / 4], pcie, 1, 63);
    const DeviceIndex gpu = add(DeviceKind::gpu, i, GpuInfo{}, "GPU");
    join(LinkKind::pcie, pcie, gpu, 1, 63);
    join(LinkKind::pcie, pcie, add(DeviceKind::nic, i, nic, "mlx5_"), 1, 63);
    for (int s = 0; s < 4; ++s) join(LinkKind::nvlink, gpu, switches[s], s % 3 == 0 ? 5 : 4, 25);
  }
  return Unit::make(std::move(parts)).value();
}

/// Servers of 8 GPUs on three tiers of 128-port switches.
Fabric cluster(std::int64_t servers) {
  NetworkPlan plan;
  plan.shape = NetworkPlan::Shape::fat_tree_3;
  plan.leaf_ports = 128;
  return Fabric::make("cluster", {server()},
                      std::vector<std::uint32_t>(static_cast<std::size_t>(servers)), plan)
      .value();
}

void report_memory(benchmark::State& state) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void build(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(cluster(state.range(0)).gpu_count());
  state.counters["gpus"] = static_cast<double>(state.range(0) * 8);
  report_memory(state);
}
BENCHMARK(build)->Arg(125)->Arg(1250)->Arg(12500)->Unit(benchmark::kMillisecond);

void fault(benchmark::State& state) {
  const Fabric fabric = cluster(state.range(0));
  for (auto _ : state) must(with_fault(fabric, "node7/gpu3:nvlink5").has_value());
}
BENCHMARK(fault)->Arg(1250)->Arg(12500)->Unit(benchmark::kMicrosecond);

void bisect(benchmark::State& state) {
  const Fabric fabric = cluster(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(bisection(fabric));
  report_memory(state);
}
BENCHMARK(bisect)->Arg(125)->Arg(1250)->Arg(12500)->Unit(benchmark::kMillisecond);

void route_inside(benchmark::State& state) {
  const Fabric fabric = cluster(2);
  for (auto _ : state) benchmark::DoNotOptimize(route(fabric, fabric.gpu(0), fabric.gpu(7)));
}
BENCHMARK(route_inside);

void route_across(benchmark::State& state) {
  const Fabric fabric = cluster(12500);
  GpuId to = 8;
  for (auto _ : state) {
    benchmark::DoNotOptimize(route(fabric, fabric.gpu(0), fabric.gpu(to)));
    to = 8 + (to * 7919) % 99992;
  }
}
BENCHMARK(route_across);

void link_name(benchmark::State& state) {
  const Fabric fabric = cluster(12500);
  LinkId link = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(fabric.link_name(link));
    link = (link + 7919) % fabric.link_count();
  }
}
BENCHMARK(link_name);

}  // namespace
}  // namespace isleway
