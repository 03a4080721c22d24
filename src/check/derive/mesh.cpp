// NVLink between GPUs as topo -m shows it: who is in the mesh, who is not, at what width.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "check/derivation.hpp"
#include "check/gpu_matrix.hpp"
#include "check/mesh_shape.hpp"
#include "check/nic_distances.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

class MeshJudge {
 public:
  MeshJudge(NodeFacts& node, const RuleBook& rules)
      : node_(node), rules_(rules), matrix_(node), shape_(matrix_) {}

  void judge() {
    if (matrix_.size() < 2 || node_.has("topo.hides_nvlink")) return;
    if (shape_.widest == 0) return no_nvlink();
    islands();
    if (shape_.is_mesh()) mesh();
    else if (shape_.pairs_only()) pairs();
    else direct();
  }

 private:
  const Product* product(int gpu) const { return node_.product_of(matrix_.subject(gpu)); }
  const Product* common_product() const { return node_.product_of(""); }

  void add(std::string name, int gpu, double value, std::vector<const Signal*> from,
           std::vector<std::pair<std::string, std::string>> words = {}) {
    Derived fact{{std::move(name), gpu < 0 ? "" : matrix_.subject(gpu), "", value, "", {}, ""},
                 std::move(from),
                 std::move(words)};
    fact.words.emplace_back("gpus", std::to_string(matrix_.size()));
    if (const Product* known = gpu < 0 ? common_product() : product(gpu))
      fact.words.emplace_back("product", known->name);
    node_.add(std::move(fact));
  }

  void no_nvlink() {
    const Product* known = common_product();
    const bool expected = known && known->usable > 0 && known->wiring != Wiring::bridge;
    add(expected               ? "mesh.none"
        : known                ? "mesh.no_nvlink"
        : looks_like_a_board() ? "mesh.maybe_hidden"
                               : "mesh.no_nvlink_unknown_product",
        -1, matrix_.size(), {matrix_.any()});
  }

  /// Eight GPUs, most with a NIC of its own beside it, are mostly modules on a board.
  bool looks_like_a_board() const {
    const NicDistances nics(node_);
    std::set<int> near;
    for (int gpu = 0; gpu < nics.gpus(); ++gpu)
      if (const auto own = nics.near_nics(gpu); own.size() == 1) near.insert(own[0]);
    return matrix_.size() == 8 && near.size() >= 4;
  }

  void islands() {
    if (shape_.islands.size() < 2) return;
    std::string members;
    std::size_t largest = 0, joined = 0;
    for (const auto& island : shape_.islands) {
      largest = std::max(largest, island.size());
      if (island.size() < 2) continue;
      ++joined;
      std::vector<std::string> names;
      for (const int gpu : island) names.push_back(subject_text(matrix_.subject(gpu)));
      members += (members.empty() ? "{" : " {") + list_text(names) + "}";
    }
    if (joined < 2) return;
    add("mesh.islands", -1, static_cast<double>(joined), {matrix_.row(0)},
        {{"members", members}, {"size", std::to_string(largest)}});
  }

  /// All, or nearly all, reach one another over equally many links.
  void mesh() {
    const int width = shape_.usual_width;
    int below = 0;
    for (int gpu = 0; gpu < matrix_.size(); ++gpu) {
      const int widest = matrix_.widest(gpu);
      const std::vector<std::pair<std::string, std::string>> words = {
          {"width", std::to_string(width)},
          {"widest", std::to_string(widest)},
          {"peers", std::to_string(matrix_.size() - 1)}};
      if (widest == width) continue;
      add(widest == 0 ? "mesh.gpu_off" : "mesh.gpu_low", gpu, widest, {matrix_.row(gpu)}, words);
      ++below;
    }
    for (const auto& [a, b] : shape_.missing) {
      const int links = matrix_.links(a, b);
      if (matrix_.widest(a) < width || matrix_.widest(b) < width) continue;
      const Signal* cell = matrix_.cell(a, b) ? matrix_.cell(a, b) : matrix_.cell(b, a);
      if (!cell) continue;  // its row was cut off
      Derived fact{
          {"mesh.pair_low", matrix_.subject(a), matrix_.subject(b), double(links), "", {}, ""},
          {cell},
          {{"width", std::to_string(width)}}};
      node_.add(std::move(fact));
    }
    if (below == 0 && shape_.missing.empty()) whole(width);
  }

  void whole(int width) {
    const std::vector<std::pair<std::string, std::string>> words = {
        {"width", std::to_string(width)}};
    if (const Product* known = common_product()) {
      const auto fit = width_fit(*known, width, matrix_.size());
      const char* name = fit == WidthFit::full     ? "mesh.complete"
                         : fit == WidthFit::narrow ? "mesh.narrow"
                                                   : "mesh.wide";
      auto more = words;
      more.emplace_back("expected", std::to_string(expected_width(*known, matrix_.size())));
      return add(name, -1, width, {matrix_.row(0)}, more);
    }
    const std::string fits = products_with_width(rules_.products, width, matrix_.size());
    auto more = words;
    more.emplace_back("fits", fits);
    add(fits.empty() ? "mesh.odd_width" : "mesh.complete_if", -1, width, {matrix_.row(0)}, more);
  }

  /// Bridges between two GPUs each.
  void pairs() {
    for (int gpu = 0; gpu < matrix_.size(); ++gpu)
      if (matrix_.widest(gpu) == 0) add("mesh.unbridged", gpu, 0, {matrix_.row(gpu)});
    for (const auto& island : shape_.islands) {
      if (island.size() != 2) continue;
      const int width = matrix_.links(island[0], island[1]);
      const Product* known = product(island[0]);
      const std::vector<std::pair<std::string, std::string>> words = {
          {"width", std::to_string(width)},
          {"pair", subject_text(matrix_.subject(island[0])) + " and " +
                       subject_text(matrix_.subject(island[1]))},
          {"expected", std::to_string(known ? known->usable : shape_.widest)}};
      const bool odd_one = width < shape_.widest;
      const bool narrow = known && width_fit(*known, width, 2) == WidthFit::narrow;
      const bool unheard_of =
          !known && joined_pairs() == 1 && products_with_width(rules_.products, width, 2).empty();
      if (odd_one || narrow || unheard_of)
        add("mesh.bridge_partial", island[0], width, {matrix_.cell(island[0], island[1])},
            unheard_of ? with_next_width(words, width) : words);
      else
        add("mesh.bridge_complete", island[0], width, {matrix_.cell(island[0], island[1])}, words);
    }
  }

  std::size_t joined_pairs() const {
    return static_cast<std::size_t>(std::count_if(shape_.islands.begin(), shape_.islands.end(),
                                                  [](const auto& i) { return i.size() == 2; }));
  }

  std::vector<std::pair<std::string, std::string>> with_next_width(
      std::vector<std::pair<std::string, std::string>> words, int width) const {
    words.back().second = std::to_string(next_pair_width(rules_.products, width));
    return words;
  }

  /// Direct links in other patterns than a mesh: equal sums are whole.
  void direct() {
    // Fewer GPUs than a cube has are a part of one, whose other links lead out of sight.
    constexpr int kCube = 8;
    const bool is_whole = matrix_.size() % kCube == 0;
    int most = 0;
    for (int gpu = 0; gpu < matrix_.size(); ++gpu) most = std::max(most, matrix_.sum(gpu));
    bool equal = true;
    for (int gpu = 0; gpu < matrix_.size(); ++gpu) {
      const int sum = matrix_.sum(gpu);
      if (sum == most || (sum > 0 && !is_whole)) continue;
      equal = false;
      add(sum == 0 ? "mesh.gpu_off" : "mesh.sum_low", gpu, sum, {matrix_.row(gpu)},
          {{"width", std::to_string(most)}, {"peers", "other GPUs"}});
    }
    if (equal) add("mesh.direct", -1, most, {matrix_.row(0)}, {{"widths", shape_.widths_text()}});
  }

  NodeFacts& node_;
  const RuleBook& rules_;
  GpuMatrix matrix_;
  MeshShape shape_;
};

void derive_mesh(Facts& facts, const Input&, const Context& context) {
  for (NodeFacts& node : facts.nodes()) MeshJudge(node, context.rules).judge();
}

}  // namespace

extern const Derivation mesh_derivation;
const Derivation mesh_derivation = {"NVLink between GPUs: completeness and width", derive_mesh};

}  // namespace isleway::check
