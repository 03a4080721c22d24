// The simulation's jobs, traffic and changes: what begins and ends when.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/simulation.hpp"

namespace isleway {

void Simulation::schedule_all() {
  const std::size_t count = scenario_.jobs.size();
  jobs_.resize(count);
  runs_.resize(count);
  waits_for_.resize(count);
  waiting_.resize(count);
  jobs_left_ = count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Job& job = scenario_.jobs[i];
    waits_for_[i] = static_cast<std::uint32_t>(job.after.size());
    for (const std::uint32_t before : job.after) waiting_[before].push_back(i);
    if (job.after.empty()) at(job.delay.ps(), Event::job_begin, i);
  }
  for (std::uint32_t i = 0; i < scenario_.changes.size(); ++i)
    at(scenario_.changes[i].at.ps(), Event::change, i);
  if (scenario_.traffic == nullptr) return;
  const std::uint32_t ways = scenario_.traffic->way_count();
  class_of_way_.assign(ways, UINT32_MAX);
  Traffic::Way first;
  if (ways > 0) scenario_.traffic->way(0, first);
  fluid_.reserve(ways, ways * first.hops.size(), 0);
  flow_ends_.resize(scenario_.traffic->flow_count());
  if (!flow_ends_.empty()) at(scenario_.traffic->flow(0).start.ps(), Event::flow, 0);
}

void Simulation::begin_job(std::uint32_t id) {
  const Job& job = scenario_.jobs[id];
  jobs_[id].begin = Time::ps(now_);
  if (job.schedule == nullptr) end_job(id);
  else at(now_ + job.wiring->start().ps(), Event::job_go, id);
}

/// The call's first actions may begin.
bool Simulation::go(std::uint32_t id) {
  const std::uint32_t call = setting_.calls.call_of[id];
  if (!setting_.speed_ups.memory) return load_job(id);
  if (!memory_.begin(call, now_)) {
    meets_itself_ = call;
    return fail_with(Error{{}, "a call meets itself", "", ""});
  }
  const JobMemory::Record* record = memory_.recall(call, now_);
  if (record == nullptr) return load_job(id);
  for (const auto& [c, moved] : record->moved) fluid_.add_moved(c, moved, 1);
  jobs_[id].busy = Time::ps(record->busy);
  at(now_ + record->length + scenario_.jobs[id].wiring->finish().ps(), Event::job_end, id);
  return true;
}

bool Simulation::load_job(std::uint32_t id) {
  const std::uint32_t call = setting_.calls.call_of[id];
  runs_[id] = std::make_unique<Run>(
      scenario_.jobs[id], setting_.folding != nullptr ? &setting_.folding->calls[call] : nullptr);
  Run& run = *runs_[id];
  run.begin = now_;
  if (const auto loaded = run.programs.load_all(); !loaded) return fail_with(loaded.error());
  run.at_work.resize(run.programs.stream_count());
  for (Fluid::Class c = 0; c < fluid_.class_count() && memory_.wants(call); ++c)
    run.moved_before.emplace_back(c, fluid_.moved(c, now_));
  period_.reset();
  if (++live_ == 1 && setting_.speed_ups.period && scenario_.traffic == nullptr)
    period_.emplace(*run.job.schedule, run.programs);
  return begin_ready(id);
}

/// All streams have ended; the caller knows of it a little later.
void Simulation::close(std::uint32_t id) {
  Run& run = *runs_[id];
  const std::uint32_t call = setting_.calls.call_of[id];
  run.over = true;
  period_.reset();
  --live_;
  jobs_[id].busy = Time::ps(busiest(run));
  at(now_ + run.job.wiring->finish().ps(), Event::job_end, id);
  if (setting_.speed_ups.memory) {
    memory_.end(call);
    if (run.under_way == 0 && memory_.wants(call)) remember(call, id);
  }
  if (run.under_way == 0) runs_[id].reset();
}

void Simulation::remember(std::uint32_t call, std::uint32_t id) {
  const Run& run = *runs_[id];
  JobMemory::Record record{now_ - run.begin, jobs_[id].busy.ps(), {}};
  for (Fluid::Class c = 0; c < fluid_.class_count(); ++c) {
    const Fluid::Moved before =
        c < run.moved_before.size() ? run.moved_before[c].second : Fluid::Moved{};
    Fluid::Moved moved = fluid_.moved(c, now_);
    moved.started -= before.started;
    moved.capped_bytes -= before.capped_bytes;
    if (moved.started > 0) record.moved.emplace_back(c, moved);
  }
  memory_.remember(call, std::move(record));
}

/// Where the only job under way is in the state in which it was some loops ago, what happened
/// since is repeated at once.
void Simulation::look_for_period() {
  Run* run = nullptr;
  std::uint32_t job = 0;
  while (job < runs_.size() && (!runs_[job] || runs_[job]->over)) ++job;
  if (job == runs_.size()) return;
  run = runs_[job].get();
  if (!period_->is_due(run->programs)) return;

  const auto is_own = [&](const Event& event) {
    return event.kind == Event::flow_end ||
           ((event.kind == Event::send || event.kind == Event::arrive) && event.detail == job);
  };
  std::vector<std::uint64_t> state;
  std::vector<std::array<std::uint64_t, 2>> due;
  std::int64_t latest = kNever;
  queue_.for_each_later([&](const Event& event) {
    if (!is_own(event)) latest = std::min(latest, event.time);
    else if (event.kind != Event::flow_end)
      due.push_back({static_cast<std::uint64_t>(event.time - now_),
                     std::uint64_t{event.kind} << 32 | event.id});
  });
  std::ranges::sort(due);
  for (const auto& [wait, what] : due) {
    state.push_back(wait);
    state.push_back(what);
  }
  run->programs.append_state(state);
  fluid_.append_state(now_, state);
  Period::Sums sums{now_, idle_, {}};
  for (Fluid::Class c = 0; c < fluid_.class_count(); ++c)
    sums.moved.push_back(fluid_.moved(c, now_));
  const Period::Sums present = sums;
  const std::int64_t times =
      period_->repeats(run->programs, std::move(state), std::move(sums), latest);
  if (times == 0) return;

  const Period::Sums& before = period_->before();
  const std::int64_t later = times * period_->length(now_);
  for (Fluid::Class c = 0; c < before.moved.size(); ++c)
    fluid_.add_moved(c,
                     {present.moved[c].started - before.moved[c].started,
                      present.moved[c].capped_bytes - before.moved[c].capped_bytes},
                     times);
  idle_ += times * (idle_ - before.idle);
  period_->jump(run->programs, times);
  fluid_.shift(later);
  queue_.shift(later, is_own);
  now_ += later;
}

void Simulation::end_job(std::uint32_t id) {
  jobs_[id].end = Time::ps(now_);
  --jobs_left_;
  for (const std::uint32_t next : waiting_[id])
    if (--waits_for_[next] == 0) at(now_ + scenario_.jobs[next].delay.ps(), Event::job_begin, next);
}

/// Of a rank, from the first beginning to the last end of its streams.
std::int64_t Simulation::busiest(const Run& run) const {
  const Schedule& schedule = *run.job.schedule;
  std::vector<Span> ranks(static_cast<std::size_t>(schedule.ranks()));
  const std::size_t streams = run.folded ? run.folded->stands_in.size() : run.at_work.size();
  for (StreamId s = 0; s < streams; ++s) {
    const std::size_t agent = s / static_cast<StreamId>(schedule.streams());
    const Span& span = run.at_work[run.folded ? run.folded->stands_in[s] : s];
    if (agent >= ranks.size() || span.begin < 0) continue;  // in the network, or never at work
    Span& rank = ranks[agent];
    rank.begin = rank.begin < 0 ? span.begin : std::min(rank.begin, span.begin);
    rank.end = std::max(rank.end, span.end);
  }
  std::int64_t busiest = 0;
  for (const Span& rank : ranks)
    busiest = std::max(busiest, rank.end - std::max<std::int64_t>(rank.begin, 0));
  return busiest;
}

Fluid::Class Simulation::class_of_way(std::uint32_t number) {
  Fluid::Class& known = class_of_way_[number];
  if (known != UINT32_MAX) return known;
  Traffic::Way way;
  scenario_.traffic->way(number, way);
  uses_.clear();
  links_.append_uses({way.hops.data(), way.hops.size()}, way.mover, uses_);
  return known = new_class(uses_, way.cap.bytes_per_second());
}

void Simulation::start_traffic() {
  const Traffic& traffic = *scenario_.traffic;
  while (next_flow_ < flow_ends_.size()) {
    const Traffic::Flow flow = traffic.flow(next_flow_);
    if (flow.start.ps() > now_) {
      at(flow.start.ps(), Event::flow, 0);
      return;
    }
    const auto id = static_cast<std::uint32_t>(next_flow_++);
    const Fluid::Class c = class_of_way(flow.way);
    if (flow.bytes > 0 && !fluid_.is_instant(c))
      fluid_.start(c, static_cast<double>(flow.bytes), {kTrafficOwner, id}, 1, now_);
    else flow_ends_[id] = Time::ps(now_);
  }
}

void Simulation::apply(const LinkChange& change) {
  std::erase_if(in_force_, [&](const LinkChange& c) { return c.link == change.link; });
  in_force_.push_back(change);
  limit(change);
  if (period_) period_->forget();
}

void Simulation::limit(const LinkChange& change) {
  for (const std::uint32_t r : links_.resources_of(change.link)) {
    const double capacity = links_.capacities()[r] * std::max(0.0, change.share);
    if (setting_.folding != nullptr)
      fluid_.set_capacity(setting_.folding->resource_set[r], capacity);
    else if (r < resources_) fluid_.set_capacity(r, capacity);
  }
}

}  // namespace isleway
