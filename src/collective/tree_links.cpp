#include "collective/tree_links.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isleway {

Result<TreeLinks> TreeLinks::create(const TreeShape& shape, int count, const std::string& what) {
  const std::vector<int>& parent = shape.parent;
  if (static_cast<int>(parent.size()) != count)
    return fail(fmt::format("{} has {} members", what, parent.size()),
                fmt::format("a parent for each of {}", count));
  TreeLinks links;
  links.parent_ = parent;
  links.root_ = -1;
  links.first_child_.resize(count + 1);
  for (int i = 0; i < count; ++i) {
    if (parent[i] == -1) {
      if (links.root_ >= 0)
        return fail(fmt::format("{} has two roots, {} and {}", what, links.root_, i));
      links.root_ = i;
    } else if (parent[i] < 0 || parent[i] >= count || parent[i] == i) {
      return fail(fmt::format("{} gives {} the parent {}", what, i, parent[i]));
    } else {
      ++links.first_child_[parent[i] + 1];
    }
  }
  if (links.root_ < 0) return fail(what + " has no root");
  for (int i = 0; i < count; ++i) links.first_child_[i + 1] += links.first_child_[i];
  links.children_.resize(count - 1);
  std::vector<int> next(links.first_child_.begin(), links.first_child_.end() - 1);
  for (int i = 0; i < count; ++i)
    if (i != links.root_) links.children_[next[parent[i]]++] = i;

  // A member that cannot be reached from the root is part of a ring.
  std::vector<int> reached{links.root_};
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const int child : links.children(reached[i])) reached.push_back(child);
  if (static_cast<int>(reached.size()) != count)
    return fail(fmt::format("{} joins only {} of {} members to its root {}", what, reached.size(),
                            count, links.root_));
  return links;
}

std::vector<int> TreeLinks::longest_branch() const {
  std::vector<int> order{root_};  // by distance from the root, so its last is farthest
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const int child : children(order[i])) order.push_back(child);
  std::vector<int> branch;
  for (int member = order.back(); member >= 0; member = parent_[member]) branch.push_back(member);
  std::reverse(branch.begin(), branch.end());
  return branch;
}

TreeShape turned_to(TreeShape shape, int root) {
  for (int member = root, above = -1; member >= 0;)
    above = std::exchange(member, std::exchange(shape.parent[member], above));
  return shape;
}

}  // namespace isleway
