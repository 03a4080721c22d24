#include "formats/topo_nvlink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace isleway::formats {
namespace {

class Inference {
 public:
  Inference(const TopoMatrix& matrix, const Parts& parts, const GpuPart* part, Notebook& notes)
      : matrix_(matrix), parts_(parts), part_(part), notes_(notes) {
    for (std::size_t i = 0; i < matrix.devices.size(); ++i)
      if (matrix.devices[i].is_gpu) gpus_.push_back(i);
  }

  TopoNvlink infer() {
    result_.widest.resize(gpus_.size());
    collect_pairs();
    for (TopoNvlink::Island& island : result_.islands) {
      measure(island);
      island.switched = is_switched(island);
    }
    note_those_left_out();
    return std::move(result_);
  }

 private:
  const std::string& name(int gpu) const {
    return matrix_.devices[gpus_[static_cast<std::size_t>(gpu)]].printed;
  }
  const TopoCell& cell(std::size_t a, std::size_t b) const {
    return matrix_.cell(gpus_[a], gpus_[b]);
  }

  /// Each pair as both rows say it; where they differ, the smaller count is sure to be there.
  int links_of(std::size_t a, std::size_t b) const {
    const int there = cell(a, b).nvlinks, back = cell(b, a).nvlinks;
    const bool both = cell(a, b).kind != PathKind::dis && cell(b, a).kind != PathKind::dis;
    if (!both || there == back) return std::max(there, back);
    const int links = there == 0 || back == 0 ? std::max(there, back) : std::min(there, back);
    notes_.assumed(fmt::format("{} and {} disagree on their NVLinks: {} taken",
                               name(static_cast<int>(a)), name(static_cast<int>(b)), links),
                   matrix_.devices[gpus_[a]].line);
    return links;
  }

  void collect_pairs() {
    std::vector<std::size_t> parent(gpus_.size());
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto find = [&](std::size_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    std::vector<TopoNvlink::Pair> pairs;
    for (std::size_t a = 0; a < gpus_.size(); ++a)
      for (std::size_t b = a + 1; b < gpus_.size(); ++b)
        if (const int links = links_of(a, b); links > 0) {
          pairs.push_back({static_cast<int>(a), static_cast<int>(b), links});
          parent[std::max(find(a), find(b))] = std::min(find(a), find(b));
        }
    std::vector<int> island_of(gpus_.size(), -1);
    std::vector<int> size(gpus_.size());
    for (std::size_t i = 0; i < gpus_.size(); ++i) ++size[find(i)];
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const std::size_t root = find(i);
      if (size[root] == 1) {
        result_.alone.push_back(static_cast<int>(i));
        continue;
      }
      if (island_of[root] < 0) {
        island_of[root] = static_cast<int>(result_.islands.size());
        result_.islands.emplace_back();
      }
      result_.islands[static_cast<std::size_t>(island_of[root])].gpus.push_back(
          static_cast<int>(i));
    }
    for (const TopoNvlink::Pair& pair : pairs)
      result_.islands[static_cast<std::size_t>(island_of[find(static_cast<std::size_t>(pair.a))])]
          .pairs.push_back(pair);
  }

  void measure(TopoNvlink::Island& island) {
    std::vector<int> sums(gpus_.size());
    for (const auto& [a, b, count] : island.pairs)
      for (const int gpu : {a, b}) {
        int& widest = result_.widest[static_cast<std::size_t>(gpu)];
        widest = std::max(widest, count);
        island.widest = std::max(island.widest, count);
        island.most_links =
            std::max(island.most_links, sums[static_cast<std::size_t>(gpu)] += count);
      }
  }

  bool is_full_mesh(const TopoNvlink::Island& island) const {
    std::size_t silent = 0;  // pairs of which rows that are missing would tell
    for (std::size_t i = 0; i < island.gpus.size(); ++i)
      for (std::size_t j = i + 1; j < island.gpus.size(); ++j) {
        const auto a = static_cast<std::size_t>(island.gpus[i]);
        const auto b = static_cast<std::size_t>(island.gpus[j]);
        silent += cell(a, b).kind == PathKind::dis && cell(b, a).kind == PathKind::dis;
      }
    return island.pairs.size() + silent == island.gpus.size() * (island.gpus.size() - 1) / 2;
  }

  bool some_part_has(int links) const {
    return std::any_of(parts_.gpus().begin(), parts_.gpus().end(),
                       [&](const auto& entry) { return entry.second.info.nvlink_links == links; });
  }

  /// Behind switches each pair is as wide as the whole GPU; direct links add up to it.
  bool is_switched(const TopoNvlink::Island& island) const {
    if (island.gpus.size() == 2) return is_switched_pair(island);
    if (!is_full_mesh(island)) return false;
    if (part_ != nullptr && part_->info.nvlink_links == island.most_links) return false;
    // A mesh of three with eight links a pair would take 16, which nobody builds.
    constexpr int widest_direct = 6;
    if (island.widest > widest_direct) return true;
    return !some_part_has(island.most_links) && some_part_has(island.widest);
  }

  /// Two GPUs: a bridge between boards, or all that is visible of a machine with switches.
  bool is_switched_pair(const TopoNvlink::Island& island) const {
    constexpr int widest_bridge = 12;
    if (island.widest > widest_bridge) return true;
    if (part_ != nullptr && part_->info.nvlink_links == island.widest)
      return part_->key.find("sxm") != std::string::npos;
    if (result_.islands.size() > 1 || island.widest < 8) return false;
    const TopoDevice& last = matrix_.devices[gpus_.back()];
    const bool gpus_hidden = last.number >= static_cast<int>(gpus_.size());
    const std::size_t nics = matrix_.devices.size() - gpus_.size();
    return gpus_hidden || nics >= 8;
  }

  void note_those_left_out() {
    for (const TopoNvlink::Island& island : result_.islands) {
      if (island.gpus.size() < 3) continue;
      for (const int gpu : result_.alone)
        notes_.assumed(fmt::format("{} has no NVLink, while {} other GPUs have it to one another: "
                                   "it is left off the NVLink fabric",
                                   name(gpu), island.gpus.size()),
                       matrix_.devices[gpus_[static_cast<std::size_t>(gpu)]].line);
    }
  }

  const TopoMatrix& matrix_;
  const Parts& parts_;
  const GpuPart* part_;
  Notebook& notes_;
  std::vector<std::size_t> gpus_;
  TopoNvlink result_;
};

}  // namespace

TopoNvlink infer_nvlink(const TopoMatrix& matrix, const Parts& parts, const GpuPart* part,
                        Notebook& notes) {
  return Inference(matrix, parts, part, notes).infer();
}

std::string guess_gpu_from_wiring(const TopoMatrix& matrix, const TopoNvlink& nvlink, bool on_grace,
                                  const Parts& parts) {
  const bool new_driver = matrix.titles >= 3;
  // Where GPU memory is several NUMA nodes, as Blackwell's is, an affinity lists them.
  const bool on_blackwell =
      on_grace &&
      std::any_of(matrix.devices.begin(), matrix.devices.end(), [](const TopoDevice& device) {
        return device.numa.find(',') != std::string::npos;
      });
  std::string key;
  if (nvlink.islands.empty()) {
    if (on_grace) key = on_blackwell ? "gb200" : "gh200-96";
  } else {
    const auto widest =
        std::max_element(nvlink.islands.begin(), nvlink.islands.end(),
                         [](const auto& a, const auto& b) { return a.most_links < b.most_links; });
    const int links = widest->switched ? widest->widest : widest->most_links;
    if (widest->switched) {
      key = links > 18   ? "rubin"
            : links > 12 ? (on_grace ? "gb200" : "h100-sxm")
            : links > 8  ? "a100-sxm4-80"
            : links > 6  ? (new_driver ? "h800-sxm" : "a800-sxm4-80")
                         : "v100-sxm3-32";
    } else if (widest->gpus.size() > 2) {
      key = links > 12  ? (on_blackwell ? "gb200"
                           : on_grace   ? "gh200-96"
                                        : "h100-sxm")
            : links > 6 ? "a100-sxm4-80"
            : links > 4 ? "v100-sxm2"
                        : "p100-sxm2";
    } else {
      // POWER9 spends half of its GPUs' links on the CPU, so several pairs of three.
      key = links > 6                                 ? "a100-pcie-80"
            : links > 4                               ? "v100-sxm2"
            : links == 3 && nvlink.islands.size() > 1 ? "v100-sxm2"
                                                      : "rtx-a6000";
    }
  }
  return parts.gpu(key) != nullptr ? key : std::string();
}

}  // namespace isleway::formats
