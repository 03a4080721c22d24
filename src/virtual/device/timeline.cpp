#include "virtual/device/timeline.hpp"

#include <algorithm>
#include <cmath>

namespace isleway::vgpu {

Timeline::StreamId Timeline::add_stream() {
  streams_.emplace_back();
  streams_.back().last = std::make_shared<WorkState>(WorkState{true, Time()});
  return static_cast<StreamId>(streams_.size() - 1);
}

void Timeline::remove_stream(StreamId stream) { streams_[stream].alive = false; }

std::uint32_t Timeline::add_path(std::span<const Usage> uses, double limit) {
  path_class_.push_back(rates_.add_class(uses, limit));
  return static_cast<std::uint32_t>(path_class_.size() - 1);
}

Ticket Timeline::put(StreamId id, Time now, Work work) {
  Stream& stream = streams_[id];
  for (Ticket& ticket : stream.before_next) work.after.push_back(std::move(ticket));
  stream.before_next.clear();
  auto ticket = std::make_shared<WorkState>();
  if (stream.items.empty()) waiting_.push_back(id);
  if (work.joint) {
    auto& [gathered, ready] = gathering_[work.joint.get()];
    (void)ready;
    (void)gathered;
  }
  stream.items.push_back({std::move(work), now, ticket});
  stream.last = ticket;
  pump();
  return ticket;
}

void Timeline::wait(StreamId id, const Ticket& ticket) {
  streams_[id].before_next.push_back(ticket);
}

Ticket Timeline::last(StreamId id) const { return streams_[id].last; }

std::optional<Time> Timeline::ready_at(Stream& stream) {
  const Item& item = stream.items.front();
  const bool follows = item.work.joint && item.work.joint->group() != nullptr &&
                       item.work.joint->group() == stream.group;
  Time ready = std::max(item.put_at, follows ? stream.free_for_group : stream.free_at);
  for (const Ticket& ticket : item.work.after) {
    if (!ticket->resolved) return std::nullopt;
    ready = std::max(ready, ticket->end);
  }
  return ready;
}

void Timeline::resolve(StreamId id, Time begin, Time end) {
  Stream& stream = streams_[id];
  Item item = std::move(stream.items.front());
  stream.items.pop_front();
  stream.busy = false;
  if (item.work.kind != Work::Kind::flow && end > begin) stream.flowing_since.reset();
  stream.free_at = end;
  stream.group = nullptr;
  item.ticket->end = end;
  item.ticket->resolved = true;
  if (item.work.effect) item.work.effect();
  if (item.work.done) item.work.done(begin, end);
}

/// True when the stream's first item was resolved, so that others may go on.
bool Timeline::step(StreamId id) {
  Stream& stream = streams_[id];
  if (stream.items.empty() || stream.busy) return false;
  const auto ready = ready_at(stream);
  if (!ready) return false;
  const Work& work = stream.items.front().work;
  switch (work.kind) {
    case Work::Kind::fixed: resolve(id, *ready, *ready + work.duration); return true;
    case Work::Kind::latch:
      if (released_ < *ready) return false;
      resolve(id, *ready, std::max(*ready, released_));
      return true;
    case Work::Kind::flow: {
      // A copy is launched while the one before it still moves.
      Time starts = *ready + work.flow.latency;
      if (stream.flowing_since && *ready == stream.free_at)
        starts = std::max(*ready, *stream.flowing_since + work.flow.latency);
      stream.flowing_since = starts;
      moving_.push_back({id, work.flow.path, work.flow.opposite, work.flow.bytes, *ready, starts});
      stream.busy = true;
      return false;
    }
    case Work::Kind::joint: return step_joint(id, *ready);
  }
  return false;
}

bool Timeline::step_joint(StreamId id, Time ready) {
  Joint* joint = streams_[id].items.front().work.joint.get();
  auto& [gathered, latest] = gathering_[joint];
  if (std::ranges::find(gathered, id) == gathered.end()) {
    gathered.push_back(id);
    latest = std::max(latest, ready);
  }
  if (gathered.size() < joint->streams()) return false;
  const auto times = joint->begin(latest);
  if (!times) return false;
  const std::vector<StreamId> members = std::move(gathered);
  const Time begin = latest;
  const void* group = joint->group();
  gathering_.erase(joint);
  for (const StreamId member : members) {
    resolve(member, begin, times->end);
    streams_[member].group = group;
    streams_[member].free_for_group = times->next;
  }
  return true;
}

void Timeline::pump() {
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      while (step(waiting_[i])) progress = true;
    std::erase_if(waiting_, [&](StreamId id) { return streams_[id].items.empty(); });
  }
}

void Timeline::advance(Time now, bool waits) {
  if (waits && released_ < now) {
    released_ = now;
  }
  pump();
  for (auto next = next_flow_event(); next && *next <= now; next = next_flow_event())
    flow_to(*next);
  if (flow_now_ < now && !moving_.empty()) flow_to(now);
  flow_now_ = std::max(flow_now_, now);
}

bool Timeline::run_until(const Ticket& ticket) {
  pump();
  while (!ticket->resolved) {
    const auto next = next_flow_event();
    if (!next) return false;
    flow_to(*next);
  }
  return true;
}

std::optional<Time> Timeline::next_flow_event() const {
  std::optional<Time> next;
  const auto consider = [&](Time time) { next = next ? std::min(*next, time) : time; };
  for (const Moving& flow : moving_) {
    if (!flow.started) {
      consider(std::max(flow.starts, flow_now_));
      continue;
    }
    const double rate = rates_.rate(flow.rate_class);
    if (rate > 0) consider(flow_now_ + Time::seconds(flow.left / rate));
  }
  return next;
}

/// Moves all flows on to `to`, which is no later than their next event.
void Timeline::flow_to(Time to) {
  const double seconds = std::max(0.0, (to - flow_now_).seconds());
  flow_now_ = std::max(flow_now_, to);
  bool changed = false;
  // Less than what moves in a picosecond is nothing.
  for (Moving& flow : moving_) {
    if (!flow.started) continue;
    const double rate = rates_.rate(flow.rate_class);
    flow.left = std::max(0.0, flow.left - rate * seconds);
    if (flow.left <= rate * 1e-12) flow.left = 0;
  }
  for (Moving& flow : moving_) {
    if (flow.started || flow.starts > flow_now_) continue;
    flow.started = changed = true;
  }
  std::vector<Moving> ended;
  std::erase_if(moving_, [&](const Moving& flow) {
    const bool over = flow.started && flow.left <= 0;
    if (over) ended.push_back(flow);
    return over;
  });
  for (const Moving& flow : ended) resolve(flow.stream, flow.began, flow_now_);
  if (changed || !ended.empty()) recount();
  if (!ended.empty()) pump();
}

/// Sets the number of flows of each class anew. Flows against one another take the paths that
/// were made for that.
void Timeline::recount() {
  std::map<std::uint32_t, std::uint32_t> counts;
  std::map<std::uint32_t, bool> in_use;
  for (const Moving& flow : moving_)
    if (flow.started) in_use[flow.path] = true;
  for (Moving& flow : moving_) {
    if (!flow.started) continue;
    // The path after each is the same against traffic.
    const bool against =
        flow.opposite >= 0 && in_use.contains(static_cast<std::uint32_t>(flow.opposite));
    flow.rate_class = path_class_[flow.path + (against ? 1 : 0)];
    ++counts[flow.rate_class];
  }
  for (const std::uint32_t known : path_class_) {
    const auto found = counts.find(known);
    const std::uint32_t count = found == counts.end() ? 0 : found->second;
    if (rates_.count(known) != count) rates_.set_count(known, count);
  }
  rates_.solve();
}

}  // namespace isleway::vgpu
