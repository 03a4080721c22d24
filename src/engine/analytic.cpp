// The closed form. Nothing is simulated:
//
//   start + what must follow one another + the steady state + finish
//
// What must follow one another is the schedule's critical path. In steady state all streams
// progress together, in proportion to what each has to move, so that a link is busy for its
// whole load at full rate, and a stream that uses it cannot be over sooner. Nor can one whose
// threads are slower than that, or which spends its time on overheads, or which waits for
// credits. Overheads are either those on the critical path or those of the busiest stream:
// the larger sum of the two, since the same messages may be meant.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/link_use.hpp"

namespace isleway {
namespace {

/// One connection's share in the call. Times are in seconds.
struct Entry {
  std::uint32_t stream, receiver;
  LinkUse::Way way;
  double wire_bytes, messages;
  double cap, latency;
  double credits;
};

/// Sums over what one stream sends, and what it receives.
struct StreamSum {
  double wire_bytes = 0;
  double overhead = 0;      ///< of all messages, one after another
  double at_own_cap = 0;    ///< to move all bytes, if only its threads mattered
  double slowest_link = 0;  ///< busy time of the busiest link that it uses
  int connections = 0;
  double own = 0;       ///< to do what serves only the stream's own rank
  double fan_out = 1;   ///< sends in one action: they share overhead and run side by side
  double received = 0;  ///< wire bytes
  int senders = 0;
  double fan_in = 1;  ///< receives in one action: they come side by side

  double moving() const { return own + std::max(at_own_cap / fan_out, slowest_link); }
};

class ClosedForm {
 public:
  ClosedForm(const Fabric& fabric, const Schedule& schedule, const Wiring& wiring)
      : schedule_(schedule), wiring_(wiring), links_(fabric) {}

  Result<Outcome> run();

 private:
  /// Numbers a port. Streams that nobody visits take no room.
  std::uint32_t number_of(Port port) {
    std::uint32_t& block = block_of_stream_[static_cast<std::size_t>(port.stream)];
    const auto agents = static_cast<std::uint32_t>(schedule_.agents());
    if (block == kUnused) {
      block = static_cast<std::uint32_t>(streams_.size());
      streams_.resize(streams_.size() + agents);
    }
    return block + static_cast<std::uint32_t>(port.agent);
  }
  Result<void> collect();
  /// How many sends (receives) the actions of a port have that have any.
  struct Fan {
    double out = 1, in = 1;
  };
  Fan fan(Port port) const;
  Result<void> add_busy_times();
  /// Seconds that credits force on the busiest connection.
  double credit_bound() const;
  void add_fair_rates();
  /// Wire bytes per second that a step on this way gets while all others run as well.
  double rate_among_others(LinkUse::Way way, double cap) const;

  const Schedule& schedule_;
  const Wiring& wiring_;
  LinkUse links_;
  std::vector<Entry> entries_;
  static constexpr std::uint32_t kUnused = UINT32_MAX;
  std::vector<std::uint32_t> block_of_stream_;  ///< where a stream's ports start in streams_
  std::vector<StreamSum> streams_;
  std::vector<double> way_seconds_;  ///< busy time of the busiest link of each way
  std::vector<double> way_rate_;     ///< of one flow among all others, by way
};

ClosedForm::Fan ClosedForm::fan(Port port) const {
  constexpr std::int64_t kSamples = 4;
  const std::int64_t count = schedule_.action_count(port);
  Action action;
  double sends = 0, sending = 0, receives = 0, receiving = 0;
  for (std::int64_t i = 0; i < std::min(kSamples, count); ++i) {
    schedule_.action(port, count * i / kSamples, action);
    sends += static_cast<double>(action.send.size());
    sending += action.send.empty() ? 0 : 1;
    receives += static_cast<double>(action.recv.size());
    receiving += action.recv.empty() ? 0 : 1;
  }
  return {sending > 0 ? sends / sending : 1, receiving > 0 ? receives / receiving : 1};
}

Result<void> ClosedForm::collect() {
  block_of_stream_.assign(static_cast<std::size_t>(schedule_.streams()), kUnused);
  std::optional<Error> error;
  schedule_.alike_loads([&](const Load& load, int alike) {
    if (error || load.messages == 0) return;
    if (load.from == load.to) {
      streams_[number_of(load.from)].own +=
          static_cast<double>(load.bytes) / wiring_.own_rate(load.reduces).bytes_per_second();
      return;
    }
    const auto connection = checked_connection(schedule_, wiring_, load.from, load.to);
    if (!connection) {
      error = connection.error();
      return;
    }
    const Connection& c = *connection;
    Entry entry;
    entry.stream = number_of(load.from);
    entry.receiver = number_of(load.to);
    entry.way = links_.way(c.route, c.mover);
    entry.messages = static_cast<double>(load.messages);
    entry.wire_bytes = static_cast<double>(load.bytes) * c.wire_expansion;
    entry.cap = c.cap.bytes_per_second() * c.wire_expansion;
    entry.latency = c.latency.seconds();
    entry.credits = c.credits;
    entries_.push_back(entry);
    links_.add(entry.way, entry.wire_bytes * alike);

    StreamSum& stream = streams_[entry.stream];
    stream.wire_bytes += entry.wire_bytes;
    stream.overhead += entry.messages * c.overhead.seconds();
    stream.at_own_cap += entry.wire_bytes / entry.cap;
    if (++stream.connections == 2) stream.fan_out = fan(load.from).out;
    StreamSum& receiver = streams_[entry.receiver];
    receiver.received += entry.wire_bytes;
    if (++receiver.senders == 2) receiver.fan_in = fan(load.to).in;
  });
  if (error) return tl::unexpected(*error);
  return {};
}

Result<void> ClosedForm::add_busy_times() {
  const std::vector<double> busy = links_.busy_seconds();
  way_seconds_.assign(links_.way_count(), 0);
  for (LinkUse::Way way = 0; way < links_.way_count(); ++way)
    for (const Usage& use : links_.uses(way))
      way_seconds_[way] = std::max(way_seconds_[way], busy[use.resource]);
  for (const Entry& entry : entries_) {
    if (std::isinf(way_seconds_[entry.way]))
      return fail("a transfer never ends: " +
                      links_.link_name_of(*links_.dead_resource(links_.uses(entry.way))) +
                      " carries nothing",
                  "links that are up on every route");
    double& slowest = streams_[entry.stream].slowest_link;
    slowest = std::max(slowest, way_seconds_[entry.way]);
  }
  return {};
}

double ClosedForm::credit_bound() const {
  double bound = 0;
  for (const Entry& entry : entries_) {
    if (entry.messages <= entry.credits) continue;
    const StreamSum& stream = streams_[entry.stream];
    // A credit is back after the message was moved, has arrived, and was passed on.
    const double part = stream.wire_bytes > 0
                            ? std::min(1.0, entry.wire_bytes * stream.fan_out / stream.wire_bytes)
                            : 1.0;
    const double moving = part * (stream.moving() + stream.overhead / stream.fan_out);
    bound = std::max(bound, (2 * moving + entry.messages * entry.latency) / entry.credits);
  }
  return bound;
}

// The streams with the most to move are always under way and set the fair rate on a link; a
// stream with less gets that rate as well whenever it has something to send. The same holds of
// those that receive: senders which a stream hears in turn are not there at the same time.
void ClosedForm::add_fair_rates() {
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  std::vector<double> busiest(links_.way_count(), 0);
  for (const Entry& entry : entries_) {
    const StreamSum &sender = streams_[entry.stream], &receiver = streams_[entry.receiver];
    const double seconds = way_seconds_[entry.way];
    if (seconds > 0)
      busiest[entry.way] =
          std::max({busiest[entry.way], sender.wire_bytes / sender.fan_out / seconds,
                    receiver.received / receiver.fan_in / seconds});
  }
  std::vector<double> on_link(links_.capacities().size(), 0);
  for (LinkUse::Way way = 0; way < links_.way_count(); ++way)
    for (const Usage& use : links_.uses(way))
      on_link[use.resource] = std::max(on_link[use.resource], busiest[way]);
  way_rate_.assign(links_.way_count(), kUnlimited);
  for (LinkUse::Way way = 0; way < links_.way_count(); ++way)
    for (const Usage& use : links_.uses(way))
      way_rate_[way] = std::min(way_rate_[way], on_link[use.resource]);
}

double ClosedForm::rate_among_others(LinkUse::Way way, double cap) const {
  // A way that is on the path but carries nothing has no rate of its own.
  const bool known = way < way_rate_.size() && way_rate_[way] > 0;
  return known ? std::min(cap, way_rate_[way]) : cap;
}

Result<Outcome> ClosedForm::run() {
  if (auto collected = collect(); !collected) return tl::unexpected(collected.error());
  if (auto added = add_busy_times(); !added) return tl::unexpected(added.error());
  add_fair_rates();

  double path_moving = 0, path_latency = 0, path_overhead = 0;
  for (const CriticalStep& step : schedule_.critical_path()) {
    const auto connection = checked_connection(schedule_, wiring_, step.from, step.to);
    if (!connection) return tl::unexpected(connection.error());
    const Connection& c = *connection;
    const double rate = rate_among_others(links_.way(c.route, c.mover),
                                          c.cap.bytes_per_second() * c.wire_expansion) /
                        c.wire_expansion;
    path_overhead += step.repeats * c.overhead.seconds();
    path_moving += step.repeats * static_cast<double>(step.bytes) / rate;
    if (step.hidden_bytes == CriticalStep::kAllHidden) continue;
    const double hiding = static_cast<double>(step.hidden_bytes) / rate +
                          static_cast<double>(step.hidden_messages) * c.overhead.seconds();
    path_latency += step.repeats * std::max(0.0, c.latency.seconds() - hiding);
  }

  double steady = path_overhead, moving = 0, busy = 0;
  bool by_sender = false;
  for (const StreamSum& stream : streams_) {
    const double own_overhead = stream.overhead / stream.fan_out;
    busy = std::max(busy, own_overhead + stream.moving());
    const double overhead = std::max(path_overhead, own_overhead);
    if (overhead + stream.moving() <= steady) continue;
    steady = overhead + stream.moving();
    moving = stream.moving();
    by_sender = stream.at_own_cap / stream.fan_out > stream.slowest_link;
  }
  const double by_credits = credit_bound();
  steady = std::max(steady, by_credits);

  const double around = (wiring_.start() + wiring_.finish()).seconds();
  const double seconds = around + path_latency + path_moving + steady;
  if (!(seconds < 9e6))
    return fail("the call would take more than 100 days", "a size that this machine can move");
  Outcome outcome;
  outcome.time = Time::seconds(seconds);
  outcome.busy = Time::seconds(around + std::max(busy, by_credits));
  outcome.limited_by_sender = by_sender;
  if (seconds > 0)
    outcome.latency_share = std::clamp(1 - (moving + path_moving) / seconds, 0.0, 1.0);
  links_.report(outcome);
  return outcome;
}

class AnalyticEngine final : public Engine {
 public:
  std::string name() const override { return "analytic"; }
  Result<Outcome> run(const Fabric& fabric, const Schedule& schedule,
                      const Wiring& wiring) const override {
    return ClosedForm(fabric, schedule, wiring).run();
  }
};

}  // namespace

std::unique_ptr<Engine> make_analytic_engine() { return std::make_unique<AnalyticEngine>(); }

}  // namespace isleway
