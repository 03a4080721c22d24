#include "fabric/scale_up.hpp"

#include <algorithm>
#include <limits>

namespace isleway {
namespace {

bool is_switch(const Unit& unit, DeviceIndex i) {
  return unit.device(i).kind == DeviceKind::nvswitch;
}

bool in_mig_mode(const Device& device) {
  return device.kind == DeviceKind::gpu && device.gpu().mig;
}

/// The bundles from one device to a neighbour that is one step nearer to the target.
struct Step {
  DeviceIndex from = 0, to = 0;
  std::vector<std::uint32_t> links;
  int count = 0;  ///< of single links in all the bundles
  int width = 0;  ///< what of them the rest of the way can take
};

/// How wide and how long the way from a device to the target is.
struct Ahead {
  int level = -1;  ///< steps to the target; -1 unknown
  int width = 0;
  Time latency;
};

class Sprayer {
 public:
  Sprayer(const Unit& unit, DeviceIndex from, DeviceIndex to)
      : unit_(unit), from_(from), to_(to), ahead_(unit.devices().size()) {}

  Spray run() {
    // Breadth first from the target, through switches only, until the source is met.
    ahead_[to_] = {0, std::numeric_limits<int>::max(), Time()};
    std::vector<DeviceIndex> level = {to_};
    while (!level.empty()) {
      const int depth = static_cast<int>(levels_.size());
      if (reach(from_, depth)) return collect();
      level = switches_beside(level);
      for (DeviceIndex i : level) reach(i, depth);
    }
    return {};
  }

 private:
  std::vector<DeviceIndex> switches_beside(const std::vector<DeviceIndex>& level) const {
    std::vector<DeviceIndex> found;
    for (DeviceIndex i : level)
      for (std::uint32_t link : unit_.links_at(i)) {
        const DeviceIndex peer = unit_.peer(link, i);
        if (is_switch(unit_, peer) && ahead_[peer].level < 0 && is_scale_up(unit_, link))
          found.push_back(peer);
      }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  /// Joins `device` to its neighbours of level `depth`. False when it has none there.
  bool reach(DeviceIndex device, int depth) {
    std::vector<Step> steps;
    for (std::uint32_t link : unit_.links_at(device)) {
      const DeviceIndex peer = unit_.peer(link, device);
      if (ahead_[peer].level != depth || !is_scale_up(unit_, link)) continue;
      auto step = std::find_if(steps.begin(), steps.end(), [&](auto& s) { return s.to == peer; });
      if (step == steps.end()) step = steps.insert(step, Step{device, peer, {}, 0, 0});
      step->links.push_back(link);
      step->count += unit_.link(link).count;
    }
    if (steps.empty()) return false;

    Ahead& here = ahead_[device];
    here.level = depth + 1;
    for (Step& step : steps) {
      step.width = std::min(step.count, ahead_[step.to].width);
      here.width += step.width;
      for (std::uint32_t link : step.links)
        here.latency = std::max(here.latency, unit_.link(link).latency + ahead_[step.to].latency);
    }
    levels_.resize(std::max<std::size_t>(levels_.size(), here.level));
    auto& out = levels_[static_cast<std::size_t>(depth)];
    out.insert(out.end(), steps.begin(), steps.end());
    return true;
  }

  /// Spreads the source's bytes over the steps, from the far level to the near one.
  Spray collect() const {
    Spray spray{ahead_[from_].width, ahead_[from_].latency, {}};
    std::vector<double> share(ahead_.size(), 0.0);
    share[from_] = 1;
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
      for (const Step& step : *level) {
        if (share[step.from] == 0) continue;
        const double moved = share[step.from] * step.width / ahead_[step.from].width;
        share[step.to] += moved;
        for (std::uint32_t link : step.links) {
          const double part = moved * unit_.link(link).count / step.count;
          spray.hops.push_back({link, unit_.link(link).a == step.from, static_cast<float>(part)});
        }
      }
    return spray;
  }

  const Unit& unit_;
  const DeviceIndex from_, to_;
  std::vector<Ahead> ahead_;
  std::vector<std::vector<Step>> levels_;  ///< [k]: steps from level k+1 to level k
};

bool has_scale_up(const Unit& unit, DeviceIndex device) {
  return std::ranges::any_of(unit.links_at(device),
                             [&](std::uint32_t link) { return is_scale_up(unit, link); });
}

/// Working links straight from one GPU to another.
int direct_links(const Unit& unit, DeviceIndex from, DeviceIndex to) {
  int count = 0;
  for (std::uint32_t link : unit.links_at(from))
    if (unit.peer(link, from) == to && is_scale_up(unit, link)) count += unit.link(link).count;
  return count;
}

}  // namespace

bool is_scale_up(const Unit& unit, std::uint32_t link_index) {
  const Link& link = unit.link(link_index);
  if (link.kind != LinkKind::nvlink && link.kind != LinkKind::xgmi) return false;
  const Device& a = unit.device(link.a);
  const Device& b = unit.device(link.b);
  return link.up() && a.kind != DeviceKind::cpu && b.kind != DeviceKind::cpu && !in_mig_mode(a) &&
         !in_mig_mode(b);
}

Spray spray_over_nvlink(const Unit& unit, DeviceIndex from, DeviceIndex to) {
  // The search costs time and memory in proportion to the unit; most pairs need none.
  if (from == to || !has_scale_up(unit, from) || !has_scale_up(unit, to)) return {};
  return Sprayer(unit, from, to).run();
}

Spray spray_through_gpu(const Unit& unit, DeviceIndex from, DeviceIndex to) {
  std::optional<DeviceIndex> best;
  int best_width = 0;
  for (DeviceIndex via : unit.gpus()) {
    if (via == from || via == to) continue;
    const int width = std::min(direct_links(unit, from, via), direct_links(unit, via, to));
    if (width > best_width) {
      best = via;
      best_width = width;
    }
  }
  if (!best) return {};
  Spray first = spray_over_nvlink(unit, from, *best);
  const Spray second = spray_over_nvlink(unit, *best, to);
  first.width = best_width;
  first.latency += second.latency;
  first.hops.insert(first.hops.end(), second.hops.begin(), second.hops.end());
  return first;
}

}  // namespace isleway
