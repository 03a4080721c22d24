// Calls of process groups, on the links of the whole machine.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "nccl/replay/graph.hpp"

namespace isleway::nccl {

/// Makes each call once; what it hands out lives as long as it does.
class GroupCalls {
 public:
  GroupCalls(const Fabric& fabric, const Parts& parts, const Options& options);
  ~GroupCalls();

  struct Call {
    const Schedule* schedule = nullptr;  ///< null: nothing moves
    const Wiring* wiring = nullptr;
  };
  /// Of a collective or a message. Error: NCCL's reason.
  Result<Call> call(const TraceJob& job);

 private:
  struct Group;
  struct Made;
  Result<const Group*> group(const std::vector<int>& ranks);
  Result<std::unique_ptr<Made>> make(const Group& group, const CollectiveCall& call) const;
  Result<std::unique_ptr<Made>> make_message(const Group& group, bool backward,
                                             std::int64_t bytes) const;

  const Fabric& fabric_;
  const Parts& parts_;
  const Options& options_;
  std::map<std::vector<int>, std::unique_ptr<Group>> groups_;
  /// By group, collective (or -1), bytes and root (or direction).
  std::map<std::tuple<const Group*, int, std::int64_t, int>, std::unique_ptr<Made>> made_;
};

/// As this program names them.
Collective collective_of(const formats::TraceNode& node);
/// As nccl-tests counts it, from what one rank gives.
std::int64_t call_bytes(Collective collective, const formats::TraceNode& node, int ranks);

}  // namespace isleway::nccl
