#include "fabric/max_flow.hpp"

#include <algorithm>

namespace isleway {

void MaxFlow::add_edge(Vertex a, Vertex b, std::int64_t forward, std::int64_t backward) {
  const auto add = [&](Vertex from, Vertex to, std::int64_t capacity) {
    arcs_.push_back({to, first_[from], std::min(capacity, unlimited)});
    first_[from] = static_cast<std::uint32_t>(arcs_.size() - 1);
  };
  add(a, b, forward);
  add(b, a, backward);
}

std::int64_t MaxFlow::run(Vertex source, Vertex sink) {
  std::int64_t flow = 0;
  while (flow < unlimited && find_levels(source, sink)) {
    turn_ = first_;
    while (flow < unlimited) {
      const std::int64_t pushed = push_along_levels(source, sink, unlimited - flow);
      if (pushed == 0) break;
      flow += pushed;
    }
  }
  return flow;
}

bool MaxFlow::find_levels(Vertex source, Vertex sink) {
  level_.assign(first_.size(), -1);
  level_[source] = 0;
  std::vector<Vertex> queue = {source};
  for (std::size_t head = 0; head < queue.size() && level_[sink] < 0; ++head)
    for (std::uint32_t i = first_[queue[head]]; i != none; i = arcs_[i].next)
      if (arcs_[i].left > 0 && level_[arcs_[i].to] < 0) {
        level_[arcs_[i].to] = level_[queue[head]] + 1;
        queue.push_back(arcs_[i].to);
      }
  return level_[sink] >= 0;
}

/// One path to the sink. Not recursive: a hostile machine may be one long chain.
std::int64_t MaxFlow::push_along_levels(Vertex source, Vertex sink, std::int64_t most) {
  std::vector<std::uint32_t> path;
  Vertex at = source;
  while (at != sink) {
    std::uint32_t& arc = turn_[at];
    while (arc != none && !(arcs_[arc].left > 0 && level_[arcs_[arc].to] == level_[at] + 1))
      arc = arcs_[arc].next;
    if (arc != none) {
      path.push_back(arc);
      at = arcs_[arc].to;
    } else if (path.empty()) {
      return 0;
    } else {  // a dead end, for the rest of this round
      level_[at] = -1;
      at = arcs_[path.back() ^ 1].to;
      path.pop_back();
    }
  }
  for (std::uint32_t arc : path) most = std::min(most, arcs_[arc].left);
  for (std::uint32_t arc : path) {
    arcs_[arc].left -= most;
    arcs_[arc ^ 1].left += most;
  }
  return most;
}

}  // namespace isleway
