// A run as its NVIDIA driver sees it: the node, how busy it is, and what happened.
#pragma once

#include <map>
#include <vector>

#include "isleway/virtual/nvml/node.hpp"
#include "isleway/virtual/world.hpp"

namespace isleway::vgpu::nvml {

/// What a driver tells its listeners. `xid` is 0 for ECC events, whose count is `count`.
struct Event {
  enum class Kind { xid, corrected_ecc, uncorrected_ecc };
  Time at;
  int gpu = 0;  ///< index in the node
  Kind kind = Kind::xid;
  std::uint64_t data = 0;  ///< the Xid's number, or how many errors
};

/// The events that a driver would raise between two states of a node, by GPU.
std::vector<Event> events_between(const Node& before, const Node& after, const Fault& fault,
                                  Time at);

/// How a GPU fares right now.
struct Load {
  Bytes memory_used;
  double utilisation = 0;        ///< share of the last second in which it worked, 0 to 1
  double watts = 0, joules = 0;  ///< now, and in all since the run began
  int celsius = 0;
  int sm_clock = 0, memory_clock = 0;  ///< MHz
};

/// Bytes that a link or a PCIe port has carried, from its GPU and to it.
struct Traffic {
  std::uint64_t sent = 0, received = 0;
};

/// Of one process. Not safe to call from several threads at once.
class Monitor {
 public:
  /// On one host of the run's machine. Error: it has no NVIDIA GPU, the boards cannot be read.
  static Result<Monitor> make(World& world, std::uint32_t host);

  World& world() const { return *world_; }
  /// With the faults that are in force by now.
  const Node& node();
  /// Everything that has happened by now, in order.
  const std::vector<Event>& events();
  /// When the next fault that is known of comes into force; Time::max(): none.
  Time next_fault();

  /// Memory that processes hold, in the order of their arrival.
  std::vector<MemoryUse> memory_uses(const Gpu& gpu) const;
  /// For how long in all the GPU has been at work.
  Time busy(const Gpu& gpu) const;

  Load load(const Gpu& gpu);
  Traffic traffic(const Port& port) const;
  Traffic pcie_traffic(const Gpu& gpu) const;
  /// Bytes per second over the last second, of pcie_traffic.
  Traffic pcie_rate(const Gpu& gpu);

 private:
  Monitor(World& world, Boards boards, Fabric healthy, std::vector<GpuId> gpus, Node node);
  void refresh();

  /// What was seen a while ago, so that rates can be told.
  struct Window {
    Time since, until;
    Time busy_since, busy_until;
    Traffic pcie_since, pcie_until;
  };
  const Window& window(const Gpu& gpu);

  /// GPUs and links as the run numbers them, which may have begun with some missing.

  World* world_;
  Boards boards_;
  Fabric healthy_;  ///< before everything that ever broke
  std::vector<GpuId> gpus_;
  Node node_;
  std::vector<Fault> taken_;       ///< in force, in their order
  std::vector<TimedFault> known_;  ///< the plan's, then those injected
  std::vector<bool> done_;         ///< by number in known_
  std::vector<Event> events_;
  std::map<GpuId, Window> windows_;
};

}  // namespace isleway::vgpu::nvml
