#include <algorithm>
#include <cmath>
#include <limits>

#include "isleway/engine/max_min.hpp"

namespace isleway {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSameLevel = 1 + 1e-12;
// Sums of demands drift by rounding as flows come and go; a resource this close to full
// counts as one that can fill up.
constexpr double kDriftMargin = 1 - 1e-6;

// Bits of class_state_ and resource_state_.
constexpr std::uint8_t kChanged = 1;    // since the last solve
constexpr std::uint8_t kCollected = 2;  // in the component being solved
constexpr std::uint8_t kOpen = 4;       // its rate still rises
constexpr std::uint8_t kCouldFill = 8;  // before the change

}  // namespace

std::uint32_t MaxMinSolver::add_resource(double capacity) {
  capacity_.push_back(std::max(0.0, capacity));
  demand_.push_back(0);
  uncapped_.push_back(0);
  members_.emplace_back();
  resource_state_.push_back(0);
  frozen_load_.push_back(0);
  open_weight_.push_back(0);
  open_classes_.push_back(0);
  return static_cast<std::uint32_t>(capacity_.size() - 1);
}

std::uint32_t MaxMinSolver::add_class(std::span<const Usage> uses, double cap) {
  for (const Usage& use : uses)
    if (use.weight > 0) uses_.push_back({use.resource, 0, use.weight});
  first_use_.push_back(static_cast<std::uint32_t>(uses_.size()));
  count_.push_back(0);
  cap_.push_back(cap);
  rate_.push_back(0);
  class_state_.push_back(0);
  return static_cast<std::uint32_t>(count_.size() - 1);
}

bool MaxMinSolver::can_fill_up(std::uint32_t resource) const {
  return uncapped_[resource] > 0 || demand_[resource] > capacity_[resource] * kDriftMargin;
}

void MaxMinSolver::touch(std::uint32_t resource) {
  if (resource_state_[resource] & kChanged) return;
  resource_state_[resource] |= kChanged;
  if (can_fill_up(resource)) resource_state_[resource] |= kCouldFill;
  touched_resources_.push_back(resource);
}

void MaxMinSolver::join(std::uint32_t flow_class) {
  for (std::uint32_t u = first_use_[flow_class]; u < first_use_[flow_class + 1]; ++u) {
    auto& members = members_[uses_[u].resource];
    uses_[u].position = static_cast<std::uint32_t>(members.size());
    members.push_back({flow_class, u});
    if (std::isinf(cap_[flow_class])) ++uncapped_[uses_[u].resource];
  }
}

void MaxMinSolver::leave(std::uint32_t flow_class) {
  for (std::uint32_t u = first_use_[flow_class]; u < first_use_[flow_class + 1]; ++u) {
    auto& members = members_[uses_[u].resource];
    members[uses_[u].position] = members.back();
    uses_[members.back().use].position = uses_[u].position;
    members.pop_back();
    if (std::isinf(cap_[flow_class])) --uncapped_[uses_[u].resource];
  }
}

void MaxMinSolver::set_count(std::uint32_t flow_class, std::uint32_t count) {
  const std::uint32_t old = count_[flow_class];
  if (old == count) return;
  if (!(class_state_[flow_class] & kChanged)) {
    class_state_[flow_class] |= kChanged;
    changed_classes_.push_back(flow_class);
  }
  for (std::uint32_t u = first_use_[flow_class]; u < first_use_[flow_class + 1]; ++u) {
    touch(uses_[u].resource);
    if (std::isfinite(cap_[flow_class]))
      demand_[uses_[u].resource] +=
          uses_[u].weight * cap_[flow_class] * (static_cast<double>(count) - old);
  }
  count_[flow_class] = count;
  if (old == 0) join(flow_class);
  if (count == 0) leave(flow_class);
}

void MaxMinSolver::collect_class(std::uint32_t flow_class) {
  if (class_state_[flow_class] & kCollected) return;
  class_state_[flow_class] |= kCollected;
  classes_.push_back(flow_class);
}

void MaxMinSolver::collect_resource(std::uint32_t resource) {
  if (resource_state_[resource] & kCollected) return;
  resource_state_[resource] |= kCollected;
  resources_.push_back(resource);
}

void MaxMinSolver::collect_component() {
  classes_.clear();
  resources_.clear();
  for (const std::uint32_t c : changed_classes_)
    if (count_[c] > 0) collect_class(c);
  // One that could fill up before the change may have held others back until now.
  for (const std::uint32_t r : touched_resources_) {
    if (can_fill_up(r) || (resource_state_[r] & kCouldFill)) collect_resource(r);
    resource_state_[r] &= static_cast<std::uint8_t>(~(kChanged | kCouldFill));
    if (members_[r].empty()) demand_[r] = 0;  // ends the drift
  }
  touched_resources_.clear();

  std::size_t next_class = 0;
  for (std::size_t next = 0; next < resources_.size() || next_class < classes_.size();) {
    for (; next < resources_.size(); ++next)
      for (const Member& member : members_[resources_[next]]) collect_class(member.flow_class);
    for (; next_class < classes_.size(); ++next_class) {
      const std::uint32_t c = classes_[next_class];
      for (std::uint32_t u = first_use_[c]; u < first_use_[c + 1]; ++u)
        if (can_fill_up(uses_[u].resource)) collect_resource(uses_[u].resource);
    }
  }
}

void MaxMinSolver::freeze(std::uint32_t flow_class, double rate) {
  class_state_[flow_class] &= static_cast<std::uint8_t>(~kOpen);
  if (rate_[flow_class] != rate) {
    rate_[flow_class] = rate;
    changed_rates_.push_back(flow_class);
  }
  for (std::uint32_t u = first_use_[flow_class]; u < first_use_[flow_class + 1]; ++u) {
    const std::uint32_t r = uses_[u].resource;
    const double weight = uses_[u].weight * count_[flow_class];
    frozen_load_[r] += weight * rate;
    open_weight_[r] -= weight;
    --open_classes_[r];
  }
}

void MaxMinSolver::fill() {
  for (const std::uint32_t r : resources_) {
    frozen_load_[r] = open_weight_[r] = 0;
    open_classes_[r] = 0;
  }
  for (const std::uint32_t c : classes_) {
    class_state_[c] |= kOpen;
    for (std::uint32_t u = first_use_[c]; u < first_use_[c + 1]; ++u) {
      open_weight_[uses_[u].resource] += uses_[u].weight * count_[c];
      ++open_classes_[uses_[u].resource];
    }
  }
  const auto full_at = [this](std::uint32_t r) {
    return std::max(0.0, (capacity_[r] - frozen_load_[r]) / open_weight_[r]);
  };
  // Both lists shrink to what is still open, keeping their order.
  std::size_t open_resources = resources_.size();
  for (std::size_t open = classes_.size(); open > 0;) {
    double level = kInfinity;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < open_resources; ++i) {
      const std::uint32_t r = resources_[i];
      if (open_classes_[r] == 0) continue;
      std::swap(resources_[kept++], resources_[i]);
      level = std::min(level, full_at(r));
    }
    open_resources = kept;
    for (std::size_t i = 0; i < open; ++i) level = std::min(level, cap_[classes_[i]]);

    // Which resources are full is decided before any class is frozen, since that moves
    // their sums by rounding.
    for (std::size_t i = 0; i < open_resources; ++i)
      if (full_at(resources_[i]) <= level * kSameLevel) resource_state_[resources_[i]] |= kOpen;
    for (std::size_t i = 0; i < open_resources; ++i) {
      const std::uint32_t r = resources_[i];
      if (!(resource_state_[r] & kOpen)) continue;
      resource_state_[r] &= static_cast<std::uint8_t>(~kOpen);
      for (const Member& member : members_[r])
        if (class_state_[member.flow_class] & kOpen) freeze(member.flow_class, level);
    }
    kept = 0;
    for (std::size_t i = 0; i < open; ++i) {
      const std::uint32_t c = classes_[i];
      if ((class_state_[c] & kOpen) && cap_[c] <= level * kSameLevel) freeze(c, cap_[c]);
      if (class_state_[c] & kOpen) std::swap(classes_[kept++], classes_[i]);
    }
    open = kept;
  }
}

std::span<const std::uint32_t> MaxMinSolver::solve() {
  changed_rates_.clear();
  if (changed_classes_.empty()) return changed_rates_;
  collect_component();
  fill();
  for (const std::uint32_t c : classes_) class_state_[c] &= static_cast<std::uint8_t>(~kCollected);
  for (const std::uint32_t r : resources_)
    resource_state_[r] &= static_cast<std::uint8_t>(~kCollected);
  for (const std::uint32_t c : changed_classes_) {
    class_state_[c] &= static_cast<std::uint8_t>(~kChanged);
    if (count_[c] == 0 && rate_[c] != 0) {
      rate_[c] = 0;
      changed_rates_.push_back(c);
    }
  }
  changed_classes_.clear();
  return changed_rates_;
}

}  // namespace isleway
