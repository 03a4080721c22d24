#include "isleway/nccl/bench.hpp"

#include <algorithm>

#include "isleway/collective.hpp"
#include "isleway/collective/program.hpp"
#include "isleway/core.hpp"

namespace isleway::nccl {
namespace {

constexpr std::int64_t kCheckMemory = std::int64_t{512} << 20;

/// Calls whose buffers all ranks together can hold as 64-bit words in memory.
bool small_enough_to_check(const CollectiveCall& call) {
  const std::int64_t buffers = call.size.input_bytes(call.collective, call.ranks) +
                               call.size.output_bytes(call.collective, call.ranks);
  return buffers / call.size.element_bytes <= kCheckMemory / 8 / call.ranks;
}

/// A call and how it is done; the wiring depends on whether it is in place.
struct Planned {
  CollectiveCall call;
  Decision decision;
  std::unique_ptr<Schedule> schedule;
  std::function<std::unique_ptr<Wiring>(const CollectiveCall&)> wiring;
};

Result<Planned> plan_choice(const Communicator& communicator, const BenchCall& call,
                            const CollectiveCall& collective) {
  const auto decision = communicator.decide(collective, call.algorithm, call.protocol);
  if (!decision) return tl::unexpected(decision.error());
  auto schedule = communicator.schedule(collective, *decision);
  if (!schedule) return tl::unexpected(schedule.error());
  return Planned{collective, *decision, *std::move(schedule),
                 [&communicator, decision = *decision](const CollectiveCall& c) {
                   return communicator.wiring(c, decision);
                 }};
}

Result<Planned> plan_program(const Communicator& communicator, const formats::Algorithm& program,
                             const CollectiveCall& collective) {
  const auto decision = communicator.program_decision(program);
  if (!decision) return tl::unexpected(decision.error());
  auto schedule = make_program(program, collective, decision->chunking.slice_bytes);
  if (!schedule) return tl::unexpected(schedule.error());
  return Planned{collective, *decision, *std::move(schedule),
                 [&communicator, &program, decision = *decision](const CollectiveCall& c) {
                   return communicator.program_wiring(program, c, decision);
                 }};
}

BenchSize size_of(const BenchCall& call, std::int64_t bytes, int ranks) {
  const BenchSize size = bench_size(call.collective, bytes, call.type.bytes, ranks);
  if (call.program == nullptr) return size;
  if (size.bytes == 0) return size;
  const std::int64_t rounded = program_size(*call.program, size.bytes);
  return {rounded, rounded / (size.bytes / size.count)};  // whole elements, as chunks are
}

void name_bottleneck(const Fabric& fabric, const Outcome& outcome, BenchRow& row) {
  row.latency_share = outcome.latency_share;
  row.limited_by_sender = outcome.limited_by_sender;
  for (const LinkCounters& one : outcome.counters)
    row.counters.push_back({fabric.link_name(one.link), one.forward, one.counters});
  if (outcome.bottleneck < 0) return;
  row.busiest = outcome.loads[static_cast<std::size_t>(outcome.bottleneck)];
  row.bottleneck = fabric.link_name(row.busiest->link);
}

/// Whether no rank can end before every rank has begun.
bool waits_for_all(Collective collective) {
  return collective != Collective::broadcast && collective != Collective::reduce &&
         collective != Collective::gather && collective != Collective::scatter;
}

/// Whether a rank copies its own share when it is not in place already. Others have none, or
/// copy it while the links are busy.
bool differs_in_place(Collective collective) {
  return collective == Collective::all_gather || collective == Collective::reduce_scatter;
}

/// nccl-tests launches its iterations without waiting for any to end, and divides the time
/// until the last one has ended. So the host's work hides behind that of the GPUs, or the
/// reverse.
Time average_time(const CallTimes& times, int iterations) {
  const Time interval = std::max(times.host, times.next);
  const Time last = std::max(times.host, times.complete);
  return interval + (last - interval).scaled(1.0 / iterations);
}

}  // namespace

CallTimes call_times(const Communicator& communicator, const CollectiveCall& call,
                     const Decision& decision, const Outcome& outcome) {
  const Time skew = communicator.skew(decision, outcome.time.scaled(1 - outcome.latency_share));
  // A rank that need not wait for the others is soon some calls ahead.
  const Time at_work = waits_for_all(call.collective) ? outcome.time : outcome.busy;
  return {outcome.time + skew, at_work + skew, communicator.host_time(call)};
}

SizeRange fit_into_memory(const SizeRange& range, const Fabric& fabric, const Parts& parts,
                          bool check) {
  SizeRange fitted = range;
  for (const auto& unit : fabric.templates()) {
    for (const DeviceIndex gpu : unit->gpus()) {
      const GpuPart* part = parts.gpu(unit->device(gpu).part);
      if (part != nullptr && part->memory > Bytes())
        fitted.last = std::min(fitted.last, largest_size(part->memory, check));
    }
  }
  fitted.first = std::min(fitted.first, fitted.last);
  if (std::erase_if(fitted.list, [&](std::int64_t size) { return size > fitted.last; }) > 0 &&
      fitted.list.empty())
    fitted.list = {fitted.last};
  return fitted;
}

Result<BenchRow> bench(const Fabric& fabric, const Communicator& communicator, const Engine& engine,
                       const BenchCall& call, std::int64_t bytes) {
  BenchRow row;
  const int ranks = communicator.ranks();
  row.size = size_of(call, bytes, ranks);
  if (row.size.bytes == 0) return row;

  CollectiveCall collective{call.collective, {row.size.bytes, call.type.bytes}, ranks, call.root};
  auto planned = call.program != nullptr ? plan_program(communicator, *call.program, collective)
                                         : plan_choice(communicator, call, collective);
  if (!planned) return tl::unexpected(planned.error());
  const Decision& decision = planned->decision;
  row.decision = decision;
  const bool in_place = call.program != nullptr && call.program->in_place;
  if (call.program != nullptr) row.program = call.program->name;
  if (call.check && small_enough_to_check(collective)) {
    if (auto right = check_schedule(collective, *planned->schedule, in_place); !right)
      return tl::unexpected(right.error());
    row.checked = true;
  }
  const auto run = [&] {
    const auto wiring = planned->wiring(collective);
    return engine.run(fabric, *planned->schedule, ChangedWiring(*wiring, call.repricing));
  };
  const auto speed_of = [&](const Outcome& outcome) {
    BenchSpeed speed;
    speed.time =
        average_time(call_times(communicator, collective, decision, outcome), call.iterations);
    if (speed.time <= Time()) return speed;
    speed.algbw_GBs = rate_of(Bytes(row.size.bytes), speed.time).GBs();
    speed.busbw_GBs = speed.algbw_GBs * bus_factor(call.collective, ranks);
    return speed;
  };
  collective.in_place = in_place;
  const auto outcome = run();
  if (!outcome) return tl::unexpected(outcome.error());
  static_cast<BenchSpeed&>(row) = row.in_place = speed_of(*outcome);
  name_bottleneck(fabric, *outcome, row);
  if (call.program != nullptr || !call.in_place || !differs_in_place(call.collective)) return row;
  collective.in_place = true;
  const auto again = run();
  if (!again) return tl::unexpected(again.error());
  row.in_place = speed_of(*again);
  return row;
}

}  // namespace isleway::nccl
