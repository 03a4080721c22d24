// Work that is recorded once and put into streams again and again.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "virtual/device/process.hpp"

namespace isleway::vgpu {

/// Does its part when the graph is launched. `stream` is the lane's.
using Recorded = std::function<void(Process& process, Stream& stream)>;

/// cudaGraphNode_t points to one.
struct GraphNode {
  enum class Kind : int { kernel, copy, set, host, child, empty, wait_event, record_event };
  Kind kind = Kind::empty;
  Recorded run;  ///< may be empty
  std::vector<GraphNode*> after;
  int lane = 0;  ///< the captured stream; nodes of one lane follow one another
};

/// cudaGraph_t points to one; cudaGraphExec_t to a copy.
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;        ///< in an order that respects `after`
  std::vector<std::pair<void (*)(void*), void*>> kept;  ///< user objects, let go of at the end

  GraphNode* add(GraphNode::Kind kind, Recorded run, std::vector<GraphNode*> after, int lane = 0);
  std::unique_ptr<Graph> copy() const;
  /// Puts all nodes into `stream`, lanes beside it into streams of their own.
  void launch(Process& process, Stream& stream, std::vector<Stream*>& lanes) const;
};

/// A capture that is going on, shared by the streams that take part.
struct Capture {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  Stream* origin = nullptr;
  unsigned long long id = 0;
  int mode = 0;
  struct Lane {
    Stream* stream = nullptr;
    std::vector<GraphNode*> ends;  ///< what comes next follows these
  };
  std::vector<Lane> lanes;
  int lane_of(Stream* stream);
  void record(Stream& stream, GraphNode::Kind kind, Recorded run);
};

/// Puts work into the stream now, or records it where the stream is being captured.
void put_or_record(Process& process, Stream& stream, GraphNode::Kind kind, Recorded run);

}  // namespace isleway::vgpu
