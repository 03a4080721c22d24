#include <fmt/format.h>

#include "collective/arguments.hpp"
#include "collective/pipeline.hpp"
#include "collective/tree_links.hpp"
#include "isleway/collective/network_tree.hpp"

namespace isleway {
namespace {

/// Messages flow up to the root, which turns them round; each way is a stream of its own, so
/// that both run at once. What the root does is in its stream up. The root may be a switch of
/// the network, which has no data of its own.
class Tree final : public Schedule {
 public:
  Tree(const CollectiveCall& call, std::vector<TreeLinks> trees, const Chunking& chunking)
      : ranks_(call.ranks),
        up_(call.collective != Collective::broadcast),
        down_(call.collective != Collective::reduce),
        trees_(std::move(trees)),
        channels_(cut_channels(call.size.input_bytes(call.collective, call.ranks),
                               static_cast<int>(trees_.size()), 1, chunking)) {}

  int ranks() const override { return ranks_; }
  int agents() const override { return trees_[0].members(); }
  int streams() const override { return 2 * static_cast<int>(trees_.size()); }

  std::int64_t action_count(Port port) const override {
    const bool is_root = trees_[port.stream / 2].root() == port.agent;
    const bool is_down = port.stream % 2 == 1;
    const bool acts = is_root ? !is_down : is_down ? down_ : up_;
    return acts ? channels_[port.stream / 2].loops.slices_in_all() : 0;
  }

  void action(Port port, std::int64_t k, Action& out) const override {
    out.clear();
    const int c = port.stream / 2;
    const TreeLinks& tree = trees_[c];
    const auto& [offset, loops] = channels_[c];
    const auto [loop, slice] = loops.locate(k, 1);
    const Piece piece = loops.piece(loop, 0, slice);
    const int rank = port.agent;
    const bool is_root = rank == tree.root();
    const bool is_rank = rank < ranks_;
    const bool goes_up = port.stream % 2 == 0;
    const bool goes_down = !goes_up || is_root;
    out.bytes = piece.bytes;
    if (goes_up) {
      if (is_rank) out.source = {Region::Buffer::input, offset + piece.offset};
      if (up_)
        for (const int child : tree.children(rank)) out.recv.push_back({child, 2 * c});
      if (!is_root) out.send.push_back({tree.parent(rank), 2 * c});
    } else {
      out.recv.push_back(down_port(c, tree.parent(rank)));
    }
    if (goes_down) {
      if (is_rank) out.store = {Region::Buffer::output, offset + piece.offset};
      if (down_)
        for (const int child : tree.children(rank)) out.send.push_back({child, 2 * c + 1});
    }
  }

  void loads(const std::function<void(const Load&)>& visit) const override {
    for (int c = 0; c < static_cast<int>(trees_.size()); ++c) {
      const Loops& loops = channels_[c].loops;
      if (loops.share() == 0) continue;
      const std::int64_t messages = loops.slices_in_all();
      const Port root{trees_[c].root(), 2 * c};
      if (!(up_ && down_) || ranks_ == 1)
        visit({root, root, loops.share(), messages, up_ && ranks_ > 1});
      for (int rank = 0; rank < ranks_; ++rank) {
        const int parent = trees_[c].parent(rank);
        if (parent < 0) continue;
        if (up_) visit({{rank, 2 * c}, {parent, 2 * c}, loops.share(), messages});
        if (down_) visit({down_port(c, parent), {rank, 2 * c + 1}, loops.share(), messages});
      }
    }
  }

  /// Up the longest branch and down again, of the first channel: it has the most to move.
  std::vector<CriticalStep> critical_path() const override {
    const std::vector<int> branch = trees_[0].longest_branch();
    std::vector<Leg> legs;
    if (up_)
      for (std::size_t i = branch.size() - 1; i > 0; --i)
        legs.push_back({{branch[i], 0}, {branch[i - 1], 0}});
    if (down_)
      for (std::size_t i = 1; i < branch.size(); ++i)
        legs.push_back({down_port(0, branch[i - 1]), {branch[i], 1}});
    return pipeline_path(legs, legs.size() - 1, channels_[0].loops);
  }

 private:
  /// Where a rank sends from on the way down.
  Port down_port(int channel, int rank) const {
    return {rank, rank == trees_[channel].root() ? 2 * channel : 2 * channel + 1};
  }

  int ranks_;
  bool up_, down_;
  std::vector<TreeLinks> trees_;
  std::vector<Channel> channels_;
};

}  // namespace

Result<std::unique_ptr<Schedule>> make_tree(const CollectiveCall& call,
                                            std::vector<TreeShape> trees,
                                            const Chunking& chunking) {
  if (auto ok =
          check_arguments(call, static_cast<int>(trees.size()), chunking, "tree",
                          {Collective::all_reduce, Collective::broadcast, Collective::reduce});
      !ok)
    return tl::unexpected(ok.error());
  std::vector<TreeLinks> links;
  for (std::size_t c = 0; c < trees.size(); ++c) {
    const std::string what = fmt::format("tree {}", c);
    auto checked = TreeLinks::create(trees[c], call.ranks, what);
    if (checked && call.collective != Collective::all_reduce && checked->root() != call.root)
      checked = TreeLinks::create(turned_to(std::move(trees[c]), call.root), call.ranks, what);
    if (!checked) return tl::unexpected(checked.error());
    links.push_back(std::move(*checked));
  }
  return std::make_unique<Tree>(call, std::move(links), chunking);
}

Result<std::unique_ptr<Schedule>> make_network_tree(const CollectiveCall& call,
                                                    const std::vector<TreeShape>& trees,
                                                    const Chunking& chunking) {
  if (auto ok = check_arguments(call, static_cast<int>(trees.size()), chunking, "a network's tree",
                                {Collective::all_reduce});
      !ok)
    return tl::unexpected(ok.error());
  std::vector<TreeLinks> links;
  for (std::size_t c = 0; c < trees.size(); ++c) {
    auto checked = TreeLinks::create(trees[c], call.ranks + 1, fmt::format("tree {}", c));
    if (!checked) return tl::unexpected(checked.error());
    if (checked->root() != call.ranks)
      return fail(fmt::format("tree {} has rank {} at its root", c, checked->root()),
                  "the network's switch");
    links.push_back(std::move(*checked));
  }
  return std::make_unique<Tree>(call, std::move(links), chunking);
}

}  // namespace isleway
