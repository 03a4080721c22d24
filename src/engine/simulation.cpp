#include "engine/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isleway {

Simulation::Simulation(const Setting& setting, LinkUse links, const std::vector<bool>& forget)
    : setting_(setting),
      scenario_(setting.scenario),
      record_(setting.recorder),
      links_(std::move(links)),
      memory_(scenario_, setting_.calls, links_, setting_.folding, forget) {
  if (setting_.folding == nullptr) return;
  for (const double capacity : setting_.folding->capacity) fluid_.add_resource(capacity);
  for (const Folding::Class& c : setting_.folding->classes) fluid_.add_class(c.uses, c.cap);
  carriers_ = setting_.folding->carriers;
  class_of_carrier_ = setting_.folding->carrier_set;
}

Result<void> Simulation::run() {
  schedule_all();
  const auto counts = [this](const Event& event) { return this->counts(event); };
  for (std::int64_t time; (time = queue_.advance(counts)) != kNever;) {
    if (fluid_.idle()) idle_ += time - now_;
    now_ = time;
    while (const Event* event = queue_.pop()) {
      if (!this->counts(*event)) continue;
      if (!handle(*event)) return tl::unexpected(*error_);
    }
    fluid_.settle(
        now_, [this](std::size_t count) { queue_.expect(count); },
        [this](const Fluid::Prediction& p) { at(p.time, Event::flow_end, p.c, p.version); });
    if (period_) look_for_period();
  }
  if (!fluid_.idle() || jobs_left_ > 0) return tl::unexpected(standstill());
  return {};
}

bool Simulation::handle(const Event& event) {
  const std::uint32_t id = event.id, detail = event.detail;
  switch (event.kind) {
    case Event::flow_end: return end_flows(id);
    case Event::send: ++events_; return start_flows(detail, id) && begin_ready(detail);
    case Event::arrive: {
      ++events_;
      Run& run = *runs_[detail];
      record_.arrived(id, now_);
      run.programs.arrive(id);
      if (--run.under_way == 0 && run.over) runs_[detail].reset();
      return begin_ready(detail);
    }
    case Event::job_begin: begin_job(id); return true;
    case Event::job_go: return go(id);
    case Event::job_end: end_job(id); return true;
    case Event::flow: start_traffic(); return true;
    case Event::change: apply(scenario_.changes[id]); return true;
  }
  return true;
}

bool Simulation::end_flows(Fluid::Class c) {
  ended_.clear();
  fluid_.finish(c, now_, ended_);
  for (const Fluid::Token token : ended_) {
    if (token.owner == kTrafficOwner) {
      ++events_;
      fluid_.left(c, 1);
      flow_ends_[token.id] = Time::ps(now_);
      continue;
    }
    fluid_.left(c, runs_[token.owner]->programs.pipe(token.id).copies);
    if (!sent(token.owner, token.id)) return false;
  }
  // Only now, since a job may have ended several of these flows.
  for (const Fluid::Token token : ended_)
    if (token.owner != kTrafficOwner && !begin_ready(token.owner)) return false;
  return true;
}

bool Simulation::begin_ready(std::uint32_t job) {
  Run* run = runs_[job].get();
  if (run == nullptr) return true;
  Programs& programs = run->programs;
  // Beginning and ending actions that take no time makes others ready within the tick.
  while (!programs.ready().empty()) {
    beginning_.swap(programs.ready());
    programs.ready().clear();
    for (const StreamId stream : beginning_) {
      programs.begin(stream);
      record_.began(stream, now_);
      if (run->at_work[stream].begin < 0) run->at_work[stream].begin = now_;
      std::int64_t overhead = 0;
      for (std::size_t i = 0; i < programs.sends(stream); ++i)
        overhead = std::max(overhead,
                            programs.pipe(programs.send_pipe(stream, i)).connection.overhead.ps());
      overhead += own_work(*run, stream);
      if (overhead > 0) at(now_ + overhead, Event::send, stream, job);
      else if (!start_flows(job, stream)) return false;
    }
  }
  if (programs.finished() && !run->over) close(job);
  return true;
}

/// What the action that begins takes for what serves only its own rank.
std::int64_t Simulation::own_work(const Run& run, StreamId stream) const {
  const auto [bytes, reduces] = run.programs.own_bytes(stream);
  if (bytes == 0) return 0;
  return transfer_time(Bytes(bytes), run.job.wiring->own_rate(reduces)).ps();
}

bool Simulation::start_flows(std::uint32_t job, StreamId stream) {
  Run& run = *runs_[job];
  const std::size_t sends = run.programs.sends(stream);
  if (sends == 0) return end_action(run, stream);
  run.programs.flowing(stream) = static_cast<std::uint32_t>(sends);
  const auto bytes = static_cast<double>(run.programs.bytes(stream));
  for (std::size_t i = 0; i < sends; ++i) {
    const PipeId id = run.programs.send_pipe(stream, i);
    Pipe& pipe = run.programs.pipe(id);
    if (pipe.flow_class == UINT32_MAX) pipe.flow_class = class_of(pipe.connection);
    const double wire = bytes * pipe.connection.wire_expansion;
    record_.sends(run.programs, id, wire, now_);
    if (wire > 0 && !fluid_.is_instant(pipe.flow_class))
      fluid_.start(pipe.flow_class, wire, {job, id}, pipe.copies, now_);
    else if (!sent(job, id)) return false;  // ends the action only with the last
  }
  return true;
}

bool Simulation::sent(std::uint32_t job, PipeId id) {
  ++events_;
  Run& run = *runs_[job];
  const Pipe& pipe = run.programs.pipe(id);
  const StreamId sender = pipe.from;
  ++run.under_way;
  record_.sent(id, now_);
  at(now_ + pipe.connection.latency.ps(), Event::arrive, id, job);
  return --run.programs.flowing(sender) > 0 || end_action(run, sender);
}

bool Simulation::end_action(Run& run, StreamId stream) {
  run.at_work[stream].end = now_;
  record_.ended(run.programs, stream, now_);
  return run.programs.end(stream) || fail_with(run.programs.error());
}

Fluid::Class Simulation::new_class(std::span<const Usage> uses, double cap) {
  const std::vector<double>& capacities = links_.capacities();
  const std::size_t known = resources_;
  for (; resources_ < capacities.size(); ++resources_) fluid_.add_resource(capacities[resources_]);
  const Fluid::Class made = fluid_.add_class(uses, cap);
  if (resources_ > known)
    for (const LinkChange& change : in_force_) limit(change);
  return made;
}

Fluid::Class Simulation::class_of(const Connection& connection) {
  const auto [number, is_new] = carriers_.number(links_, connection);
  if (is_new) {
    const Carriers::Carrier& carrier = carriers_.all()[number];
    class_of_carrier_.push_back(new_class(links_.uses(carrier.way), carrier.cap));
  }
  return class_of_carrier_[number];
}

bool Simulation::limited_by_sender() const {
  double moved = 0, capped = 0;
  for (Fluid::Class c = 0; c < fluid_.class_count(); ++c) {
    const double members = setting_.folding != nullptr ? setting_.folding->classes[c].members : 1;
    moved += fluid_.bytes(c) * members;
    capped += fluid_.capped_bytes(c) * members;
  }
  return capped > 0.5 * moved;
}

const LinkUse& Simulation::loaded_links() {
  for (std::size_t i = 0; i < carriers_.all().size(); ++i)
    links_.add(carriers_.all()[i].way, fluid_.bytes(class_of_carrier_[i]));
  for (std::uint32_t way = 0; way < class_of_way_.size(); ++way) {
    if (class_of_way_[way] == UINT32_MAX) continue;
    Traffic::Way out;
    scenario_.traffic->way(way, out);
    links_.add({out.hops.data(), out.hops.size()}, out.mover, fluid_.bytes(class_of_way_[way]));
  }
  return links_;
}

Error Simulation::standstill() const {
  for (const auto& run : runs_)
    if (fluid_.idle() && run && !run->programs.finished()) return run->programs.stuck();
  std::string dead;
  const Fluid::Class stalled = fluid_.stalled_class();
  for (std::size_t i = 0; i < carriers_.all().size(); ++i)
    if (class_of_carrier_[i] == stalled)
      if (const auto r = links_.dead_resource(links_.uses(carriers_.all()[i].way)))
        dead = ": " + links_.link_name_of(*r) + " carries nothing";
  for (const LinkChange& change : in_force_)
    if (dead.empty() && change.share <= 0)
      dead = ": " + links_.link_name(change.link) + " carries nothing";
  return Error{{}, "a transfer never ends" + dead, "links that are up on every route", ""};
}

}  // namespace isleway
