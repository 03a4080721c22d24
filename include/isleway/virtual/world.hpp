// What all processes of a run share: the machine, how far time has come, who uses what.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "isleway/fabric.hpp"
#include "isleway/virtual/run_plan.hpp"

namespace isleway::vgpu {

class Segment;
class SharedLock;
struct WorldState;

/// A fault, and the simulated time from which it is in force.
struct TimedFault {
  Time at;
  std::string text;
};

/// Memory of a GPU that a process holds.
struct MemoryUse {
  int pid = 0;
  std::int64_t bytes = 0;
};

/// A process of the run.
struct ProcessInfo {
  int pid = 0;
  std::uint32_t host = 0;  ///< of the fabric
  Time clock;              ///< as far as it is known to have come
  bool alive = true;
};

/// Of one process. Safe to call from several threads and processes at once.
class World {
 public:
  /// A new run, which other processes can join by `name()`. Ends with this object. The plan's
  /// faults are in force from its beginning.
  static Result<std::unique_ptr<World>> create(const RunPlan& plan);
  /// The run that ISLEWAY_WORLD names; without one, a run of this process alone (and of its
  /// forks), as ISLEWAY_MACHINE says.
  static Result<std::unique_ptr<World>> join();
  /// A run that goes on elsewhere, to look at or to inject faults: takes part in nothing.
  static Result<std::unique_ptr<World>> visit(const std::string& name);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const std::string& name() const;  ///< for ISLEWAY_WORLD; empty where none can join
  const RunPlan& plan() const { return plan_; }
  const Catalogue& catalogue() const { return catalogue_; }
  const Parts& parts() const { return catalogue_.parts(); }
  /// As it was before any of faults().
  const Fabric& machine() const { return machine_; }

  /// In the order in which they were injected. Times may lie ahead.
  std::vector<TimedFault> faults() const;
  /// Error: a text that is too long, too many faults.
  Result<void> inject(const TimedFault& fault);
  /// Grows with every fault injected: whether faults() is worth another look.
  std::uint32_t fault_count() const;

  /// The furthest that any process's clock has come.
  Time now() const;
  /// This process's clock has come to `time`.
  void set_clock(Time time);

  /// The host of the fabric on which this process runs.
  std::uint32_t host() const { return host_; }
  /// The GPUs that this process sees, in the order of their indices: those of its host, or of
  /// all hosts of its NVLink domain, which RunPlan::by_tray parts.
  const std::vector<GpuId>& gpus() const { return gpus_; }
  /// Where processes can be: hosts, or NVLink domains. And where this one is.
  std::uint32_t places() const;
  std::uint32_t place() const { return place_; }

  /// Memory of the GPU in use by all processes.
  Bytes memory_used(GpuId gpu) const;
  /// By process, in the order of their arrival.
  std::vector<MemoryUse> memory_uses(GpuId gpu) const;
  /// Takes memory for this process, unless more than `limit` would be used in all.
  bool take_memory(GpuId gpu, Bytes bytes, Bytes limit);
  void give_back_memory(GpuId gpu, Bytes bytes);

  /// Bytes on the wire so far, in one direction of a link (a bundle).
  std::uint64_t link_bytes(LinkId link, bool forward) const;
  void count_link_bytes(LinkId link, bool forward, std::uint64_t bytes);
  /// For how long in all the GPU has been at work.
  Time busy(GpuId gpu) const;
  void count_busy(GpuId gpu, Time time);

  /// Processes that have joined, in the order of their arrival, those that have ended too.
  std::vector<ProcessInfo> processes() const;
  /// This process's position among processes(); -1 for visitors.
  int self() const { return self_; }
  /// This process is a fork of the one that joined: it joins by itself.
  void rejoin();
  /// Marks processes that have ended without a word. Their pids, each told once a process.
  std::vector<int> find_dead();

  /// The lock and the bytes in which processes meet; for the rooms of the libraries.
  SharedLock& lock() const;
  /// Zeroed bytes in the segment, the same for all processes, never given back; 0: no more left.
  std::uint64_t reserve(std::uint64_t bytes);
  std::byte* at(std::uint64_t offset) const;
  /// Kept for the libraries' own directory of what they reserved.
  std::uint64_t& root(int which) const;
  static constexpr int kRoots = 4;

 private:
  World(RunPlan plan, Catalogue catalogue, Fabric machine, Segment segment);
  static Result<std::unique_ptr<World>> make(const RunPlan& plan, bool named);
  static Result<std::unique_ptr<World>> open(const std::string& name);
  void take_part();
  Result<void> begin_with(const std::vector<std::string>& broken);

  RunPlan plan_;
  Catalogue catalogue_;
  Fabric machine_;
  std::unique_ptr<Segment> segment_;
  WorldState* state_ = nullptr;
  std::uint32_t place_ = 0, host_ = 0;
  std::vector<GpuId> gpus_;
  int self_ = -1;
};

}  // namespace isleway::vgpu
