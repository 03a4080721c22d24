#include "engine/packet/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace isleway {
namespace {

using Place = LinkEnds::Place;

Place place_of(std::uint32_t unit, DeviceIndex device) {
  return std::uint64_t{unit} << 16 | device;
}
Place place_of_switch(std::uint32_t number) { return std::uint64_t{1} << 63 | number; }

/// All bytes take this hop.
bool takes_all(const Hop& hop) { return hop.share > 1 - 1e-6F; }

/// The ways through hops that bytes are sprayed over.
class Sprayed {
 public:
  Sprayed(const LinkEnds& ends, std::span<const Hop> hops) : hops_(hops) {
    for (std::size_t i = 0; i < hops.size(); ++i) {
      const auto [from, to] = ends.of(hops[i]);
      to_.push_back(to);
      out_[from].push_back(i);
      arrives_.insert(to);
    }
  }

  Result<std::vector<PlanePath>> run() {
    // They start where nothing arrives: at one device, or at every switch of an island.
    for (const auto& [place, hops] : out_) {
      if (arrives_.contains(place)) continue;
      for (const std::size_t hop : hops)
        if (auto walked = walk(hop, hops_[hop].share); !walked)
          return tl::unexpected(walked.error());
    }
    if (paths_.empty()) return fail("a route runs in a circle", "one that has a beginning");
    return std::move(paths_);
  }

 private:
  Result<void> walk(std::size_t hop, double share) {
    if (taken_.size() >= hops_.size())
      return fail("a route runs in a circle", "one that has an end");
    taken_.push_back(hops_[hop]);
    const auto next = out_.find(to_[hop]);
    if (next == out_.end()) {
      if (paths_.size() == kMostPaths)
        return fail(fmt::format("a route has more than {} ways", kMostPaths), "",
                    "use the flow engine");
      if (share > 0) paths_.push_back({share, taken_});
    } else {
      double all = 0;
      for (const std::size_t h : next->second) all += hops_[h].share;
      for (const std::size_t h : next->second)
        if (all > 0)
          if (auto walked = walk(h, share * hops_[h].share / all); !walked) return walked;
    }
    taken_.pop_back();
    return {};
  }

  std::span<const Hop> hops_;
  std::map<Place, std::vector<std::size_t>> out_;
  std::set<Place> arrives_;
  std::vector<Place> to_;
  std::vector<Hop> taken_;
  std::vector<PlanePath> paths_;
};

/// Every way so far, gone on by every way of what follows.
std::vector<PlanePath> joined(const std::vector<PlanePath>& heads,
                              const std::vector<PlanePath>& tails) {
  std::vector<PlanePath> all;
  for (const PlanePath& head : heads) {
    for (const PlanePath& tail : tails) {
      all.push_back(head);
      all.back().share *= tail.share;
      all.back().hops.insert(all.back().hops.end(), tail.hops.begin(), tail.hops.end());
    }
  }
  return all;
}

}  // namespace

LinkEnds::LinkEnds(const Fabric& fabric) : fabric_(fabric) {
  first_nic_.push_back(0);
  for (std::uint32_t u = 0; u < fabric.unit_count(); ++u)
    first_nic_.push_back(first_nic_.back() +
                         static_cast<std::uint32_t>(fabric.unit(u).nics().size()));
}

std::pair<Place, Place> LinkEnds::of(const Hop& hop) const {
  std::pair<Place, Place> ends;
  if (hop.link >= fabric_.first_trunk()) {
    const auto trunk = fabric_.network().trunk_ends()[hop.link - fabric_.first_trunk()];
    ends = {place_of_switch(trunk.a), place_of_switch(trunk.b)};
  } else if (hop.link >= fabric_.first_cable()) {
    const std::uint32_t cable = hop.link - fabric_.first_cable();
    const auto next = std::ranges::upper_bound(first_nic_, cable);
    const auto unit = static_cast<std::uint32_t>(next - first_nic_.begin()) - 1;
    ends = {place_of(unit, fabric_.unit(unit).nics()[cable - first_nic_[unit]]),
            place_of_switch(fabric_.network().attachments()[cable].leaf)};
  } else {
    // Units' links come one unit after the other.
    std::uint32_t unit = 0, end = fabric_.unit_count();
    while (unit + 1 < end) {
      const std::uint32_t middle = unit + (end - unit) / 2;
      (fabric_.link_id(middle, 0) <= hop.link ? unit : end) = middle;
    }
    const Link& link = fabric_.link(hop.link);
    ends = {place_of(unit, link.a), place_of(unit, link.b)};
  }
  if (!hop.forward) std::swap(ends.first, ends.second);
  return ends;
}

Result<std::vector<PlanePath>> plane_paths(const LinkEnds& ends, const Route& route) {
  std::vector<PlanePath> paths = {{1, {}}};
  const std::span<const Hop> hops = route.hops;
  for (std::size_t at = 0; at < hops.size();) {
    if (takes_all(hops[at])) {
      for (PlanePath& path : paths) path.hops.push_back(hops[at]);
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < hops.size() && !takes_all(hops[end])) ++end;
    auto sprayed = Sprayed(ends, hops.subspan(at, end - at)).run();
    if (!sprayed) return tl::unexpected(sprayed.error());
    if (paths.size() * sprayed->size() > kMostPaths)
      return fail(fmt::format("a route has more than {} ways", kMostPaths), "",
                  "use the flow engine");
    paths = joined(paths, *sprayed);
    at = end;
  }
  return paths;
}

}  // namespace isleway
