#include "engine/fluid.hpp"

#include <algorithm>
#include <cmath>

namespace isleway {
namespace {

constexpr double kPerPicosecond = 1e-12;
// Two computations of the same instant differ by far less than this part of a picosecond;
// rounding up from a little below keeps them in the same tick.
constexpr double kTickSlack = 1e-3;
constexpr double kLatestTime = 9e18;

bool ends_later(double a, double b) { return a > b; }

}  // namespace

bool Fluid::later(const Prediction& a, const Prediction& b) {
  return a.time != b.time ? a.time > b.time : a.order > b.order;
}

Fluid::Class Fluid::flow_class(LinkUse::Way way, double wire_cap) {
  const auto [found, is_new] =
      known_.try_emplace({way, wire_cap}, static_cast<Class>(classes_.size()));
  if (!is_new) return found->second;
  const auto& capacities = links_.capacities();
  for (; resources_ < capacities.size(); ++resources_) solver_.add_resource(capacities[resources_]);
  solver_.add_class(links_.uses(way), wire_cap);
  State state;
  state.way = way;
  state.cap = wire_cap;
  state.instant = links_.uses(way).empty() && std::isinf(wire_cap);
  classes_.push_back(std::move(state));
  return found->second;
}

void Fluid::advance(State& state, std::int64_t now) {
  const double bytes = state.rate * static_cast<double>(now - state.at);
  state.at = now;
  state.served += bytes;
  const double all = bytes * static_cast<double>(state.flows.size());
  moved_ += all;
  if (state.capped) capped_ += all;
}

void Fluid::mark_stale(Class c) {
  if (classes_[c].stale) return;
  classes_[c].stale = true;
  stale_.push_back(c);
}

void Fluid::start(Class c, double wire_bytes, std::uint32_t token, std::int64_t now) {
  State& state = classes_[c];
  advance(state, now);
  if (state.flows.empty()) state.served = 0;  // small sums stay exact
  state.flows.push_back({state.served + wire_bytes, token});
  std::ranges::push_heap(state.flows, ends_later, &Flow::end);
  links_.add(state.way, wire_bytes);
  ++active_;
  solver_.set_count(c, static_cast<std::uint32_t>(state.flows.size()));
  mark_stale(c);
}

void Fluid::settle(std::int64_t now) {
  if (stale_.empty()) return;
  for (const Class c : solver_.solve()) {
    State& state = classes_[c];
    advance(state, now);
    state.rate = solver_.rate(c) * kPerPicosecond;
    state.capped = solver_.capped(c);
    mark_stale(c);
  }
  for (const Class c : stale_) predict(c);
  stale_.clear();
  if (predictions_.size() > 4 * classes_.size() + 64) drop_old_predictions();
}

void Fluid::predict(Class c) {
  State& state = classes_[c];
  state.stale = false;
  ++state.version;
  if (state.flows.empty() || state.rate <= 0) return;
  const double wait = std::ceil((state.flows.front().end - state.served) / state.rate - kTickSlack);
  if (wait + static_cast<double>(state.at) > kLatestTime) return;
  predictions_.push_back({state.at + std::max(std::int64_t{0}, static_cast<std::int64_t>(wait)),
                          order_++, c, state.version});
  std::ranges::push_heap(predictions_, later);
}

void Fluid::drop_old_predictions() {
  std::erase_if(predictions_,
                [this](const Prediction& p) { return p.version != classes_[p.c].version; });
  std::ranges::make_heap(predictions_, later);
}

std::int64_t Fluid::next_end() {
  while (!predictions_.empty()) {
    const Prediction& first = predictions_.front();
    if (first.version == classes_[first.c].version) return first.time;
    std::ranges::pop_heap(predictions_, later);
    predictions_.pop_back();
  }
  return kNever;
}

void Fluid::finish(std::int64_t now, std::vector<std::uint32_t>& tokens) {
  while (next_end() == now) {
    const Class c = predictions_.front().c;
    State& state = classes_[c];
    advance(state, now);
    ++state.version;
    const double due = std::max(state.served + state.rate * 0.5, state.flows.front().end);
    while (!state.flows.empty() && state.flows.front().end <= due) {
      tokens.push_back(state.flows.front().token);
      std::ranges::pop_heap(state.flows, ends_later, &Flow::end);
      state.flows.pop_back();
      --active_;
    }
    solver_.set_count(c, static_cast<std::uint32_t>(state.flows.size()));
    mark_stale(c);
  }
}

LinkUse::Way Fluid::stalled_way() const {
  for (const State& state : classes_)
    if (!state.flows.empty()) return state.way;
  return LinkUse::kLocal;
}

}  // namespace isleway
