// A tree, checked, with what a schedule asks of it in constant time.
#pragma once

#include <span>

#include "isleway/collective/collective.hpp"

namespace isleway {

class TreeLinks {
 public:
  /// Error: not a tree over `count` members; `what` names it.
  static Result<TreeLinks> create(const TreeShape& shape, int count, const std::string& what);

  int members() const { return static_cast<int>(parent_.size()); }
  int root() const { return root_; }
  int parent(int member) const { return parent_[member]; }
  std::span<const int> children(int member) const {
    return {children_.data() + first_child_[member], children_.data() + first_child_[member + 1]};
  }
  /// Members from the root to the one farthest from it.
  std::vector<int> longest_branch() const;

 private:
  int root_ = 0;
  std::vector<int> parent_, children_, first_child_;
};

/// The same edges seen from another root.
TreeShape turned_to(TreeShape shape, int root);

/// Whether NCCL gives channel c of `channels` the mirrored tree.
inline bool is_mirrored(int channel, int channels) { return channel >= (channels + 1) / 2; }

}  // namespace isleway
