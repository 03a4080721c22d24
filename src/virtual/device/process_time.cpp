// The part of a process that work goes through: put into streams, waited for, asked about.
#include <algorithm>

#include "virtual/device/process.hpp"
#include "virtual/world/segment.hpp"

namespace isleway::vgpu {
namespace {

/// How long other processes are waited for before a look at whether they still live.
constexpr int kLookMs = 100;

}  // namespace

Ticket Process::put(Stream& stream, Work work) {
  polled_.clear();
  // The default stream of a device waits for all its streams, and they for it.
  if (stream.is_default) {
    for (const Stream* other : streams_)
      if (other->device == stream.device && other != &stream && other->waits_for_default)
        work.after.push_back(timeline_.last(other->id));
  } else if (stream.waits_for_default) {
    work.after.push_back(timeline_.last(default_stream(stream.device)->id));
  }
  std::erase_if(work.after,
                [](const Ticket& ticket) { return ticket->resolved && ticket->end == Time(); });
  const GpuId gpu = this->gpu(stream.device);
  work.done = [this, gpu, told = std::move(work.done)](Time begin, Time end) {
    world_->count_busy(gpu, end - begin);
    if (told) told(begin, end);
  };
  const bool joint = work.kind == Work::Kind::joint;
  const Time now = clock_->now();
  timeline_.advance(now, false);
  Ticket ticket = timeline_.put(stream.id, now, std::move(work));
  world_->set_clock(now);
  if (joint) world_->lock().announce();
  return ticket;
}

std::string Process::synchronize(const Ticket& ticket) {
  polled_.clear();
  timeline_.advance(clock_->now(), true);
  while (!timeline_.run_until(ticket)) {
    const std::uint32_t seen = world_->lock().announced();
    // Once more, now that a change after this would be noticed.
    if (timeline_.run_until(ticket)) break;
    mutex_.unlock();
    world_->lock().wait(seen, kLookMs);
    mutex_.lock();
    for (const Watch& watch : watches_)
      if (std::string why = watch(); !why.empty() && !timeline_.run_until(ticket)) return why;
  }
  do_deferred();
  clock_->wait_until(ticket->end);
  world_->set_clock(clock_->now());
  return {};
}

std::string Process::synchronize_device(int device) {
  std::string why;
  for (const Stream* stream : std::vector(streams_.begin(), streams_.end()))
    if (why.empty() && stream->device == device) why = synchronize(timeline_.last(stream->id));
  return why;
}

bool Process::poll(const Ticket& ticket) {
  const Time now = clock_->now();
  timeline_.advance(now, true);
  const auto is_done = [&](const Ticket& t) { return t->resolved && t->end <= clock_->now(); };
  if (is_done(ticket)) {
    do_deferred();
    std::erase(polled_, ticket);
    return true;
  }
  if (std::ranges::find(polled_, ticket) == polled_.end()) {
    polled_.push_back(ticket);
    return false;
  }
  if (!clock_->simulated()) return false;
  // Asked again, with nothing done in between: time goes on to the next thing asked about.
  for (int tries = 0; tries < 2; ++tries) {
    std::optional<Time> next;
    for (const Ticket& asked : polled_)
      if (timeline_.run_until(asked)) next = next ? std::min(*next, asked->end) : asked->end;
    if (next) {
      clock_->wait_until(*next);
      world_->set_clock(*next);
      break;
    }
    const std::uint32_t seen = world_->lock().announced();
    mutex_.unlock();
    world_->lock().wait(seen, kLookMs);
    mutex_.lock();
    for (const Watch& watch : watches_) watch();
  }
  const bool done = is_done(ticket);
  std::erase_if(polled_, is_done);
  return done;
}

}  // namespace isleway::vgpu
