#include <algorithm>
#include <cmath>
#include <limits>

#include "isleway/engine/max_min.hpp"

namespace isleway {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Sums of demands drift by rounding as flows come and go; a resource this close to full
// counts as one that can fill up.
constexpr double kDriftMargin = 1 - 1e-6;

/// Empties a list that is only used meanwhile. One that a change of nearly everything has made
/// large gives its memory back: that costs nothing beside such a change.
void forget(std::vector<std::uint32_t>& list) {
  constexpr std::size_t kKept = std::size_t{1} << 18;
  if (list.capacity() > kKept) std::vector<std::uint32_t>().swap(list);
  else list.clear();
}

}  // namespace

double quantised_weight(double weight) {
  return std::max(1.0, std::round(weight * 0x1p32)) * 0x1p-32;
}

std::uint32_t MaxMinSolver::add_resource(double capacity) {
  resources_.push_back({.capacity = std::max(0.0, capacity)});
  members_.emplace_back();
  resource_state_.push_back(0);
  return static_cast<std::uint32_t>(resources_.size() - 1);
}

std::uint32_t MaxMinSolver::add_class(std::span<const Usage> uses, double cap) {
  for (const Usage& use : uses) {
    if (use.weight <= 0) continue;
    uses_.push_back({use.resource, 0});
    weight_.push_back(quantised_weight(use.weight));
  }
  first_use_.push_back(static_cast<std::uint32_t>(uses_.size()));
  count_.push_back(0);
  solved_count_.push_back(0);
  cap_.push_back(cap);
  rate_.push_back(0);
  held_by_.push_back(kNobody);
  class_state_.push_back(0);
  return static_cast<std::uint32_t>(count_.size() - 1);
}

void MaxMinSolver::reserve(std::size_t classes, std::size_t uses) {
  first_use_.reserve(classes + 1);
  count_.reserve(classes);
  solved_count_.reserve(classes);
  rate_.reserve(classes);
  held_by_.reserve(classes);
  class_state_.reserve(classes);
  uses_.reserve(uses);
}

void MaxMinSolver::set_capacity(std::uint32_t resource, double capacity) {
  make_way(resource);
  touch(resource);
  resource_state_[resource] |= kCouldFill;  // whoever is on it is to be solved again
  resources_[resource].capacity = std::max(0.0, capacity);
}

bool MaxMinSolver::can_fill_up(std::uint32_t resource) const {
  const Resource& r = resources_[resource];
  return r.uncapped > 0 || r.demand > r.capacity * kDriftMargin;
}

void MaxMinSolver::touch(std::uint32_t resource) {
  if (resource_state_[resource] & kChanged) return;
  resource_state_[resource] |= kChanged;
  if (can_fill_up(resource)) resource_state_[resource] |= kCouldFill;
  touched_.push_back(resource);
}

void MaxMinSolver::apply_change(std::uint32_t flow_class) {
  const std::uint32_t count = count_[flow_class], old = solved_count_[flow_class];
  const double cap = cap_[flow_class];
  const bool uncapped = std::isinf(cap);
  for (std::uint32_t u = first_use_[flow_class]; u < first_use_[flow_class + 1]; ++u) {
    Use& use = uses_[u];
    if (old == 0) make_way(use.resource);
    Resource& resource = resources_[use.resource];
    auto& members = members_[use.resource];
    if (!uncapped) resource.demand += weight_[u] * cap * (static_cast<double>(count) - old);
    if (old == 0) {
      use.position = static_cast<std::uint32_t>(members.size());
      members.push_back({flow_class, u});
      resource.uncapped += uncapped;
    } else if (count == 0) {
      members[use.position] = members.back();
      uses_[members.back().use].position = use.position;
      members.pop_back();
      resource.uncapped -= uncapped;
      if (members.empty()) resource.demand = 0;  // ends the drift
    }
  }
  solved_count_[flow_class] = count;
}

bool MaxMinSolver::is_alone(std::uint32_t flow_class) {
  for (const Use& use : uses(flow_class))
    if (members_[use.resource].size() > 1) return false;
  return true;
}

/// Ends the stay of a class whose flows are gone.
void MaxMinSolver::make_way(std::uint32_t resource) {
  const auto& members = members_[resource];
  if (members.size() != 1 || count_[members.front().flow_class] > 0) return;
  const std::uint32_t gone = members.front().flow_class;
  apply_change(gone);
  rate_[gone] = -1;  // whatever it gets is another
  held_by_[gone] = kNobody;
}

void MaxMinSolver::apply_changes() {
  std::size_t kept = 0;
  for (const std::uint32_t c : changed_classes_) {
    class_state_[c] &= static_cast<std::uint8_t>(~kChanged);
    if (count_[c] == solved_count_[c] || (count_[c] == 0 && is_alone(c))) continue;
    changed_classes_[kept++] = c;
    for (const Use& use : uses(c)) touch(use.resource);
  }
  changed_classes_.resize(kept);
  for (const std::uint32_t c : changed_classes_)
    if (count_[c] != solved_count_[c]) apply_change(c);  // it may have made way already
}

void MaxMinSolver::set_rate(std::uint32_t flow_class, double rate, std::uint32_t held_by) {
  held_by_[flow_class] = held_by;
  if (rate_[flow_class] == rate) return;
  rate_[flow_class] = rate;
  changed_rates_.push_back(flow_class);
}

/// The filling of a class that meets no other, in one step.
bool MaxMinSolver::solve_alone(std::uint32_t flow_class) {
  double rate = cap_[flow_class];
  std::uint32_t held_by = kNobody;
  for (std::uint32_t u = first_use_[flow_class]; u < first_use_[flow_class + 1]; ++u) {
    const std::uint32_t r = uses_[u].resource;
    if (members_[r].size() == 1) {
      const double full_at = resources_[r].capacity / (weight_[u] * count_[flow_class]);
      if (full_at >= rate) continue;
      rate = full_at;
      held_by = r;
    } else if ((resource_state_[r] & kCouldFill) || can_fill_up(r)) {
      return false;
    }
  }
  set_rate(flow_class, rate, held_by);
  class_state_[flow_class] |= kAlone;
  return true;
}

void MaxMinSolver::collect_class(std::uint32_t flow_class) {
  if (class_state_[flow_class] & kCollected) return;
  class_state_[flow_class] |= kCollected;
  component_.push_back(flow_class);
}

void MaxMinSolver::collect_resource(std::uint32_t resource) {
  if (resource_state_[resource] & kCollected) return;
  resource_state_[resource] |= kCollected;
  component_resources_.push_back(resource);
}

void MaxMinSolver::collect_changed() {
  for (const std::uint32_t c : changed_classes_) {
    if (count_[c] == 0) set_rate(c, 0, kNobody);
    else if (!solve_alone(c)) collect_class(c);
  }
  // A resource that could fill up before the change may have held others back until now.
  for (const std::uint32_t r : touched_) {
    const bool matters = (resource_state_[r] & kCouldFill) || can_fill_up(r);
    resource_state_[r] &= static_cast<std::uint8_t>(~(kChanged | kCouldFill));
    const bool done =
        members_[r].size() == 1 && (class_state_[members_[r].front().flow_class] & kAlone);
    if (matters && !done && !members_[r].empty()) collect_resource(r);
  }
  touched_.clear();
  for (const std::uint32_t c : changed_classes_)
    class_state_[c] &= static_cast<std::uint8_t>(~kAlone);
  forget(changed_classes_);
}

void MaxMinSolver::collect_reached() {
  while (reached_resources_ < component_resources_.size() || reached_ < component_.size()) {
    for (; reached_resources_ < component_resources_.size(); ++reached_resources_) {
      const std::uint32_t r = component_resources_[reached_resources_];
      for (const Member& member : members_[r])
        if (held_by_[member.flow_class] == r) collect_class(member.flow_class);
    }
    for (; reached_ < component_.size(); ++reached_)
      for (const Use& use : uses(component_[reached_]))
        if (can_fill_up(use.resource)) collect_resource(use.resource);
  }
}

/// What is solved again rises to its cap, the others to the rate that they have.
void MaxMinSolver::open(std::uint32_t flow_class) {
  if (class_state_[flow_class] & kOpen) return;
  class_state_[flow_class] |= kOpen;
  const bool again = class_state_[flow_class] & kCollected;
  const double limit = again ? cap_[flow_class] : rate_[flow_class];
  if (std::isfinite(limit)) stops_.push_back({limit, flow_class, true});
}

void MaxMinSolver::open_all() {
  stops_.clear();
  wronged_.clear();
  for (const std::uint32_t c : component_) open(c);
  for (const std::uint32_t r : component_resources_) {
    Resource& resource = resources_[r];
    resource.left = resource.capacity;
    resource.open_weight = resource.frozen_weight = 0;
    resource.open_classes = static_cast<std::uint32_t>(members_[r].size());
    for (const Member& member : members_[r]) {
      resource.open_weight += weight_[member.use] * count_[member.flow_class];
      open(member.flow_class);
    }
    if (resource.open_classes > 0)
      stops_.push_back({resource.left / resource.open_weight, r, false});
  }
}

namespace {
constexpr auto kHigher = [](const auto& a, const auto& b) { return a.level > b.level; };
}  // namespace

/// Takes all stops of one level off the heap. A resource whose flows were frozen since its
/// level was computed has a higher one now.
void MaxMinSolver::take_stops(double level) {
  full_.clear();
  at_cap_.clear();
  while (!stops_.empty() && stops_.front().level <= level) {
    const Stop stop = stops_.front();
    std::ranges::pop_heap(stops_, kHigher);
    stops_.pop_back();
    if (stop.is_cap) {
      at_cap_.push_back(stop.id);
      continue;
    }
    const Resource& resource = resources_[stop.id];
    if (resource.open_classes == 0) continue;
    const double now = std::max(level, resource.left / resource.open_weight);
    if (now <= level) {
      full_.push_back(stop.id);
    } else {
      stops_.push_back({now, stop.id, false});
      std::ranges::push_heap(stops_, kHigher);
    }
  }
}

void MaxMinSolver::freeze(std::uint32_t flow_class, double rate, std::uint32_t held_by) {
  if (!(class_state_[flow_class] & kOpen)) return;
  class_state_[flow_class] &= static_cast<std::uint8_t>(~kOpen);
  if (class_state_[flow_class] & kCollected) set_rate(flow_class, rate, held_by);
  else if (rate < rate_[flow_class]) wronged_.push_back(flow_class);
  for (std::uint32_t u = first_use_[flow_class]; u < first_use_[flow_class + 1]; ++u) {
    const std::uint32_t r = uses_[u].resource;
    if (!(resource_state_[r] & kCollected)) continue;
    Resource& resource = resources_[r];
    if (resource.frozen_weight == 0) eased_.push_back(r);
    resource.frozen_weight += weight_[u] * count_[flow_class];
    --resource.open_classes;
  }
}

/// Progressive filling: the common rate rises from stop to stop.
void MaxMinSolver::fill() {
  open_all();
  std::ranges::make_heap(stops_, kHigher);
  while (!stops_.empty()) {
    const double level = stops_.front().level;
    take_stops(level);
    for (const std::uint32_t r : full_)
      for (const Member& member : members_[r]) freeze(member.flow_class, level, r);
    for (const std::uint32_t c : at_cap_) freeze(c, level, kNobody);
    for (const std::uint32_t r : eased_) {
      Resource& resource = resources_[r];
      resource.left = std::max(0.0, resource.left - resource.frozen_weight * level);
      resource.open_weight -= resource.frozen_weight;
      resource.frozen_weight = 0;
    }
    eased_.clear();
  }
}

void MaxMinSolver::finish() {
  constexpr auto kOff = static_cast<std::uint8_t>(~(kCollected | kOpen));
  for (const std::uint32_t c : component_) {
    if (class_state_[c] & kOpen) set_rate(c, cap_[c], kNobody);  // nothing stopped it
    class_state_[c] &= kOff;
  }
  for (const std::uint32_t r : component_resources_) resource_state_[r] &= kOff;
  forget(component_);
  component_resources_.clear();
  reached_ = reached_resources_ = 0;
}

std::span<const std::uint32_t> MaxMinSolver::solve() {
  changed_rates_.clear();
  if (changed_classes_.empty() && touched_.empty()) return changed_rates_;
  apply_changes();
  collect_changed();
  if (component_.empty() && component_resources_.empty()) return changed_rates_;
  do {
    collect_reached();
    fill();
    for (const std::uint32_t c : wronged_) collect_class(c);
  } while (!wronged_.empty());
  finish();
  return changed_rates_;
}

}  // namespace isleway
