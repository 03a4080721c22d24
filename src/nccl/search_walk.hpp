// One attempt: depth-first over GPUs and ports, for fixed speeds and path types.
#pragma once

#include "isleway/core/small_vector.hpp"
#include "nccl/search.hpp"

namespace isleway::nccl {

/// Walks all ways to lay channels out, within a budget of visits, and keeps the best.
class SearchWalk {
 public:
  SearchWalk(System& system, SearchGraph& attempt, SearchGraph& best, long budget);

  void run() { next_channel(); }
  /// What is left; negative when as many channels as allowed were found.
  long budget() const { return budget_; }
  bool complete() const { return budget_ == kComplete; }

 private:
  static constexpr long kComplete = -1;
  enum class Order { any, pci, replay };
  /// Where a walk leaves GPUs: back to the port after this step, or to the first GPU.
  struct Way {
    int back_to_net = -1;
    int back_to_first = -1;
    Order order = Order::any;
  };

  Way way() const;
  void next_channel();
  void from_network(Way way);
  void from_port(int net, Way way);
  bool head_from_port(int net, const std::vector<int>& nets, Way way);
  void enter_gpu(int from, int gpu, int step, Way way);
  void visit(int gpu, int step, Way way);
  void finish_channel();
  void back_to_port(int gpu, int step, Way way);
  void onward(int gpu, int step, Way way);
  void close_ring(int gpu, int step, Way way);
  void nvls_head(int gpu);
  void direct_head(int gpu);

  /// Takes (or with a negative `times` gives back) a path's bandwidth. False: there is not
  /// enough, and nothing was taken.
  bool follow(int from, int to, float times);
  std::size_t take(const SystemPath& path, int start, std::size_t steps, float bandwidth);

  using Candidates = SmallVector<int, 32>;
  std::vector<int> find_ports(int first_gpu, int last_gpu) const;
  const std::vector<int>& ports_of(int gpu);
  void next_gpus(int gpu, int sort_by_net, Candidates& next) const;
  void neighbours(int gpu, Candidates& next) const;
  int replayed_gpu(int step) const;
  int gpu_node(int position) const { return system_.of(NodeType::gpu)[position]; }
  int position_of(int rank) const { return position_of_rank_[rank]; }
  bool same_port(const SystemNode& a, const SystemNode& b) const {
    return a.asic == b.asic && a.port == b.port;
  }
  bool is_better() const;

  System& system_;
  SearchGraph& attempt_;
  SearchGraph& best_;
  long budget_;
  int gpus_;
  std::vector<std::uint64_t> used_;  ///< by GPU position: channels that it is part of
  std::vector<int> position_of_rank_;
  std::vector<int> all_ports_;                             ///< in the order in which they are tried
  std::vector<std::optional<std::vector<int>>> ports_of_;  ///< by GPU position, once needed
};

}  // namespace isleway::nccl
