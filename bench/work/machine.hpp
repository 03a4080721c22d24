// The machines of the work, as Isleway's fabrics, and traffic on them.
#pragma once

#include <stdexcept>

#include "isleway/engine.hpp"
#include "work.hpp"

namespace work {

template <class T>
T must(isleway::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return std::move(*result);
}

/// `gpus` GPUs and `switches`, joined by one link for each pair of devices.
inline std::shared_ptr<const isleway::Unit> unit(int gpus, int switches,
                                                 const std::vector<std::pair<int, int>>& pairs) {
  isleway::UnitParts parts;
  parts.name = "work";
  for (int i = 0; i < gpus + switches; ++i) {
    isleway::Device device;
    const bool is_gpu = i < gpus;
    device.kind = is_gpu ? isleway::DeviceKind::gpu : isleway::DeviceKind::nvswitch;
    device.index = static_cast<std::int16_t>(is_gpu ? i : i - gpus);
    device.name = (is_gpu ? "GPU" : "NVSwitch") + std::to_string(device.index);
    if (is_gpu) device.info = isleway::GpuInfo{};
    else device.info = isleway::NvswitchInfo{};
    parts.devices.push_back(device);
  }
  for (const auto& [a, b] : pairs) {
    isleway::Link link;
    link.a = static_cast<isleway::DeviceIndex>(a);
    link.b = static_cast<isleway::DeviceIndex>(b);
    link.link_rate = isleway::Rate::bytes_per_second(kRate);
    parts.links.push_back(link);
  }
  return must(isleway::Unit::make(std::move(parts)));
}

inline isleway::Fabric machine(int gpus, int switches,
                               const std::vector<std::pair<int, int>>& pairs) {
  return must(isleway::Fabric::single(unit(gpus, switches, pairs)));
}

/// Link i joins GPU i to one switch.
inline isleway::Fabric star(int gpus) {
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < gpus; ++i) pairs.emplace_back(i, gpus);
  return machine(gpus, 1, pairs);
}

/// Islands of kIslandGpus, each around a switch of its own (links 0 to kIslandGpus-1 of the unit),
/// and with a way out from each GPU (the next links), which ends in a switch that blocks nobody.
constexpr int kIslandGpus = 8, kFlowsOfGpu = 4;
inline isleway::Fabric islands(int count) {
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < kIslandGpus; ++i) pairs.emplace_back(i, kIslandGpus);
  for (int i = 0; i < kIslandGpus; ++i) pairs.emplace_back(i, kIslandGpus + 1);
  return must(isleway::Fabric::make("islands", {unit(kIslandGpus, 2, pairs)},
                                    std::vector<std::uint32_t>(static_cast<std::size_t>(count))));
}

/// Links 0 to hosts-1 join hosts to leaves; then, by leaf, those from leaf to spine.
inline isleway::Fabric fat_tree(const FatTree& tree) {
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < tree.hosts; ++i) pairs.emplace_back(i, tree.hosts + i / tree.per_leaf);
  for (int leaf = 0; leaf < tree.leaves; ++leaf)
    for (int spine = 0; spine < tree.per_leaf; ++spine)
      pairs.emplace_back(tree.hosts + leaf, tree.hosts + tree.leaves + spine);
  return machine(tree.hosts, tree.leaves + tree.per_leaf, pairs);
}

/// S2 on a star: way i x (n-1) + j goes from i to the j-th of the others.
class EveryPair final : public isleway::Traffic {
 public:
  explicit EveryPair(int hosts) : hosts_(static_cast<std::uint32_t>(hosts)) {}
  std::uint32_t way_count() const override { return hosts_ * (hosts_ - 1); }
  void way(std::uint32_t number, Way& out) const override {
    const std::uint32_t from = number / (hosts_ - 1), other = number % (hosts_ - 1);
    out.hops.push_back({from, true, 1});
    out.hops.push_back({other < from ? other : other + 1, false, 1});
  }
  std::size_t flow_count() const override { return way_count(); }
  Flow flow(std::size_t number) const override {
    return {isleway::Time(), kPairBytes, static_cast<std::uint32_t>(number)};
  }

 private:
  std::uint32_t hosts_;
};

/// S4 on a fat tree: each flow has a way of its own.
class RandomFlows final : public isleway::Traffic {
 public:
  RandomFlows(const FatTree& tree, std::vector<work::Flow> flows)
      : tree_(tree), flows_(std::move(flows)) {}
  std::uint32_t way_count() const override { return static_cast<std::uint32_t>(flows_.size()); }
  void way(std::uint32_t number, Way& out) const override {
    const work::Flow& flow = flows_[number];
    const auto hosts = static_cast<std::uint32_t>(tree_.hosts);
    const int a = flow.from / tree_.per_leaf, b = flow.to / tree_.per_leaf;
    const int spine = tree_.spine(flow.from, flow.to);
    const auto trunk = [&](int leaf) {
      return hosts + static_cast<std::uint32_t>(leaf * tree_.per_leaf + spine);
    };
    out.hops.push_back({static_cast<std::uint32_t>(flow.from), true, 1});
    if (a != b) {
      out.hops.push_back({trunk(a), true, 1});
      out.hops.push_back({trunk(b), false, 1});
    }
    out.hops.push_back({static_cast<std::uint32_t>(flow.to), false, 1});
  }
  std::size_t flow_count() const override { return flows_.size(); }
  Flow flow(std::size_t number) const override {
    const work::Flow& flow = flows_[number];
    return {isleway::Time::seconds(flow.start), flow.bytes, static_cast<std::uint32_t>(number)};
  }

 private:
  FatTree tree_;
  std::vector<work::Flow> flows_;
};

/// Flows of random sizes inside islands, all of which begin at once: so many are live.
class LiveFlows final : public isleway::Traffic {
 public:
  LiveFlows(const isleway::Fabric& fabric, int count) : fabric_(fabric) {
    std::mt19937_64 random(6);
    for (int i = 0; i < count; ++i) {
      const auto from = static_cast<int>(random() % kIslandGpus);
      const auto to = static_cast<int>((from + 1 + random() % (kIslandGpus - 1)) % kIslandGpus);
      flows_.push_back({0, static_cast<std::int64_t>((1 << 16) + random() % (1 << 24)), from, to});
    }
  }
  std::uint32_t way_count() const override { return static_cast<std::uint32_t>(flows_.size()); }
  void way(std::uint32_t number, Way& out) const override {
    const std::uint32_t island = number / (kIslandGpus * kFlowsOfGpu);
    const work::Flow& flow = flows_[number];
    out.hops.push_back({fabric_.link_id(island, static_cast<std::uint32_t>(flow.from)), true, 1});
    out.hops.push_back({fabric_.link_id(island, static_cast<std::uint32_t>(flow.to)), false, 1});
  }
  std::size_t flow_count() const override { return flows_.size(); }
  Flow flow(std::size_t number) const override {
    return {isleway::Time(), flows_[number].bytes, static_cast<std::uint32_t>(number)};
  }

 private:
  const isleway::Fabric& fabric_;
  std::vector<work::Flow> flows_;
};

}  // namespace work
