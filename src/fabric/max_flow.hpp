// The most that can flow from one vertex to another.
#pragma once

#include <cstdint>
#include <vector>

namespace isleway {

/// Dinic's algorithm on whole numbers, so that the result is exact and the same each time.
class MaxFlow {
 public:
  using Vertex = std::uint32_t;
  /// No edge carries more, and no flow is larger: sums stay within 63 bits.
  static constexpr std::int64_t unlimited = std::int64_t{1} << 61;

  Vertex add_vertex() {
    first_.push_back(none);
    return static_cast<Vertex>(first_.size() - 1);
  }
  /// `forward` from a to b, `backward` from b to a.
  void add_edge(Vertex a, Vertex b, std::int64_t forward, std::int64_t backward = 0);

  /// Once for each graph: the edges keep what is left of them.
  std::int64_t run(Vertex source, Vertex sink);

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Arc {
    Vertex to;
    std::uint32_t next;  ///< further arc of the same vertex
    std::int64_t left;
  };
  bool find_levels(Vertex source, Vertex sink);
  std::int64_t push_along_levels(Vertex source, Vertex sink, std::int64_t most);

  std::vector<Arc> arcs_;  ///< arc i and i ^ 1 are the two directions of an edge
  std::vector<std::uint32_t> first_, turn_;
  std::vector<std::int32_t> level_;
};

}  // namespace isleway
