// The event-driven engine: every stream runs its program, every message is a fluid flow.
#pragma once

#include <memory>
#include <vector>

#include "engine/carriers.hpp"
#include "engine/fluid.hpp"
#include "engine/job_memory.hpp"
#include "engine/period.hpp"
#include "engine/recording.hpp"
#include "engine/symmetry.hpp"

namespace isleway {

/// After its action began, a sender is busy for the dearest overhead among its sends; then
/// all of them flow at once. The action ends with the last of its flows, and each message
/// arrives its connection's latency after its flow ended.
class Simulation {
 public:
  /// What stays as it is while simulations of one scenario are tried.
  struct Setting {
    const Scenario& scenario;
    const Calls& calls;
    SpeedUps speed_ups;
    const Folding* folding = nullptr;  ///< with the links that it numbered
    Recorder* recorder = nullptr;      ///< of one job alone, without speed-ups
  };
  /// `forget`: calls of which several are under way at a time, as an earlier try showed.
  Simulation(const Setting& setting, LinkUse links, const std::vector<bool>& forget);

  Result<void> run();
  /// After an error: the call of which it showed that several are under way at a time. The
  /// simulation is to be tried again without remembering it.
  std::optional<std::uint32_t> meets_itself() const { return meets_itself_; }

  const std::vector<JobOutcome>& jobs() const { return jobs_; }
  std::vector<Time> flow_ends() && { return std::move(flow_ends_); }
  Time last_time() const { return Time::ps(now_); }
  std::uint64_t events() const { return events_; }
  /// While no flow was under way.
  Time idle() const { return Time::ps(idle_); }
  /// More than half of all bytes moved at their connection's cap.
  bool limited_by_sender() const;
  /// With all bytes added; once.
  const LinkUse& loaded_links();

 private:
  struct Event {
    enum Kind : std::uint32_t { flow_end, send, arrive, job_begin, job_go, job_end, flow, change };
    std::int64_t time;
    std::uint32_t id;  ///< of the class, stream, pipe, job, flow or change
    Kind kind : 4;
    std::uint32_t detail : 28;  ///< version of the prediction, or job
  };
  static constexpr std::uint32_t kDetailMask = Fluid::kVersionMask;
  static constexpr std::uint32_t kTrafficOwner = UINT32_MAX;

  /// From the beginning of a stream's first action to the end of its last.
  struct Span {
    std::int64_t begin = -1, end = 0;
  };
  /// A job under way.
  struct Run {
    Run(const Job& what, const FoldedStreams* streams)
        : job(what), folded(streams), programs(*what.schedule, *what.wiring, streams) {}
    const Job& job;
    const FoldedStreams* folded;
    Programs programs;
    std::int64_t begin = 0;
    std::vector<std::pair<Fluid::Class, Fluid::Moved>> moved_before;  ///< where that is asked
    std::vector<Span> at_work;                                        ///< by stream
    std::uint32_t under_way = 0;                                      ///< messages
    bool over = false;
  };

  void at(std::int64_t time, Event::Kind kind, std::uint32_t id, std::uint32_t detail = 0) {
    queue_.push({time, id, kind, detail & kDetailMask});
  }
  bool counts(const Event& event) const {
    return event.kind != Event::flow_end || fluid_.holds(event.id, event.detail);
  }

  void schedule_all();
  // False: error_ says what is wrong.
  bool fail_with(const Error& error) {
    error_ = error;
    return false;
  }
  bool handle(const Event& event);
  void begin_job(std::uint32_t job);
  bool load_job(std::uint32_t job);
  bool go(std::uint32_t job);
  void end_job(std::uint32_t job);
  void close(std::uint32_t job);
  void remember(std::uint32_t call, std::uint32_t job);
  std::int64_t busiest(const Run& run) const;
  void look_for_period();

  bool begin_ready(std::uint32_t job);
  bool start_flows(std::uint32_t job, StreamId stream);
  bool sent(std::uint32_t job, PipeId pipe);
  bool end_action(Run& run, StreamId stream);
  bool end_flows(Fluid::Class c);
  std::int64_t own_work(const Run& run, StreamId stream) const;

  Fluid::Class class_of(const Connection& connection);
  Fluid::Class class_of_way(std::uint32_t way);
  Fluid::Class new_class(std::span<const Usage> uses, double cap);
  void start_traffic();
  void apply(const LinkChange& change);
  void limit(const LinkChange& change);
  Error standstill() const;

  Setting setting_;
  const Scenario& scenario_;
  Recording record_;
  LinkUse links_;
  Fluid fluid_;
  EventQueue<Event> queue_;
  JobMemory memory_;
  std::optional<std::uint32_t> meets_itself_;
  std::optional<Error> error_;
  std::optional<Period> period_;  ///< of the only job under way
  std::size_t live_ = 0;          ///< jobs that are simulated now

  std::vector<std::unique_ptr<Run>> runs_;  ///< by job
  std::vector<JobOutcome> jobs_;
  std::vector<std::uint32_t> waits_for_;             ///< by job: jobs that have not ended
  std::vector<std::vector<std::uint32_t>> waiting_;  ///< by job: those that wait for it
  std::size_t jobs_left_ = 0;

  Carriers carriers_;
  std::vector<Fluid::Class> class_of_carrier_;
  std::vector<Fluid::Class> class_of_way_;  ///< of traffic
  std::vector<LinkChange> in_force_;
  std::size_t resources_ = 0;

  std::size_t next_flow_ = 0;
  std::vector<Time> flow_ends_;
  std::vector<Fluid::Token> ended_;
  std::vector<StreamId> beginning_;
  std::vector<Usage> uses_;
  std::int64_t now_ = 0, idle_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace isleway
