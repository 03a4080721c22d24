#include "engine/fluid.hpp"

#include <algorithm>
#include <cmath>

namespace isleway {
namespace {

constexpr int kFraction = 54;     // bits of a byte in an amount
constexpr int kStartedBits = 10;  // bits of a byte in a sum of sizes
constexpr double kPerPicosecond = 1e-12 * 0x1p54;
constexpr double kFastest = 0x1p62;
constexpr std::int64_t kLatestTime = 9'000'000'000'000'000'000;

// Two computations of the same instant differ by far less than this part of a picosecond;
// rounding up from a little below keeps them in the same tick.
std::int64_t slack(std::int64_t rate) { return rate >> 10; }

}  // namespace

Fluid::Class Fluid::add_class(std::span<const Usage> uses, double wire_cap) {
  State state;
  state.instant = uses.empty() && std::isinf(wire_cap);
  classes_.push_back(state);
  started_.push_back(0);
  if (!std::isinf(wire_cap)) capped_bytes_.resize(classes_.size());
  return solver_.add_class(uses, wire_cap);
}

void Fluid::reserve(std::size_t classes, std::size_t uses, std::size_t flows) {
  classes_.reserve(classes);
  started_.reserve(classes);
  flows_.reserve(flows);
  solver_.reserve(classes, uses);
}

void Fluid::advance(Class c, std::int64_t now) {
  State& state = classes_[c];
  const std::int64_t passed = now - state.at;
  state.at = now;
  if (passed == 0 || state.rate == 0) return;
  state.served += static_cast<Amount>(state.rate) * passed;
  if (state.capped && c < capped_bytes_.size())
    capped_bytes_[c] +=
        static_cast<double>(state.rate) * 0x1p-54 * static_cast<double>(passed) * state.count;
}

void Fluid::mark_stale(Class c) {
  if (classes_[c].stale) return;
  classes_[c].stale = true;
  stale_.push_back(c);
}

std::uint32_t Fluid::meld(std::uint32_t a, std::uint32_t b) {
  if (flows_[b].end < flows_[a].end) std::swap(a, b);
  flows_[b].sibling = flows_[a].child;
  flows_[a].child = b;
  return a;
}

void Fluid::start(Class c, double wire_bytes, Token token, std::uint32_t copies, std::int64_t now) {
  State& state = classes_[c];
  advance(c, now);
  if (state.first == kNone) state.served = 0;
  const auto size = static_cast<std::int64_t>(wire_bytes * (1 << kStartedBits) + 0.5);
  const Flow flow{state.served + (static_cast<Amount>(size) << (kFraction - kStartedBits)), token,
                  kNone, kNone};
  std::uint32_t id = free_;
  if (id == kNone) {
    id = static_cast<std::uint32_t>(flows_.size());
    flows_.push_back(flow);
  } else {
    free_ = flows_[id].sibling;
    flows_[id] = flow;
  }
  const std::uint32_t first = state.first == kNone ? id : meld(state.first, id);
  if (first != state.first) mark_stale(c);
  state.first = first;
  started_[c] += size * copies;
  state.count += copies;
  active_ += copies;
  solver_.set_count(c, state.count);
}

void Fluid::pop(State& state) {
  const std::uint32_t gone = state.first;
  // Pairs from left to right, then all into one from right to left.
  melding_.clear();
  for (std::uint32_t a = flows_[gone].child; a != kNone;) {
    const std::uint32_t b = flows_[a].sibling;
    if (b == kNone) {
      melding_.push_back(a);
      break;
    }
    const std::uint32_t next = flows_[b].sibling;
    melding_.push_back(meld(a, b));
    a = next;
  }
  std::uint32_t first = kNone;
  for (; !melding_.empty(); melding_.pop_back())
    first = first == kNone ? melding_.back() : meld(melding_.back(), first);
  if (first != kNone) flows_[first].sibling = kNone;
  state.first = first;
  flows_[gone].sibling = free_;
  free_ = gone;
}

void Fluid::finish(Class c, std::int64_t now, std::vector<Token>& tokens) {
  State& state = classes_[c];
  advance(c, now);
  const Amount due = state.served + state.rate / 2;
  while (state.first != kNone && flows_[state.first].end <= due) {
    tokens.push_back(flows_[state.first].token);
    pop(state);
  }
  mark_stale(c);
}

void Fluid::left(Class c, std::uint32_t copies) {
  State& state = classes_[c];
  state.count -= copies;
  active_ -= copies;
  solver_.set_count(c, state.count);
}

void Fluid::share(std::int64_t now) {
  for (const Class c : solver_.solve()) {
    advance(c, now);
    State& state = classes_[c];
    state.rate =
        static_cast<std::int64_t>(std::min(solver_.rate(c) * kPerPicosecond + 0.5, kFastest));
    state.capped = solver_.capped(c);
    mark_stale(c);
  }
}

bool Fluid::predict(Prediction& next) {
  State& state = classes_[next.c];
  state.stale = false;
  state.version = (state.version + 1) & kVersionMask;
  next.version = state.version;
  if (state.first == kNone || state.rate <= 0) return false;
  __extension__ typedef unsigned __int128 Unsigned;
  const Amount missing = flows_[state.first].end - state.served - slack(state.rate);
  Unsigned wait = 0;
  if (missing > 0) {
    const auto rate = static_cast<std::uint64_t>(state.rate);
    wait = (static_cast<Unsigned>(missing) + (rate - 1)) / rate;
  }
  if (wait > static_cast<Unsigned>(kLatestTime - state.at)) return false;
  next.time = state.at + static_cast<std::int64_t>(wait);
  return true;
}

void Fluid::append_state(std::int64_t now, std::vector<std::uint64_t>& words) {
  std::vector<std::uint32_t> visiting;
  std::vector<std::pair<Amount, std::uint32_t>> missing;
  for (Class c = 0; c < classes_.size(); ++c) {
    State& state = classes_[c];
    if (state.first == kNone) continue;
    advance(c, now);
    words.push_back(std::uint64_t{c} << 32 | state.count);
    words.push_back(static_cast<std::uint64_t>(state.rate));
    missing.clear();
    visiting.assign(1, state.first);
    while (!visiting.empty()) {
      const std::uint32_t flow = visiting.back();
      visiting.pop_back();
      missing.emplace_back(flows_[flow].end - state.served, flows_[flow].token.id);
      if (flows_[flow].child != kNone) visiting.push_back(flows_[flow].child);
      if (flow != state.first && flows_[flow].sibling != kNone)
        visiting.push_back(flows_[flow].sibling);
    }
    std::ranges::sort(missing);
    for (const auto& [amount, id] : missing) {
      words.push_back(static_cast<std::uint64_t>(amount >> 64));
      words.push_back(static_cast<std::uint64_t>(amount));
      words.push_back(id);
    }
  }
}

void Fluid::shift(std::int64_t later) {
  for (State& state : classes_)
    if (state.first != kNone) state.at += later;
}

Fluid::Class Fluid::stalled_class() const {
  Class c = 0;
  while (c + 1 < classes_.size() && classes_[c].first == kNone) ++c;
  return c;
}

double Fluid::bytes(Class c) const {
  return static_cast<double>(started_[c]) / (1 << kStartedBits);
}

}  // namespace isleway
