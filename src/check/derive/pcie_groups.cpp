// GPUs that reach one another only over PCIe: which are close, and what they share.
#include <algorithm>
#include <map>

#include "check/derivation.hpp"
#include "check/gpu_matrix.hpp"
#include "check/words.hpp"
#include "isleway/core/groups.hpp"

namespace isleway::check {
namespace {

constexpr const char* kNearToFar[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};

struct Closest {
  const char* kind = nullptr;
  std::string members;
  std::size_t groups = 0, largest = 0;
};

/// Groups of GPUs joined by the nearest kind of path that is there.
Closest closest_groups(const GpuMatrix& matrix) {
  Closest closest;
  for (const char* kind : kNearToFar) {
    Groups groups(static_cast<std::size_t>(matrix.size()));
    bool any = false;
    for (int a = 0; a < matrix.size(); ++a)
      for (int b = a + 1; b < matrix.size(); ++b) {
        const Signal* cell = matrix.cell(a, b);
        if (!cell || value_text(*cell) != kind) continue;
        groups.join(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
        any = true;
      }
    if (!any) continue;
    std::map<std::size_t, std::vector<std::string>> by_root;
    for (int gpu = 0; gpu < matrix.size(); ++gpu)
      by_root[groups.find(static_cast<std::size_t>(gpu))].push_back(
          subject_text(matrix.subject(gpu)));
    std::vector<std::vector<std::string>> lists;
    for (auto& [root, gpus] : by_root)
      if (gpus.size() > 1) lists.push_back(std::move(gpus));
    std::sort(lists.begin(), lists.end());
    closest.kind = kind;
    closest.groups = lists.size();
    for (const auto& gpus : lists) {
      closest.largest = std::max(closest.largest, gpus.size());
      closest.members += (closest.members.empty() ? "{" : " {") + list_text(gpus) + "}";
    }
    return closest;
  }
  return closest;
}

void derive_pcie_groups(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    if (!node.has("topo.link") || node.has("topo.hides_nvlink")) continue;
    const GpuMatrix matrix(node);
    if (matrix.size() < 2) continue;
    bool has_nvlink = false;
    for (int gpu = 0; gpu < matrix.size(); ++gpu) has_nvlink |= matrix.widest(gpu) > 0;
    if (has_nvlink) continue;
    const Closest closest = closest_groups(matrix);
    if (!closest.kind) continue;
    const bool is_all = closest.largest == static_cast<std::size_t>(matrix.size());
    Derived fact{{is_all ? "pcie.all_alike" : "pcie.groups", "", "", closest.kind, "", {}, ""},
                 {matrix.row(0)},
                 {{"members", closest.members},
                  {"kind", closest.kind},
                  {"gpus", std::to_string(matrix.size())}}};
    node.add(std::move(fact));
  }
}

}  // namespace

extern const Derivation pcie_groups_derivation;
const Derivation pcie_groups_derivation = {"GPUs without NVLink: which are close",
                                           derive_pcie_groups};

}  // namespace isleway::check
