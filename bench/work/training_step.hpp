// S5: the communication of a training step of a GPT-like model, as jobs.
#pragma once

#include <memory>
#include <optional>

#include "isleway/collective.hpp"
#include "machine.hpp"

namespace work {

/// The same call by several groups of ranks at once: rank r of group g is `rank(g, r)`.
class GroupedCall final : public isleway::Schedule {
 public:
  GroupedCall(std::unique_ptr<isleway::Schedule> call, int groups, bool interleaved)
      : call_(std::move(call)), groups_(groups), interleaved_(interleaved) {}

  int ranks() const override { return groups_ * call_->ranks(); }
  int streams() const override { return call_->streams(); }
  std::int64_t action_count(isleway::Port port) const override {
    return call_->action_count(inside(port));
  }
  void action(isleway::Port port, std::int64_t k, isleway::Action& out) const override {
    call_->action(inside(port), k, out);
    const isleway::Action inner = out;
    out.recv.clear();
    out.send.clear();
    for (const isleway::Port p : inner.recv) out.recv.push_back(outside(p, group(port)));
    for (const isleway::Port p : inner.send) out.send.push_back(outside(p, group(port)));
  }
  std::uint64_t role(isleway::Port port) const override { return call_->role(inside(port)); }
  void peers(isleway::Port port, isleway::Peers& out) const override {
    isleway::Peers inner;
    call_->peers(inside(port), inner);
    out.clear();
    for (const isleway::Port p : inner.receives) out.receives.push_back(outside(p, group(port)));
    for (const isleway::Port p : inner.sends) out.sends.push_back(outside(p, group(port)));
  }
  isleway::Loop loop(isleway::Port port) const override { return call_->loop(inside(port)); }
  std::vector<isleway::CriticalStep> critical_path() const override {
    return call_->critical_path();
  }

 private:
  int group(isleway::Port port) const {
    return interleaved_ ? port.agent % groups_ : port.agent / call_->ranks();
  }
  isleway::Port inside(isleway::Port port) const {
    return {interleaved_ ? port.agent / groups_ : port.agent % call_->ranks(), port.stream};
  }
  isleway::Port outside(isleway::Port port, int group) const {
    return {interleaved_ ? port.agent * groups_ + group : group * call_->ranks() + port.agent,
            port.stream};
  }

  std::unique_ptr<isleway::Schedule> call_;
  int groups_;
  bool interleaved_;  ///< ranks of a group are `groups` apart, not next to one another
};

/// 96 layers, hidden size 12,288: 12 h^2 weights a layer. Islands of 8 GPUs, whose NVLinks carry
/// the tensor-parallel all_reduces (two forward, two backward for each layer); GPUs of equal
/// place in their islands average each layer's gradients over their NICs while the backward pass
/// goes on.
class TrainingStep {
 public:
  explicit TrainingStep(int gpus);
  const isleway::Fabric& fabric() const { return fabric_; }
  const isleway::Scenario& scenario() const { return scenario_; }

 private:
  static constexpr int kIsland = 8, kLayers = 96;
  static constexpr std::int64_t kHidden = 12288, kTokens = 2048;
  class Wiring;
  static isleway::Fabric machine_of(int gpus);

  isleway::Fabric fabric_;
  std::unique_ptr<isleway::Schedule> inside_, across_;
  std::unique_ptr<isleway::Wiring> inside_wiring_, across_wiring_;
  isleway::Scenario scenario_;
};

/// From each rank to the next of its group.
class TrainingStep::Wiring final : public isleway::Wiring {
 public:
  Wiring(int gpus, bool across) : across_(across) {
    const auto count = static_cast<std::uint32_t>(gpus);
    for (std::uint32_t i = 0; i < count; ++i) {
      isleway::Route route;
      route.kind = isleway::PathKind::nvl;
      const std::uint32_t next =
          across ? (i + kIsland) % count : i / kIsland * kIsland + (i + 1) % kIsland;
      const std::uint32_t first = across ? count : 0;
      route.hops = {{first + i, true, 1}, {first + next, false, 1}};
      routes_.push_back(route);
    }
  }
  isleway::Connection connection(isleway::Port from, isleway::Port) const override {
    isleway::Connection connection;
    connection.route = &routes_[static_cast<std::size_t>(from.agent)];
    connection.latency = across_ ? isleway::Time::us(5) : isleway::Time::us(1);
    connection.overhead = isleway::Time::ns(300);
    return connection;
  }
  isleway::Time start() const override { return isleway::Time::us(8); }

 private:
  bool across_;
  std::vector<isleway::Route> routes_;
};

/// GPU i's link 0 + i leads to its island's switch, link gpus + i to the network.
inline isleway::Fabric TrainingStep::machine_of(int gpus) {
  std::vector<std::pair<int, int>> pairs;
  const int islands = gpus / kIsland;
  for (int i = 0; i < gpus; ++i) pairs.emplace_back(i, gpus + i / kIsland);
  for (int i = 0; i < gpus; ++i) pairs.emplace_back(i, gpus + islands);
  return machine(gpus, islands + 1, pairs);
}

inline TrainingStep::TrainingStep(int gpus)
    : fabric_(machine_of(gpus)),
      inside_wiring_(std::make_unique<Wiring>(gpus, false)),
      across_wiring_(std::make_unique<Wiring>(gpus, true)) {
  const auto ring = [](int ranks, std::int64_t bytes) {
    isleway::CollectiveCall call;
    call.size.bytes = bytes;
    call.ranks = ranks;
    const std::int64_t chunk = std::max<std::int64_t>(16, bytes / ranks);
    return must(isleway::make_simple_ring(
        call, 1, {chunk, std::max<std::int64_t>(16, chunk / 2 / 16 * 16)}));
  };
  const int islands = gpus / kIsland;
  inside_ = std::make_unique<GroupedCall>(ring(kIsland, kTokens * kHidden * 2), islands, false);
  across_ = std::make_unique<GroupedCall>(ring(islands, 12 * kHidden * kHidden / kIsland * 2),
                                          kIsland, true);
  auto& jobs = scenario_.jobs;
  const auto add = [&](isleway::Schedule* schedule, isleway::Wiring* wiring, isleway::Time delay,
                       std::vector<std::uint32_t> after) {
    jobs.push_back({schedule, wiring, delay, std::move(after)});
    return static_cast<std::uint32_t>(jobs.size() - 1);
  };
  std::optional<std::uint32_t> last, gradients;
  const auto after_last = [&] {
    return last ? std::vector<std::uint32_t>{*last} : std::vector<std::uint32_t>{};
  };
  for (int call = 0; call < 2 * kLayers; ++call)
    last = add(inside_.get(), inside_wiring_.get(), isleway::Time::us(400), after_last());
  for (int layer = 0; layer < kLayers; ++layer) {
    for (int call = 0; call < 2; ++call)
      last = add(inside_.get(), inside_wiring_.get(), isleway::Time::us(800), after_last());
    std::vector<std::uint32_t> after{*last};
    if (gradients) after.push_back(*gradients);
    gradients = add(across_.get(), across_wiring_.get(), isleway::Time(), std::move(after));
  }
}

}  // namespace work
