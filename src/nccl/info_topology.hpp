// The topology and the graphs of a node as NCCL prints them (NCCL_DEBUG_SUBSYS=GRAPH).
#pragma once

#include "isleway/fabric/unit.hpp"
#include "nccl/search.hpp"

namespace isleway::nccl {

class TopologyText {
 public:
  TopologyText(const Unit& unit, const System& system);

  /// "=== System : ...", the tree of devices, and all paths.
  std::vector<std::string> system_lines() const;
  /// "Pattern 4, crossNic 0, ..." and the channels.
  std::vector<std::string> graph_lines(const SearchGraph& graph) const;

 private:
  std::string name(int node) const;    ///< "GPU/0-68000"
  std::string detail(int node) const;  ///< what follows a name where a device is introduced
  void print(int node, int from, std::string line, std::vector<std::string>& lines) const;
  std::string paths_from(int node) const;

  const Unit& unit_;
  const System& system_;
  std::vector<std::uint64_t> local_ids_;  ///< by node
};

}  // namespace isleway::nccl
