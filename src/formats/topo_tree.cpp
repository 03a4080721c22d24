#include "formats/topo_tree.hpp"

#include <fmt/format.h>

#include <numeric>

namespace isleway::formats {
namespace {

constexpr std::array<PathKind, TopoTree::level_count> kReach = {PathKind::pix, PathKind::pxb,
                                                                PathKind::phb, PathKind::node};

bool is_pcie(PathKind kind) { return kind >= PathKind::pix && kind <= PathKind::sys; }

class Builder {
 public:
  explicit Builder(const TopoMatrix& matrix)
      : matrix_(matrix), n_(matrix.devices.size()), current_(n_) {
    std::iota(current_.begin(), current_.end(), 0);
    count_ = static_cast<int>(n_);
    tree_.group.resize(n_);
  }

  TopoTree build() {
    for (int level = 0; level < TopoTree::level_count; ++level) {
      merge(kReach[static_cast<std::size_t>(level)]);
      for (std::size_t i = 0; i < n_; ++i)
        tree_.group[i][static_cast<std::size_t>(level)] = current_[i];
      tree_.groups[static_cast<std::size_t>(level)] = count_;
    }
    return std::move(tree_);
  }

 private:
  struct Votes {
    std::uint32_t near = 0, all = 0;
  };

  void merge(PathKind reach) {
    const auto k = static_cast<std::size_t>(count_);
    std::vector<Votes> votes(k * k);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) {
        const PathKind kind = matrix_.cell(i, j).kind;
        if (!is_pcie(kind) || current_[i] == current_[j]) continue;
        const auto [a, b] = std::minmax(current_[i], current_[j]);
        Votes& pair = votes[static_cast<std::size_t>(a) * k + static_cast<std::size_t>(b)];
        ++pair.all;
        pair.near += kind <= reach;
      }
    std::vector<int> parent(k);
    std::iota(parent.begin(), parent.end(), 0);
    const auto find = [&](int i) {
      while (parent[static_cast<std::size_t>(i)] != i)
        i = parent[static_cast<std::size_t>(i)] =
            parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(i)])];
      return i;
    };
    for (std::size_t a = 0; a < k; ++a)
      for (std::size_t b = a + 1; b < k; ++b)
        if (2 * votes[a * k + b].near > votes[a * k + b].all)
          parent[static_cast<std::size_t>(find(static_cast<int>(b)))] = find(static_cast<int>(a));

    std::vector<int> number(k, -1);
    count_ = 0;
    for (int& group : current_) {
      int& fresh = number[static_cast<std::size_t>(find(group))];
      if (fresh < 0) fresh = count_++;
      group = fresh;
    }
  }

  const TopoMatrix& matrix_;
  const std::size_t n_;
  std::vector<int> current_;  ///< group of each device so far
  int count_ = 0;
  TopoTree tree_;
};

void note_contradictions(const TopoMatrix& matrix, const TopoTree& tree, Notebook& notes) {
  constexpr int most = 4;
  int found = 0;
  for (std::size_t i = 0; i < matrix.devices.size(); ++i)
    for (std::size_t j = 0; j < matrix.devices.size(); ++j) {
      const PathKind said = matrix.cell(i, j).kind;
      if (i == j || !is_pcie(said) || said == tree.distance(i, j)) continue;
      if (++found > most) continue;
      notes.assumed(fmt::format("{} to {} says {}, which most other cells contradict: taken as {}",
                                matrix.devices[i].printed, matrix.devices[j].printed, name_of(said),
                                name_of(tree.distance(i, j))),
                    matrix.devices[i].line);
    }
  if (found > most)
    notes.assumed(fmt::format("{} more cells contradict the others likewise", found - most));
}

}  // namespace

PathKind TopoTree::distance(std::size_t a, std::size_t b) const {
  for (std::size_t level = 0; level < level_count; ++level)
    if (group[a][level] == group[b][level]) return kReach[level];
  return PathKind::sys;
}

TopoTree build_topo_tree(const TopoMatrix& matrix, Notebook& notes) {
  TopoTree tree = Builder(matrix).build();
  note_contradictions(matrix, tree, notes);
  return tree;
}

}  // namespace isleway::formats
