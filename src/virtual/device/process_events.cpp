// Events of a process, and those that it shares with others.
#include <algorithm>
#include <atomic>

#include "virtual/device/process.hpp"
#include "virtual/world/segment.hpp"

namespace isleway::vgpu {
namespace {

/// An event that several processes know, as it lies in the world.
struct SharedEvent {
  std::atomic<std::uint64_t> recorded, done;  ///< how many times
  std::atomic<std::int64_t> end_ps;           ///< of the last that is done
};

SharedEvent& shared_event(const World& world, std::uint64_t at) {
  return *reinterpret_cast<SharedEvent*>(world.at(at));
}

/// Another process's record of an event.
class Recorded final : public Joint {
 public:
  Recorded(const World& world, std::uint64_t at, std::uint64_t number)
      : world_(world), at_(at), number_(number) {}
  std::size_t streams() const override { return 1; }
  std::optional<JointTimes> begin(Time ready) override {
    const SharedEvent& event = shared_event(world_, at_);
    if (event.done < number_) return std::nullopt;
    const Time end = std::max(ready, Time::ps(event.end_ps));
    return JointTimes{end, end};
  }

 private:
  const World& world_;
  std::uint64_t at_, number_;
};

}  // namespace

Event* Process::make_event(int device, unsigned flags) {
  auto event = std::make_unique<Event>();
  event->device = device;
  event->flags = flags;
  event->timed = (flags & 2u) == 0;
  events_.insert(event.get());
  own_events_.push_back(std::move(event));
  return own_events_.back().get();
}

void Process::destroy(Event* event) {
  events_.erase(event);
  own_events_.remove_if([&](const auto& own) { return own.get() == event; });
}

void Process::record(Event& event, Stream& stream) {
  Work work;
  if (event.shared == 0) {
    event.ticket = put(stream, std::move(work));
    return;
  }
  SharedEvent& shared = shared_event(*world_, event.shared);
  const std::uint64_t number = ++shared.recorded;
  work.done = [this, at = event.shared, number](Time, Time end) {
    SharedEvent& known = shared_event(*world_, at);
    known.end_ps = end.ps();
    known.done = std::max<std::uint64_t>(known.done, number);
    world_->lock().announce();
  };
  event.ticket = put(stream, std::move(work));
  // This process may wait for others next, which wait for the event: it is simulated that far now.
  timeline_.run_until(event.ticket);
}

bool Process::share(Event& event) {
  if (event.shared == 0) event.shared = world_->reserve(sizeof(SharedEvent));
  return event.shared != 0;
}

Event* Process::open_event(int device, std::uint64_t shared) {
  constexpr unsigned no_timing = 2, between_processes = 4;
  Event* event = make_event(device, no_timing | between_processes);
  event->shared = shared;
  event->opened = true;
  return event;
}

const Ticket& Process::ticket(Event& event) {
  if (!event.opened) return event.ticket;
  const std::uint64_t recorded = shared_event(*world_, event.shared).recorded;
  if (recorded == event.seen) return event.ticket;
  event.seen = recorded;
  if (!event.watcher) event.watcher = timeline_.add_stream();
  Work work;
  work.kind = Work::Kind::joint;
  work.joint = std::make_shared<Recorded>(*world_, event.shared, recorded);
  event.ticket = timeline_.put(*event.watcher, Time(), std::move(work));
  return event.ticket;
}

}  // namespace isleway::vgpu
