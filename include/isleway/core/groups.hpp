// Sets that grow together.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace isleway {

/// Disjoint sets over 0 to n-1 (union-find with path halving). find() gives the number that
/// stands for a set until the next join().
class Groups {
 public:
  explicit Groups(std::size_t n) : parent_(n) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace isleway
