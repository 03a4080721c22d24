// Who in an execution plan waits for whom: what has to be known before any stream is made.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "formats/algorithms/plan.hpp"

namespace isleway::formats {

/// Operations whose data carry flags, which whoever reads them waits for.
bool moves_packets(const PlanOperation& operation);
bool signals(const PlanOperation& operation);
bool waits(const PlanOperation& operation);

/// Chunks of a rank's scratch memory that a threadblock writes, or reads, as packets.
struct PacketUse {
  std::size_t block = 0;  ///< the threadblock
  int rank = 0, first = 0, count = 0, part = 0, parts = 1;

  bool overlaps(const PacketUse& other) const {
    if (rank != other.rank || first + count <= other.first || other.first + other.count <= first)
      return false;
    const bool same_cut = first == other.first && count == other.count && parts == other.parts;
    return !same_cut || part == other.part;
  }
};
PacketUse packet_use(std::size_t block, const PlanOperation& operation, const PlanBuffer& buffer);

class PlanUses {
 public:
  /// Error: more packets than can be told apart.
  static Result<PlanUses> find(const ExecutionPlan& plan);

  /// Threadblocks by (link, the signalling rank), (link, the waiting rank), (rank, barrier),
  /// (rank, semaphore).
  using Blocks = std::map<std::pair<int, int>, std::set<std::size_t>>;
  Blocks signallers, waiters, barriers, acquirers, releasers;
  std::map<std::pair<int, int>, std::size_t> acquires;  ///< how often, by (rank, semaphore)

  struct Write {
    PacketUse packets;
    std::set<std::size_t> readers;  ///< other threadblocks that read some of them
  };
  /// Into a rank's memory, in the order of each threadblock's program.
  std::map<int, std::vector<Write>> writes;

 private:
  using Reads = std::map<int, std::vector<PacketUse>>;  // by rank
  void add(std::size_t block, int rank, const PlanOperation& operation, Reads& reads);
};

}  // namespace isleway::formats
