// Small machines, schedules and wirings for the engines' tests.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "isleway/engine.hpp"

namespace isleway::testing {

/// GPUs 0 to n-1 around one switch; link i joins GPU i (its `a`) to the switch.
inline Fabric star(int gpus, Rate rate, Efficiency efficiency = {}, Time latency = {}) {
  UnitParts parts;
  parts.name = "star";
  for (int i = 0; i < gpus; ++i) {
    Device gpu;
    gpu.index = static_cast<std::int16_t>(i);
    gpu.name = "GPU" + std::to_string(i);
    gpu.info = GpuInfo{};
    parts.devices.push_back(gpu);
  }
  Device nvswitch;
  nvswitch.kind = DeviceKind::nvswitch;
  nvswitch.name = "NVSwitch0";
  nvswitch.info = NvswitchInfo{};
  parts.devices.push_back(nvswitch);
  for (int i = 0; i < gpus; ++i) {
    Link link;
    link.a = static_cast<DeviceIndex>(i);
    link.b = static_cast<DeviceIndex>(gpus);
    link.link_rate = rate;
    link.efficiency = efficiency;
    link.latency = latency;
    parts.links.push_back(link);
  }
  auto unit = Unit::make(std::move(parts));
  if (!unit) throw std::runtime_error(unit.error().text());
  auto fabric = Fabric::single(*unit);
  if (!fabric) throw std::runtime_error(fabric.error().text());
  return *fabric;
}

/// Actions written out, by port. Streams without an entry do nothing.
class WrittenSchedule final : public Schedule {
 public:
  WrittenSchedule(int ranks, int streams, int agents = 0)
      : ranks_(ranks), agents_(std::max(ranks, agents)), streams_(streams) {}

  /// Appends an action to a stream.
  WrittenSchedule& add(Port port, std::int64_t bytes, std::vector<Port> recv,
                       std::vector<Port> send) {
    Action action;
    action.bytes = bytes;
    for (const Port p : recv) action.recv.push_back(p);
    for (const Port p : send) action.send.push_back(p);
    actions_[port].push_back(action);
    return *this;
  }
  std::vector<CriticalStep> path;

  int ranks() const override { return ranks_; }
  int agents() const override { return agents_; }
  int streams() const override { return streams_; }
  std::int64_t action_count(Port port) const override {
    const auto found = actions_.find(port);
    return found == actions_.end() ? 0 : static_cast<std::int64_t>(found->second.size());
  }
  void action(Port port, std::int64_t k, Action& out) const override {
    out = actions_.at(port)[static_cast<std::size_t>(k)];
  }
  std::vector<CriticalStep> critical_path() const override { return path; }

 private:
  int ranks_, agents_, streams_;
  std::map<Port, std::vector<Action>> actions_;
};

/// Through the star's switch at one price for all. Agents beyond the ranks sit in the switch.
class StarWiring final : public Wiring {
 public:
  explicit StarWiring(int ranks, Connection price = {}) : ranks_(ranks), price_(price) {}
  Time launch, done;

  Connection connection(Port from, Port to) const override {
    Connection connection = price_;
    if (from.agent == to.agent) return connection;
    auto& route = routes_[{from.agent, to.agent}];
    if (!route) {
      route = std::make_unique<Route>();
      route->kind = PathKind::nvl;
      if (from.agent < ranks_)
        route->hops.push_back({static_cast<std::uint32_t>(from.agent), true, 1});
      if (to.agent < ranks_)
        route->hops.push_back({static_cast<std::uint32_t>(to.agent), false, 1});
    }
    connection.route = route.get();
    return connection;
  }
  Time start() const override { return launch; }
  Time finish() const override { return done; }

 private:
  int ranks_;
  Connection price_;
  mutable std::map<std::pair<int, int>, std::unique_ptr<Route>> routes_;
};

inline Outcome run(const Engine& engine, const Fabric& fabric, const Schedule& schedule,
                   const Wiring& wiring) {
  auto outcome = engine.run(fabric, schedule, wiring);
  if (!outcome) throw std::runtime_error(outcome.error().text());
  return *outcome;
}

}  // namespace isleway::testing
