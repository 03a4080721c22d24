#include "isleway/nccl/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "isleway/engine/scenario.hpp"
#include "nccl/replay/group_calls.hpp"

namespace isleway::nccl {
namespace {

struct Span {
  Time begin, end;
};

/// The union of spans, in order and apart from one another.
std::vector<Span> merged(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::begin);
  std::vector<Span> all;
  for (const Span& span : spans) {
    if (span.end <= span.begin) continue;
    if (!all.empty() && span.begin <= all.back().end)
      all.back().end = std::max(all.back().end, span.end);
    else all.push_back(span);
  }
  return all;
}

Time length(const std::vector<Span>& spans) {
  Time sum;
  for (const Span& span : spans) sum += span.end - span.begin;
  return sum;
}

/// Of what is in both; either is merged.
Time overlap(const std::vector<Span>& a, const std::vector<Span>& b) {
  Time sum;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const Time begin = std::max(x->begin, y->begin), end = std::min(x->end, y->end);
    if (end > begin) sum += end - begin;
    if (x->end < y->end) ++x;
    else ++y;
  }
  return sum;
}

/// What the jobs' times mean for ranks and calls.
void tell(const std::vector<TraceJob>& jobs, const ScenarioOutcome& outcome, Replay& result) {
  std::vector<std::vector<Span>> computing(result.ranks.size()), communicating(computing);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const TraceJob& job = jobs[j];
    const Span span{outcome.jobs[j].begin, outcome.jobs[j].end};
    for (const int r : job.ranks) {
      const auto rank = static_cast<std::size_t>(r);
      result.ranks[rank].end = std::max(result.ranks[rank].end, span.end);
      // A job that only waits begins when it ends.
      if (job.kind == TraceJob::Kind::compute)
        computing[rank].push_back({span.end - job.delay, span.end});
      else if (job.kind != TraceJob::Kind::wait) communicating[rank].push_back(span);
    }
    if (job.kind != TraceJob::Kind::collective && job.kind != TraceJob::Kind::message) continue;
    const bool is_message = job.kind == TraceJob::Kind::message;
    result.calls.push_back({job.node->name, job.group,
                            is_message ? "send" : name_of(collective_of(*job.node)),
                            job.node->bytes, job.ranks, span.begin, span.end});
  }
  std::ranges::stable_sort(result.calls, {}, &ReplayedCall::begin);
  for (std::size_t r = 0; r < result.ranks.size(); ++r) {
    const auto compute = merged(std::move(computing[r]));
    const auto calls = merged(std::move(communicating[r]));
    result.ranks[r].computing = length(compute);
    result.ranks[r].communicating = length(calls);
    result.ranks[r].exposed = length(calls) - overlap(compute, calls);
  }
}

}  // namespace

Result<Replay> replay(const Fabric& fabric, const Parts& parts,
                      std::span<const formats::ExecutionTrace> traces, const ReplayOptions& options,
                      Notices& notices) {
  if (traces.empty() || traces.size() != fabric.gpu_count())
    return fail(fmt::format("{} traces for {} GPUs", traces.size(), fabric.gpu_count()),
                "one for each GPU", fmt::format("--ranks {}", traces.size()));
  auto jobs = join_traces(traces, options, notices);
  if (!jobs) return tl::unexpected(jobs.error());
  GroupCalls calls(fabric, parts, options.nccl);
  Scenario scenario;
  scenario.jobs.reserve(jobs->size());
  for (const TraceJob& job : *jobs) {
    Job out;
    out.delay = job.delay;
    out.after = job.after;
    if (job.kind == TraceJob::Kind::collective || job.kind == TraceJob::Kind::message) {
      const auto call = calls.call(job);
      if (!call) {
        Error error = call.error();
        error.what =
            fmt::format("{} of rank {}: {}", job.node->name, job.ranks.front(), error.what);
        return tl::unexpected(error);
      }
      out.schedule = call->schedule;
      out.wiring = call->wiring;
    }
    scenario.jobs.push_back(std::move(out));
  }
  const auto outcome = simulate(fabric, scenario, options.speed_ups);
  if (!outcome) return tl::unexpected(outcome.error());
  Replay result;
  result.time = outcome->time;
  result.loads = outcome->loads;
  result.events = outcome->events;
  result.ranks.resize(traces.size());
  tell(*jobs, *outcome, result);
  return result;
}

}  // namespace isleway::nccl
