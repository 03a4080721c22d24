// The packet engine: every stream runs its program, every message is packets.
#include "isleway/engine/packet.hpp"

#include <algorithm>
#include <cmath>

#include "engine/link_use.hpp"
#include "engine/packet/transport.hpp"
#include "engine/programs.hpp"
#include "engine/recording.hpp"

namespace isleway {
namespace {

/// As in the flow engine, an action begins, its sender is busy for the dearest overhead, then
/// all its sends leave at once, and it ends with the last of them.
class PacketSimulation {
 public:
  PacketSimulation(const PacketOptions& options, const Fabric& fabric, const Schedule& schedule,
                   const Wiring& wiring, Recorder* recorder)
      : wiring_(wiring),
        record_(recorder, wiring.start()),
        links_(fabric),
        transport_(fabric, options, queue_),
        programs_(schedule, wiring),
        streams_(schedule.streams()),
        at_work_(static_cast<std::size_t>(schedule.ranks())) {}

  Result<Outcome> run();

 private:
  /// From the beginning of a rank's first action to the end of its last.
  struct Span {
    std::int64_t begin = -1, end = 0;
  };
  struct Flow {
    PipeId pipe = 0;
    LinkUse::Way way = LinkUse::kLocal;
  };

  Result<void> begin_ready();
  Result<void> start_sends(StreamId stream);
  Result<void> sent(PipeId pipe);
  Result<void> end(StreamId stream);
  Result<void> handle(const PacketEvent& event);
  Result<Transport::ConnectionId> connection_of(PipeId pipe);
  Span* at_work(StreamId stream) {
    const std::size_t agent = stream / static_cast<StreamId>(streams_);
    return agent < at_work_.size() ? &at_work_[agent] : nullptr;
  }
  Outcome outcome() const;

  const Wiring& wiring_;
  Recording record_;
  LinkUse links_;
  Transport::Queue queue_;
  Transport transport_;
  Programs programs_;
  int streams_;
  std::vector<Span> at_work_;                         ///< by rank
  std::vector<Flow> flows_;                           ///< by the transport's connection
  std::vector<Transport::ConnectionId> connections_;  ///< by pipe
  std::vector<StreamId> beginning_;
  std::size_t moving_ = 0;  ///< messages that have not left
  std::uint64_t events_ = 0;
  std::int64_t now_ = 0, last_end_ = 0, idle_ = 0;
};

Result<void> PacketSimulation::begin_ready() {
  // Beginning and ending actions that take no time makes others ready within the tick.
  while (!programs_.ready().empty()) {
    beginning_.swap(programs_.ready());
    programs_.ready().clear();
    for (const StreamId stream : beginning_) {
      programs_.begin(stream);
      record_.began(stream, now_);
      if (Span* span = at_work(stream); span != nullptr && span->begin < 0) span->begin = now_;
      std::int64_t busy = 0;
      for (std::size_t i = 0; i < programs_.sends(stream); ++i)
        busy =
            std::max(busy, programs_.pipe(programs_.send_pipe(stream, i)).connection.overhead.ps());
      if (const auto [bytes, reduces] = programs_.own_bytes(stream); bytes > 0)
        busy += transfer_time(Bytes(bytes), wiring_.own_rate(reduces)).ps();
      if (busy > 0) queue_.push({now_ + busy, stream, PacketEvent::act, 0});
      else if (auto started = start_sends(stream); !started) return started;
    }
  }
  return {};
}

Result<Transport::ConnectionId> PacketSimulation::connection_of(PipeId id) {
  if (connections_.size() <= id) connections_.resize(id + 1, UINT32_MAX);
  if (connections_[id] != UINT32_MAX) return connections_[id];
  const Connection& c = programs_.pipe(id).connection;
  const auto made = transport_.connect(c);
  if (!made) return tl::unexpected(made.error());
  flows_.push_back({id, links_.way(c.route, c.mover)});
  return connections_[id] = *made;
}

Result<void> PacketSimulation::start_sends(StreamId stream) {
  const std::size_t sends = programs_.sends(stream);
  if (sends == 0) return end(stream);
  programs_.flowing(stream) = static_cast<std::uint32_t>(sends);
  const auto payload = static_cast<double>(programs_.bytes(stream));
  for (std::size_t i = 0; i < sends; ++i) {
    const PipeId id = programs_.send_pipe(stream, i);
    const auto connection = connection_of(id);
    if (!connection) return tl::unexpected(connection.error());
    const Connection& c = programs_.pipe(id).connection;
    const auto bytes = static_cast<std::int64_t>(std::ceil(payload * c.wire_expansion));
    if (bytes > 0) {
      ++moving_;
      record_.sends(programs_, id, static_cast<double>(bytes), now_);
      links_.add(flows_[*connection].way, static_cast<double>(bytes));
      transport_.send(*connection, bytes, now_);
    } else {
      queue_.push({now_ + c.latency.ps(), *connection, PacketEvent::arrived, 0});
      if (auto result = sent(id); !result) return result;
    }
  }
  return {};
}

Result<void> PacketSimulation::sent(PipeId id) {
  const StreamId sender = programs_.pipe(id).from;
  record_.sent(id, now_);
  return --programs_.flowing(sender) == 0 ? end(sender) : Result<void>{};
}

Result<void> PacketSimulation::end(StreamId stream) {
  last_end_ = now_;
  record_.ended(programs_, stream, now_);
  if (Span* span = at_work(stream)) span->end = now_;
  if (!programs_.end(stream)) return tl::unexpected(programs_.error());
  return {};
}

Result<void> PacketSimulation::handle(const PacketEvent& event) {
  ++events_;
  switch (event.kind) {
    case PacketEvent::act: return start_sends(event.id);
    case PacketEvent::arrived:
      record_.arrived(flows_[event.id].pipe, now_);
      programs_.arrive(flows_[event.id].pipe);
      return {};
    case PacketEvent::sent: --moving_; return sent(flows_[event.id].pipe);
    default: transport_.handle(event); return {};
  }
}

Result<Outcome> PacketSimulation::run() {
  if (auto loaded = programs_.load_all(); !loaded) return tl::unexpected(loaded.error());
  if (auto begun = begin_ready(); !begun) return tl::unexpected(begun.error());
  const auto all = [](const PacketEvent&) { return true; };
  for (std::int64_t time; (time = queue_.advance(all)) != kNever;) {
    if (moving_ == 0) idle_ += time - now_;
    now_ = time;
    while (const PacketEvent* next = queue_.pop()) {
      const PacketEvent event = *next;
      if (auto handled = handle(event); !handled) return tl::unexpected(handled.error());
      if (programs_.ready().empty()) continue;
      if (auto begun = begin_ready(); !begun) return tl::unexpected(begun.error());
    }
    if (!transport_.dead_link().empty())
      return fail(transport_.dead_link() + " carries nothing: every packet arrives damaged",
                  "a lower bit error rate");
  }
  if (!programs_.finished()) return tl::unexpected(programs_.stuck());
  return outcome();
}

Outcome PacketSimulation::outcome() const {
  Outcome result;
  const Time around = wiring_.start() + wiring_.finish();
  result.time = around + Time::ps(last_end_);
  std::int64_t busy = 0;
  for (const Span& span : at_work_)
    busy = std::max(busy, span.end - std::max<std::int64_t>(span.begin, 0));
  result.busy = around + Time::ps(busy);
  result.events = events_;
  result.limited_by_sender = transport_.capped_share() > 0.5;
  if (result.time > Time())
    result.latency_share = static_cast<double>((around + Time::ps(idle_)).ps()) /
                           static_cast<double>(result.time.ps());
  links_.report(result);
  result.counters = transport_.ports().counters();
  return result;
}

class PacketEngine final : public Engine {
 public:
  PacketEngine(const PacketOptions& options, Recorder* recorder)
      : options_(options), recorder_(recorder) {}
  std::string name() const override { return "packet"; }
  Result<Outcome> run(const Fabric& fabric, const Schedule& schedule,
                      const Wiring& wiring) const override {
    return PacketSimulation(options_, fabric, schedule, wiring, recorder_).run();
  }

 private:
  PacketOptions options_;
  Recorder* recorder_;
};

}  // namespace

std::unique_ptr<Engine> make_packet_engine(const PacketOptions& options, Recorder* recorder) {
  return std::make_unique<PacketEngine>(options, recorder);
}

}  // namespace isleway
