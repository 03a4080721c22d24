// The price of each connection of a call: way, protocol, threads, buffers.
#pragma once

#include <algorithm>
#include <unordered_map>

#include "isleway/engine.hpp"
#include "nccl/connect.hpp"
#include "nccl/plan.hpp"
#include "nccl/timing.hpp"

namespace isleway::nccl {

class NcclWiring final : public Wiring {
 public:
  struct Context {
    const Fabric& fabric;
    const Graphs& graphs;
    const Settings& settings;
    const Timing& timing;
  };

  NcclWiring(Context context, const CollectiveCall& call, const Decision& decision);

  Connection connection(Port from, Port to) const override;
  Time start() const override { return start_; }
  Rate own_rate(bool reduces) const override;

 private:
  struct Key {
    int from, to, channel;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
      const auto pair = (std::uint64_t(std::uint32_t(key.from)) << 32) | std::uint32_t(key.to);
      const std::uint64_t mixed = (pair + std::uint64_t(key.channel) * kGolden) * kGolden;
      return mixed ^ (mixed >> 32);
    }
  };
  /// Which channel of the graph a stream belongs to, as far as it decides about ports.
  int graph_channel(Port port) const;
  Way find_way(int from, int to, int channel) const;
  Way collnet_way(int rank, bool towards, int channel) const;
  Way network_way(int from, int to, int channel) const;
  const Way& way(Key key) const;
  int rank_of(int agent) const;
  int network_peers(const CollectiveCall& call) const;
  /// Agents of each node that act for NVSwitches.
  int nvls_heads() const { return std::max(1, context_.graphs.nvls.channels); }
  bool is_switch(int agent) const { return agent >= context_.graphs.ranks(); }
  /// The agent that acts for the first head of a rank's node.
  int first_nvswitch(int rank) const;
  /// A switch of the network; NVSwitches, where there are any, come before.
  bool is_network_switch(int agent) const;

  Context context_;
  RouteFinder routes_;
  Algorithm algorithm_;
  Protocol protocol_;
  int credits_ = kSlots;
  double heads_ = 1;          ///< of CollNet direct
  double message_share_ = 1;  ///< of the price of a message of NCCL's
  Time start_;
  bool in_place_;
  bool rotates_;  ///< all ranks do the same at the same time
  /// Found when first asked for: a schedule names the same connections again and again.
  mutable std::unordered_map<Key, Way, KeyHash> ways_;
};

}  // namespace isleway::nccl
