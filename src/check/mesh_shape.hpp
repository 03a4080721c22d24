// The pattern that NVLinks make between the GPUs of a node.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "check/gpu_matrix.hpp"
#include "isleway/check/products.hpp"

namespace isleway::check {

struct MeshShape {
  explicit MeshShape(const GpuMatrix& matrix);

  int widest = 0;                            ///< of all pairs
  int usual_width = 0;                       ///< of the pairs that have links, the most frequent
  std::vector<std::vector<int>> islands;     ///< of GPUs, single ones too
  std::vector<std::pair<int, int>> missing;  ///< pairs that have fewer than the usual
  /// More than two GPUs of which most pairs have the usual width.
  bool is_mesh() const;
  /// No island has more than two GPUs.
  bool pairs_only() const;
  /// "NV1 and NV2".
  std::string widths_text() const;

 private:
  std::vector<int> widths_;  ///< each once
  std::size_t usual_pairs_ = 0, joined_pairs_ = 0;
};

enum class WidthFit { full, narrow, wide };
/// Links between two GPUs when `gpus` of the product are all joined: behind switches all of
/// its links, else an equal share of them.
int expected_width(const Product& product, int gpus);
/// What topo -m shows between any two of `gpus`. Boards with and without switches both exist.
WidthFit width_fit(const Product& product, int width, int gpus);
/// Names of products on whose boards this width is full; empty: none.
std::string products_with_width(const Products& products, int width, int gpus);
/// The least width of a bridge that is above `width`.
int next_pair_width(const Products& products, int width);

}  // namespace isleway::check
