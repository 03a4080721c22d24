// How long the calls of one communicator take: NCCL's choice on the job's part of the machine.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isleway/nccl.hpp"
#include "virtual/device/process.hpp"

namespace isleway::vgpu::nccl {

/// What a call takes, and what it leaves on the wires.
struct CallTimes : isleway::nccl::CallTimes {
  std::vector<std::pair<LinkId, std::pair<bool, std::uint64_t>>>
      wire;  ///< bytes, of the machine's links
};

/// A machine of these GPUs alone, in this order of rank.
Result<Fabric> job_fabric(const Fabric& machine, const std::vector<GpuId>& gpus);

class Planner {
 public:
  /// Error: NCCL's reason why there is no such communicator.
  /// GPUs are the machine's, as the run began.
  static Result<std::unique_ptr<Planner>> make(std::shared_ptr<const Present> present,
                                               const Parts& parts, const std::vector<GpuId>& gpus,
                                               int gpus_per_process);

  Result<const CallTimes*> times(const CollectiveCall& call);
  /// The schedule of the call that times() timed.
  Result<std::unique_ptr<Schedule>> schedule(const CollectiveCall& call) const;
  const isleway::nccl::Communicator& communicator() const { return *communicator_; }

 private:
  Planner(std::shared_ptr<const Present> present, Fabric job,
          std::unique_ptr<isleway::nccl::Communicator> communicator);
  using Key = std::tuple<int, std::int64_t, int, int, bool>;

  std::shared_ptr<const Present> present_;
  Fabric job_;
  std::unique_ptr<isleway::nccl::Communicator> communicator_;
  std::unique_ptr<Engine> engine_;
  std::map<Key, CallTimes> known_;
};

}  // namespace isleway::vgpu::nccl
