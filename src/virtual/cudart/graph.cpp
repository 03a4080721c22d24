#include "virtual/cudart/graph.hpp"

#include <map>

namespace isleway::vgpu {

GraphNode* Graph::add(GraphNode::Kind kind, Recorded run, std::vector<GraphNode*> after, int lane) {
  nodes.push_back(
      std::make_unique<GraphNode>(GraphNode{kind, std::move(run), std::move(after), lane}));
  return nodes.back().get();
}

std::unique_ptr<Graph> Graph::copy() const {
  auto copy = std::make_unique<Graph>();
  std::map<const GraphNode*, GraphNode*> twin;
  for (const auto& node : nodes) {
    std::vector<GraphNode*> after;
    for (const GraphNode* before : node->after) after.push_back(twin.at(before));
    twin[node.get()] = copy->add(node->kind, node->run, std::move(after), node->lane);
  }
  return copy;
}

void Graph::launch(Process& process, Stream& stream, std::vector<Stream*>& lanes) const {
  const Ticket begin = process.timeline().last(stream.id);
  std::map<const GraphNode*, std::pair<int, Ticket>> done;
  std::vector<bool> begun;
  const auto stream_of = [&](int lane) -> Stream& {
    if (lane == 0) return stream;
    const auto index = static_cast<std::size_t>(lane) - 1;
    while (lanes.size() <= index) lanes.push_back(process.make_stream(stream.device, true, 0));
    if (begun.size() <= index) begun.resize(index + 1);
    if (!begun[index]) process.wait(*lanes[index], begin);
    begun[index] = true;
    return *lanes[index];
  };
  for (const auto& node : nodes) {
    Stream& on = stream_of(node->lane);
    for (const GraphNode* before : node->after) {
      const auto& [lane, ticket] = done.at(before);
      if (lane != node->lane) process.wait(on, ticket);
    }
    if (node->run) node->run(process, on);
    done[node.get()] = {node->lane, process.timeline().last(on.id)};
  }
  for (std::size_t i = 0; i < begun.size(); ++i)
    if (begun[i]) process.wait(stream, process.timeline().last(lanes[i]->id));
  process.put(stream, Work{});
}

int Capture::lane_of(Stream* stream) {
  for (std::size_t i = 0; i < lanes.size(); ++i)
    if (lanes[i].stream == stream) return static_cast<int>(i);
  lanes.push_back({stream, {}});
  return static_cast<int>(lanes.size()) - 1;
}

void Capture::record(Stream& stream, GraphNode::Kind kind, Recorded run) {
  const int lane = lane_of(&stream);
  auto& ends = lanes[static_cast<std::size_t>(lane)].ends;
  ends = {graph->add(kind, std::move(run), ends, lane)};
}

void put_or_record(Process& process, Stream& stream, GraphNode::Kind kind, Recorded run) {
  if (stream.capture) stream.capture->record(stream, kind, std::move(run));
  else run(process, stream);
}

}  // namespace isleway::vgpu
