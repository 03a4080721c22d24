#include "isleway/engine/max_min.hpp"

#include <algorithm>
#include <limits>

namespace isleway {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Levels closer than this are one: they differ by rounding only.
constexpr double kSameLevel = 1 + 1e-12;

}  // namespace

std::vector<double> max_min_rates(std::span<const double> capacity,
                                  std::span<const FlowDemand> flows) {
  std::vector<double> rates(flows.size(), 0);
  std::vector<bool> open(flows.size(), true);
  std::vector<double> frozen_load(capacity.size(), 0);
  std::size_t left = flows.size();

  while (left > 0) {
    std::vector<double> weight(capacity.size(), 0);
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (open[f])
        for (const Usage& use : flows[f].uses) weight[use.resource] += use.weight;

    // The rate at which each resource would be full; the lowest of these and of the caps
    // is where the common rise ends next.
    std::vector<double> full_at(capacity.size(), kInfinity);
    double level = kInfinity;
    for (std::size_t r = 0; r < capacity.size(); ++r) {
      if (weight[r] <= 0) continue;
      full_at[r] = std::max(0.0, (capacity[r] - frozen_load[r]) / weight[r]);
      level = std::min(level, full_at[r]);
    }
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (open[f]) level = std::min(level, flows[f].cap);

    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (!open[f]) continue;
      const bool stopped = flows[f].cap <= level * kSameLevel ||
                           std::ranges::any_of(flows[f].uses, [&](const Usage& use) {
                             return use.weight > 0 && full_at[use.resource] <= level * kSameLevel;
                           });
      if (!stopped) continue;
      open[f] = false;
      rates[f] = level;
      --left;
      for (const Usage& use : flows[f].uses)
        if (use.weight > 0) frozen_load[use.resource] += use.weight * level;
    }
  }
  return rates;
}

}  // namespace isleway
