// NCCL's graph files: what NCCL_GRAPH_DUMP_FILE writes and NCCL_GRAPH_FILE reads.
// Format: https://github.com/NVIDIA/nccl, src/graph/search.cc and xml.cc.
#pragma once

#include <map>

#include "nccl/search.hpp"

namespace isleway::nccl {

/// The numbers that graphs have in files and logs.
enum GraphId : int {
  ring_id = 0,
  tree_id = 1,
  collnet_chain_id = 2,
  nvls_id = 3,
  collnet_direct_id = 4
};

/// A graph file as it stands; devices are looked up when a graph is asked for.
class GraphFile {
 public:
  /// Error: no such file, no XML, values out of range.
  static Result<GraphFile> read(const std::string& path);

  /// No channels when the file has no such graph. Error: a device that the system lacks.
  Result<SearchGraph> graph(int id, const System& system) const;

 private:
  struct Channel {
    std::vector<std::uint64_t> nets, gpus;
    int line = 0;
  };
  struct Entry {
    SearchGraph graph;
    std::vector<Channel> channels;
  };

  std::string path_;
  std::map<int, Entry> entries_;
};

/// A device of a GPU or port as graph files number it: the host's place in the node in the
/// highest byte.
std::uint64_t device_number(const System& system, int node);

std::string write_graphs(const System& system,
                         const std::vector<std::pair<int, const SearchGraph*>>& graphs);

}  // namespace isleway::nccl
