// From a schedule on a fabric to time. Several depths, one interface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "isleway/core/error.hpp"
#include "isleway/engine/schedule.hpp"
#include "isleway/engine/wiring.hpp"
#include "isleway/link/counters.hpp"

namespace isleway {

class Recorder;

/// What one direction of a link carried.
struct LinkLoad {
  LinkId link = 0;
  bool forward = true;
  double wire_bytes = 0;
  double busy = 0;  ///< share of the whole time at full payload rate, 0 to 1
};

/// What one direction of a link counted.
struct LinkCounters {
  LinkId link = 0;
  bool forward = true;
  link::Counters counters;
};

struct Outcome {
  Time time;
  /// How long the busiest rank is at work: from its first action that could begin until its
  /// last one ended, start and finish included. Calls that follow one another, and in which
  /// nobody waits for everybody, end this far apart.
  Time busy;
  std::vector<LinkLoad> loads;  ///< by (link, direction); only links that carried something
  /// Index in `loads` of the busiest link; -1 when nothing crossed a link.
  int bottleneck = -1;
  /// The bottleneck is the sender's threads (a connection's cap), not a link.
  bool limited_by_sender = false;
  /// Share of the time that is latency and overhead rather than moving bytes, 0 to 1.
  double latency_share = 0;
  std::uint64_t events = 0;  ///< simulated; 0 for closed forms
  /// By (link, direction), of engines that know packets.
  std::vector<LinkCounters> counters;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;
  /// Error: a connection without a route (which), or a schedule that waits for ever.
  virtual Result<Outcome> run(const Fabric& fabric, const Schedule& schedule,
                              const Wiring& wiring) const = 0;
};

/// Ways of the flow engine to do less for the same result, to the picosecond.
struct SpeedUps {
  /// Streams that do the same at the same time are simulated once.
  bool symmetry = true;
  /// A job like one before it, under the same load, takes what that took.
  bool memory = true;
  /// A pipeline that repeats itself is jumped over.
  bool period = true;
  static constexpr SpeedUps none() { return {false, false, false}; }
};

/// Closed form: latency of the critical path plus the load of the busiest link.
std::unique_ptr<Engine> make_analytic_engine();
/// Event-driven: every message a fluid flow, links shared max-min fairly.
/// With a `recorder`, which outlives the engine, nothing is sped up: every action happens.
std::unique_ptr<Engine> make_flow_engine(const SpeedUps& speed_ups = {},
                                         Recorder* recorder = nullptr);
/// "analytic" or "flow"; the packet engine needs more (packet.hpp). Error: lists the names.
Result<std::unique_ptr<Engine>> make_engine(std::string_view name, const SpeedUps& speed_ups = {});
/// "all", "none", or names with commas between them. Error: lists the names.
Result<SpeedUps> parse_speed_ups(std::string_view text);

/// The payload rate of one direction of a link for a mover.
Rate payload_rate(const Link& link, Mover mover);

}  // namespace isleway
