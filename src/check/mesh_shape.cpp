#include "check/mesh_shape.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "check/words.hpp"
#include "isleway/core/groups.hpp"

namespace isleway::check {

MeshShape::MeshShape(const GpuMatrix& matrix) {
  const int n = matrix.size();
  Groups groups(static_cast<std::size_t>(n));
  std::map<int, std::size_t> count;
  for (int a = 0; a < n; ++a)
    for (int b = a + 1; b < n; ++b) {
      const int links = matrix.links(a, b);
      if (links == 0) continue;
      groups.join(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
      ++count[links];
      ++joined_pairs_;
      widest = std::max(widest, links);
    }
  for (const auto& [width, pairs] : count) {
    widths_.push_back(width);
    if (pairs < usual_pairs_) continue;
    usual_pairs_ = pairs;
    usual_width = width;
  }
  std::map<std::size_t, std::vector<int>> by_root;
  for (int gpu = 0; gpu < n; ++gpu)
    by_root[groups.find(static_cast<std::size_t>(gpu))].push_back(gpu);
  for (auto& [root, island] : by_root) islands.push_back(std::move(island));
  std::sort(islands.begin(), islands.end());
  for (int a = 0; a < n; ++a)
    for (int b = a + 1; b < n; ++b)
      if (matrix.links(a, b) < usual_width) missing.emplace_back(a, b);
}

bool MeshShape::is_mesh() const {
  std::size_t size = 0, joined_islands = 0;
  for (const auto& island : islands) {
    size = std::max(size, island.size());
    joined_islands += island.size() > 1;
  }
  // A ring or a cube has fewer pairs, and other widths.
  const std::size_t full = size * (size - 1) / 2;
  return size > 2 && joined_islands == 1 && widest == usual_width && 4 * joined_pairs_ > 3 * full &&
         2 * usual_pairs_ > full;
}

bool MeshShape::pairs_only() const {
  return std::all_of(islands.begin(), islands.end(), [](const auto& i) { return i.size() <= 2; });
}

std::string MeshShape::widths_text() const {
  std::string text;
  for (const int width : widths_) text += (text.empty() ? "NV" : " and NV") + std::to_string(width);
  return text;
}

int expected_width(const Product& product, int gpus) {
  if (product.wiring == Wiring::direct && gpus > 1) return product.usable / (gpus - 1);
  return product.usable;
}

WidthFit width_fit(const Product& product, int width, int gpus) {
  if (width == product.usable) return WidthFit::full;
  if (width > product.usable) return WidthFit::wide;
  // Boards of four without switches give each of the three peers a third of the links, and a
  // job may see fewer than four.
  const bool is_share = product.wiring != Wiring::bridge &&
                        (width * 3 == product.usable ? gpus <= 4
                                                     : product.wiring == Wiring::direct &&
                                                           width * (gpus - 1) <= product.usable);
  return is_share ? WidthFit::full : WidthFit::narrow;
}

std::string products_with_width(const Products& products, int width, int gpus) {
  std::vector<std::string> names;
  for (const Product& product : products.all()) {
    if (product.usable == 0 || (product.wiring == Wiring::bridge && gpus > 2)) continue;
    if (product.wiring == Wiring::direct && width * (gpus - 1) != product.usable) continue;
    if (width_fit(product, width, gpus) == WidthFit::full) names.push_back(product.name);
  }
  return list_text(std::move(names), 4);
}

int next_pair_width(const Products& products, int width) {
  int next = std::numeric_limits<int>::max();
  for (const Product& product : products.all())
    if (product.wiring == Wiring::bridge && product.usable > width)
      next = std::min(next, product.usable);
  return next == std::numeric_limits<int>::max() ? width : next;
}

}  // namespace isleway::check
