// The flow engine: one call alone, or a whole scenario.
#include <fmt/format.h>

#include <algorithm>

#include "engine/simulation.hpp"

namespace isleway {
namespace {

Outcome outcome_of_call(Simulation& simulation, const Wiring& wiring) {
  Outcome result;
  const JobOutcome& job = simulation.jobs().front();
  const Time around = wiring.start() + wiring.finish();
  result.time = job.end;
  result.busy = around + job.busy;
  result.events = simulation.events();
  result.limited_by_sender = simulation.limited_by_sender();
  if (result.time > Time())
    result.latency_share =
        static_cast<double>(simulation.idle().ps()) / static_cast<double>(result.time.ps());
  simulation.loaded_links().report(result);
  return result;
}

Result<void> check(const Fabric& fabric, const Scenario& scenario) {
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    const Job& job = scenario.jobs[i];
    for (const std::uint32_t before : job.after)
      if (before >= i)
        return fail(fmt::format("job {} waits for job {}", i, before), "a job before it");
    if (job.schedule != nullptr && job.wiring == nullptr)
      return fail(fmt::format("job {} has a schedule and no wiring", i), "both or none");
    if (job.delay < Time()) return fail(fmt::format("job {} has a negative delay", i));
  }
  for (const LinkChange& change : scenario.changes) {
    if (change.link >= fabric.link_count())
      return fail(fmt::format("there is no link {}", change.link),
                  fmt::format("a link below {}", fabric.link_count()));
    if (!(change.share >= 0) || change.at < Time())
      return fail(fmt::format("link {} has a share of {} from {} us on", change.link, change.share,
                              change.at.us()),
                  "a share and a time of 0 or more");
  }
  return {};
}

/// Simulates and makes a report of it.
template <class Outcome, class Report>
Result<Outcome> run_scenario(const Fabric& fabric, const Scenario& scenario,
                             const SpeedUps& speed_ups, Report report,
                             Recorder* recorder = nullptr) {
  if (auto checked = check(fabric, scenario); !checked) return tl::unexpected(checked.error());
  const Calls calls(scenario);
  LinkUse links(fabric);
  std::optional<Folding> folding;
  if (speed_ups.symmetry) folding = fold(scenario, calls, links);
  std::vector<bool> forget(calls.first.size(), false);
  while (true) {
    Simulation simulation({scenario, calls, speed_ups, folding ? &*folding : nullptr, recorder},
                          folding ? links : LinkUse(fabric), forget);
    if (const auto done = simulation.run()) return report(simulation);
    else if (const auto call = simulation.meets_itself()) forget[*call] = true;
    else if (!folding) return tl::unexpected(done.error());
    else folding.reset();  // the whole names whoever it was, not whoever stands for them
  }
}

class FlowEngine final : public Engine {
 public:
  FlowEngine(const SpeedUps& speed_ups, Recorder* recorder)
      : speed_ups_(recorder == nullptr ? speed_ups : SpeedUps::none()), recorder_(recorder) {}
  std::string name() const override { return "flow"; }

  Result<Outcome> run(const Fabric& fabric, const Schedule& schedule,
                      const Wiring& wiring) const override {
    Scenario scenario;
    scenario.jobs.push_back({&schedule, &wiring, Time(), {}});
    return run_scenario<Outcome>(
        fabric, scenario, speed_ups_,
        [&](Simulation& simulation) { return outcome_of_call(simulation, wiring); }, recorder_);
  }

 private:
  SpeedUps speed_ups_;
  Recorder* recorder_;
};

}  // namespace

Result<ScenarioOutcome> simulate(const Fabric& fabric, const Scenario& scenario,
                                 const SpeedUps& speed_ups) {
  return run_scenario<ScenarioOutcome>(fabric, scenario, speed_ups, [](Simulation& simulation) {
    ScenarioOutcome outcome;
    outcome.jobs = simulation.jobs();
    for (const JobOutcome& job : outcome.jobs) outcome.time = std::max(outcome.time, job.end);
    outcome.events = simulation.events();
    outcome.flow_ends = std::move(simulation).flow_ends();
    for (const Time end : outcome.flow_ends) outcome.time = std::max(outcome.time, end);
    outcome.loads = simulation.loaded_links().loads(outcome.time);
    return outcome;
  });
}

std::unique_ptr<Engine> make_flow_engine(const SpeedUps& speed_ups, Recorder* recorder) {
  return std::make_unique<FlowEngine>(speed_ups, recorder);
}

}  // namespace isleway
