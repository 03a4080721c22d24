// A job's recorded execution again, on another machine.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "isleway/formats/execution_trace.hpp"
#include "isleway/nccl/communicator.hpp"

namespace isleway::nccl {

struct ReplayOptions {
  Options nccl;
  SpeedUps speed_ups;
  /// Ranks of process groups, where the traces themselves do not tell: else a group has the ranks
  /// that name it.
  std::map<std::string, std::vector<int>> groups;
  /// Of compute nodes that were not measured: FLOP/s; 0: such a node is an error.
  double flops = 0;
  /// Of those and of nodes that move memory; zero: memory takes no time.
  Rate memory_rate;
};

/// One collective, or one message, with what its ranks waited for behind them.
struct ReplayedCall {
  std::string name, group;
  std::string what;  ///< "all_reduce", "send"
  std::int64_t bytes = 0;
  std::vector<int> ranks;
  Time begin, end;
};

struct ReplayedRank {
  Time computing, communicating;
  Time exposed;  ///< communicating and not computing
  Time end;      ///< of its last node
};

struct Replay {
  Time time;
  std::vector<ReplayedRank> ranks;
  std::vector<ReplayedCall> calls;  ///< by begin
  std::vector<LinkLoad> loads;
  std::uint64_t events = 0;
};

/// traces[r] is rank r's. Ranks are the fabric's GPUs in order. A rank's compute nodes run one at
/// a time, the calls of a process group one after another, both in the order of the trace as far
/// as dependencies allow; calls of different groups share the links. A call begins when all of
/// its ranks have come to it. Error: traces that do not fit together, and where.
Result<Replay> replay(const Fabric& fabric, const Parts& parts,
                      std::span<const formats::ExecutionTrace> traces, const ReplayOptions& options,
                      Notices& notices);

}  // namespace isleway::nccl
