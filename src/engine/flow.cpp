// The event-driven engine: every stream runs its program, every message is a fluid flow.
#include <algorithm>
#include <limits>
#include <queue>

#include "engine/fluid.hpp"
#include "engine/programs.hpp"

namespace isleway {
namespace {

/// After its action began, a sender is busy for the dearest overhead among its sends; then
/// all of them flow at once. The action ends with the last of its flows, and each message
/// arrives its connection's latency after its flow ended.
class Simulation {
 public:
  Simulation(const Fabric& fabric, const Schedule& schedule, const Wiring& wiring)
      : wiring_(wiring),
        links_(fabric),
        fluid_(links_),
        programs_(schedule, wiring),
        streams_(schedule.streams()),
        at_work_(static_cast<std::size_t>(schedule.ranks())) {}

  Result<Outcome> run();

 private:
  struct Timer {
    std::int64_t time;
    std::uint64_t order;
    enum Kind : std::uint32_t { send, arrive } kind;
    std::uint32_t id;  ///< the sending stream, or the pipe
    bool operator>(const Timer& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  /// From the beginning of a rank's first action to the end of its last.
  struct Span {
    std::int64_t begin = -1, end = 0;
  };

  void at(std::int64_t time, Timer::Kind kind, std::uint32_t id) {
    timers_.push({time, timers_set_++, kind, id});
  }
  Result<void> begin_ready();
  Result<void> start_flows(StreamId stream);
  Result<void> sent(PipeId pipe);
  Result<void> end(StreamId stream);
  Result<void> run_tick();
  std::int64_t next_time();
  /// What the action that begins takes for what serves only its own rank.
  std::int64_t own_work(StreamId stream) const {
    const auto [bytes, reduces] = programs_.own_bytes(stream);
    return bytes == 0 ? 0 : transfer_time(Bytes(bytes), wiring_.own_rate(reduces)).ps();
  }
  /// Null for streams of agents in the network.
  Span* at_work(StreamId stream) {
    const std::size_t agent = stream / static_cast<StreamId>(streams_);
    return agent < at_work_.size() ? &at_work_[agent] : nullptr;
  }
  Outcome outcome() const;

  const Wiring& wiring_;
  LinkUse links_;
  Fluid fluid_;
  Programs programs_;
  int streams_;
  std::vector<Span> at_work_;  ///< by rank
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::uint64_t timers_set_ = 0, events_ = 0;
  std::vector<std::uint32_t> ended_flows_;
  std::vector<StreamId> beginning_;
  std::int64_t now_ = 0, last_end_ = 0, idle_ = 0;
};

Result<void> Simulation::begin_ready() {
  // Beginning and ending actions that take no time makes others ready within the tick.
  while (!programs_.ready().empty()) {
    beginning_.swap(programs_.ready());
    programs_.ready().clear();
    for (const StreamId stream : beginning_) {
      programs_.begin(stream);
      if (Span* span = at_work(stream); span != nullptr && span->begin < 0) span->begin = now_;
      std::int64_t overhead = 0;
      for (const PipeId pipe : programs_.sends(stream))
        overhead = std::max(overhead, programs_.pipe(pipe).connection.overhead.ps());
      overhead += own_work(stream);
      if (overhead > 0) {
        at(now_ + overhead, Timer::send, stream);
      } else if (auto started = start_flows(stream); !started) {
        return started;
      }
    }
  }
  return {};
}

Result<void> Simulation::start_flows(StreamId stream) {
  const auto sends = programs_.sends(stream);
  if (sends.empty()) return end(stream);
  programs_.flowing(stream) = static_cast<std::uint32_t>(sends.size());
  for (const PipeId id : sends) {
    Pipe& pipe = programs_.pipe(id);
    const Connection& c = pipe.connection;
    if (pipe.flow_class == UINT32_MAX)
      pipe.flow_class = fluid_.flow_class(links_.way(c.route, c.mover),
                                          c.cap.bytes_per_second() * c.wire_expansion);
    const double wire = static_cast<double>(programs_.bytes(stream)) * c.wire_expansion;
    if (wire > 0 && !fluid_.is_instant(pipe.flow_class)) {
      fluid_.start(pipe.flow_class, wire, id, now_);
    } else if (auto result = sent(id); !result) {  // ends the action only with the last
      return result;
    }
  }
  return {};
}

Result<void> Simulation::sent(PipeId id) {
  ++events_;
  const Pipe& pipe = programs_.pipe(id);
  const StreamId sender = pipe.from;
  at(now_ + pipe.connection.latency.ps(), Timer::arrive, id);
  return --programs_.flowing(sender) == 0 ? end(sender) : Result<void>{};
}

Result<void> Simulation::end(StreamId stream) {
  last_end_ = now_;
  if (Span* span = at_work(stream)) span->end = now_;
  return programs_.end(stream);
}

std::int64_t Simulation::next_time() {
  return std::min(fluid_.next_end(), timers_.empty() ? Fluid::kNever : timers_.top().time);
}

Result<void> Simulation::run_tick() {
  ended_flows_.clear();
  fluid_.finish(now_, ended_flows_);
  for (const PipeId pipe : ended_flows_)
    if (auto result = sent(pipe); !result) return result;
  if (auto result = begin_ready(); !result) return result;
  while (!timers_.empty() && timers_.top().time == now_) {
    const Timer timer = timers_.top();
    timers_.pop();
    ++events_;
    if (timer.kind == Timer::arrive) {
      programs_.arrive(timer.id);
    } else if (auto result = start_flows(timer.id); !result) {
      return result;
    }
    if (auto result = begin_ready(); !result) return result;
  }
  fluid_.settle(now_);
  return {};
}

Result<Outcome> Simulation::run() {
  if (auto loaded = programs_.load_all(); !loaded) return tl::unexpected(loaded.error());
  if (auto begun = begin_ready(); !begun) return tl::unexpected(begun.error());
  fluid_.settle(now_);
  for (std::int64_t time; (time = next_time()) != Fluid::kNever;) {
    if (fluid_.idle()) idle_ += time - now_;
    now_ = time;
    if (auto result = run_tick(); !result) return tl::unexpected(result.error());
  }
  if (!fluid_.idle()) {
    const std::string dead = links_.dead_link(fluid_.stalled_way());
    return fail("a transfer never ends" + (dead.empty() ? "" : ": " + dead + " carries nothing"),
                "links that are up on every route");
  }
  if (!programs_.finished()) return tl::unexpected(programs_.stuck());
  return outcome();
}

Outcome Simulation::outcome() const {
  Outcome result;
  const Time around = wiring_.start() + wiring_.finish();
  result.time = around + Time::ps(last_end_);
  std::int64_t busy = 0;
  for (const Span& span : at_work_)
    busy = std::max(busy, span.end - std::max<std::int64_t>(span.begin, 0));
  result.busy = around + Time::ps(busy);
  result.events = events_;
  result.limited_by_sender = fluid_.capped_share() > 0.5;
  if (result.time > Time())
    result.latency_share = static_cast<double>((around + Time::ps(idle_)).ps()) /
                           static_cast<double>(result.time.ps());
  links_.report(result);
  return result;
}

class FlowEngine final : public Engine {
 public:
  std::string name() const override { return "flow"; }
  Result<Outcome> run(const Fabric& fabric, const Schedule& schedule,
                      const Wiring& wiring) const override {
    return Simulation(fabric, schedule, wiring).run();
  }
};

}  // namespace

std::unique_ptr<Engine> make_flow_engine() { return std::make_unique<FlowEngine>(); }

}  // namespace isleway
