#include "engine/packet/region.hpp"

#include <algorithm>
#include <cmath>

namespace isleway {

RegionSimulation::RegionSimulation(const Shared& shared, std::uint32_t region,
                                   std::unique_ptr<const FoldedStreams> streams)
    : shared_(shared),
      streams_(std::move(streams)),
      record_(shared.recorder, shared.wiring.start(), true),
      transport_(shared.wires, region, queue_, shared.post),
      programs_(shared.schedule, shared.wiring, streams_.get(), Programs::Credits::told) {}

Result<EndId> RegionSimulation::connect(PipeId pipe) {
  // Pipes that are given are the programs' own only when these are loaded.
  const Pipe& what = streams_ != nullptr ? streams_->pipes[pipe] : programs_.pipe(pipe);
  const auto made = transport_.connect(what.connection);
  if (!made) return tl::unexpected(made.error());
  flows_.push_back({pipe, 0});
  if (end_of_.size() <= pipe) end_of_.resize(pipe + 1, kNobody);
  return end_of_[pipe] = *made;
}

Result<EndId> RegionSimulation::end_of(PipeId pipe) {
  if (pipe < end_of_.size() && end_of_[pipe] != kNobody) return end_of_[pipe];
  return connect(pipe);
}

void RegionSimulation::moves() {
  if (++moving_ > 1) return;
  if (!moving_spans_.empty() && moving_spans_.back().end == now_) return;
  moving_spans_.push_back({now_, now_});
}

void RegionSimulation::stops() {
  if (--moving_ == 0) moving_spans_.back().end = now_;
}

Result<void> RegionSimulation::begin_ready() {
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
        busy += transfer_time(Bytes(bytes), shared_.wiring.own_rate(reduces)).ps();
      if (busy > 0) queue_.push({now_ + busy, stream, PacketEvent::act, 0});
      else if (auto started = start_sends(stream); !started) return started;
    }
  }
  return {};
}

Result<void> RegionSimulation::start_sends(StreamId stream) {
  const std::size_t sends = programs_.sends(stream);
  if (sends == 0) return end(stream);
  programs_.flowing(stream) = static_cast<std::uint32_t>(sends);
  const auto payload = static_cast<double>(programs_.bytes(stream));
  for (std::size_t i = 0; i < sends; ++i) {
    const PipeId id = programs_.send_pipe(stream, i);
    const auto connection = end_of(id);
    if (!connection) return tl::unexpected(connection.error());
    const Connection& c = programs_.pipe(id).connection;
    const auto bytes = static_cast<std::int64_t>(std::ceil(payload * c.wire_expansion));
    if (bytes > 0) {
      moves();
      record_.sends(programs_, id, static_cast<double>(bytes), now_);
      flows_[*connection].bytes += static_cast<double>(bytes);
      transport_.send(*connection, bytes, now_);
    } else {
      transport_.send_nothing(*connection, now_);
      if (auto result = sent(id); !result) return result;
    }
  }
  return {};
}

Result<void> RegionSimulation::sent(PipeId id) {
  const StreamId sender = programs_.pipe(id).from;
  record_.sent(id, now_);
  return --programs_.flowing(sender) == 0 ? end(sender) : Result<void>{};
}

Result<void> RegionSimulation::end(StreamId stream) {
  last_end_ = now_;
  record_.ended(programs_, stream, now_);
  if (Span* span = at_work(stream)) span->end = now_;
  if (!programs_.end(stream)) return tl::unexpected(programs_.error());
  for (const PipeId pipe : programs_.consumed()) {
    const auto connection = end_of(pipe);
    if (!connection) return tl::unexpected(connection.error());
    transport_.give_credit(*connection, now_);
  }
  programs_.consumed().clear();
  return {};
}

void RegionSimulation::arrived(EndId end) {
  if (shared_.recorder != nullptr) {
    // The span lies where the message began; with a recorder there is one thread.
    const EndAddress sender = transport_.other(end);
    RegionSimulation& there = *shared_.all[sender.region];
    there.record_.arrived(there.flows_[sender.end].pipe, now_);
  }
  programs_.arrive(flows_[end].pipe);
}

Result<void> RegionSimulation::handle(const PacketEvent& event) {
  ++events_;
  switch (event.kind) {
    case PacketEvent::act: return start_sends(event.id);
    case PacketEvent::arrived: arrived(event.id); return {};
    case PacketEvent::credit: programs_.credit(flows_[event.id].pipe); return {};
    case PacketEvent::sent: stops(); return sent(flows_[event.id].pipe);
    default: transport_.handle(event); return {};
  }
}

Result<void> RegionSimulation::begin() {
  if (auto loaded = programs_.load_all(); !loaded) return tl::unexpected(loaded.error());
  at_work_.resize(programs_.stream_count() /
                  static_cast<std::size_t>(std::max(1, shared_.schedule.streams())));
  return begin_ready();
}

Result<void> RegionSimulation::run_events(std::int64_t limit) {
  if (!begun_) {
    begun_ = true;
    if (auto begun = begin(); !begun) return begun;
  }
  const auto all = [this](const PacketEvent& event) {
    transport_.prefetch(event);
    return true;
  };
  for (std::int64_t time; (time = queue_.advance(all, limit)) != kNever;) {
    now_ = time;
    while (const PacketEvent* next = queue_.pop()) {
      const PacketEvent event = *next;
      if (auto handled = handle(event); !handled) return handled;
      if (programs_.ready().empty()) continue;
      if (auto begun = begin_ready(); !begun) return begun;
    }
    if (!transport_.dead_link().empty())
      return fail(transport_.dead_link() + " carries nothing: every packet arrives damaged",
                  "a lower bit error rate");
  }
  return {};
}

Process::Progress RegionSimulation::run_until(std::int64_t limit, unsigned window) {
  const std::uint64_t before = events_;
  transport_.collect(window);
  if (auto run = run_events(limit); !run) {
    error_ = run.error();
    return {kStop, 0};
  }
  return {std::min(queue_.later(), transport_.earliest_mail()), events_ - before};
}

std::optional<Error> RegionSimulation::stuck() const {
  if (programs_.finished()) return std::nullopt;
  return programs_.stuck();
}

std::int64_t RegionSimulation::busiest() const {
  std::int64_t most = 0;
  for (const Span& span : at_work_)
    most = std::max(most, span.end - std::max<std::int64_t>(span.begin, 0));
  return most;
}

std::vector<RegionSimulation::Sent> RegionSimulation::sent() const {
  std::vector<Sent> all;
  for (const Flow& flow : flows_) {
    const Connection& c = programs_.pipes()[flow.pipe].connection;
    if (flow.bytes > 0) all.push_back({c.route, c.mover, flow.bytes});
  }
  return all;
}

}  // namespace isleway
