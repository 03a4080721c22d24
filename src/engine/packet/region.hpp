// One region of a simulation: the streams that live there, and the ports that lie there.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/packet/transport.hpp"
#include "engine/packet/windows.hpp"
#include "engine/programs.hpp"
#include "engine/recording.hpp"

namespace isleway {

/// As in the flow engine, an action begins, its sender is busy for the dearest overhead, then
/// all its sends leave at once, and it ends with the last of them. Unlike there, credits take as
/// long to come back as the wires are.
class RegionSimulation final : public Process {
 public:
  struct Shared {
    const Schedule& schedule;
    const Wiring& wiring;
    Wires& wires;
    Post& post;
    Recorder* recorder;
    std::vector<std::unique_ptr<RegionSimulation>>& all;  ///< for the recorder
  };
  /// While a message is leaving somewhere in the region.
  struct Moving {
    std::int64_t begin, end;
  };
  /// What one connection sent.
  struct Sent {
    const Route* route;
    Mover mover;
    double bytes;
  };

  /// `streams` may be null: all of them. Otherwise their pipes are connected by connect().
  RegionSimulation(const Shared& shared, std::uint32_t region,
                   std::unique_ptr<const FoldedStreams> streams);

  /// The end of a pipe of `streams`.
  Result<EndId> connect(PipeId pipe);
  void join(EndId end, EndAddress other) { transport_.join(end, other); }
  Progress run_until(std::int64_t limit, unsigned window) override;

  // Once nothing is left:
  /// What went wrong.
  const std::optional<Error>& error() const { return error_; }
  /// Who waits for ever.
  std::optional<Error> stuck() const;
  std::uint64_t events() const { return events_; }
  std::int64_t last_event() const { return now_; }
  std::int64_t last_end() const { return last_end_; }
  /// Of the rank that was at work longest, from its first action's beginning to its last one's end.
  std::int64_t busiest() const;
  const std::vector<Moving>& moving() const { return moving_spans_; }
  std::vector<Sent> sent() const;
  const Transport& transport() const { return transport_; }

 private:
  struct Span {
    std::int64_t begin = -1, end = 0;
  };
  struct Flow {
    PipeId pipe = 0;
    double bytes = 0;
  };

  Result<void> begin();
  Result<void> run_events(std::int64_t limit);
  Result<void> begin_ready();
  Result<void> start_sends(StreamId stream);
  Result<void> sent(PipeId pipe);
  Result<void> end(StreamId stream);
  Result<void> handle(const PacketEvent& event);
  Result<EndId> end_of(PipeId pipe);
  void arrived(EndId end);
  void moves();
  void stops();
  Span* at_work(StreamId stream) {
    const std::size_t agent = stream / static_cast<StreamId>(shared_.schedule.streams());
    return programs_.port(stream).agent < shared_.schedule.ranks() ? &at_work_[agent] : nullptr;
  }

  Shared shared_;
  std::unique_ptr<const FoldedStreams> streams_;
  Recording record_;
  PacketQueue queue_;
  Transport transport_;
  Programs programs_;
  bool begun_ = false;
  std::vector<Span> at_work_;  ///< by agent of the region
  std::vector<Flow> flows_;    ///< by end
  std::vector<EndId> end_of_;  ///< by pipe
  std::vector<StreamId> beginning_;
  std::size_t moving_ = 0;  ///< messages that have not left
  std::vector<Moving> moving_spans_;
  std::uint64_t events_ = 0;
  std::int64_t now_ = 0, last_end_ = 0;
  std::optional<Error> error_;
};

}  // namespace isleway
