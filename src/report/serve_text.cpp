#include <fmt/format.h>

#include <algorithm>

#include "isleway/core.hpp"
#include "isleway/report/serve.hpp"
#include "report/serve_rows.hpp"

namespace isleway::report {
namespace {

constexpr double kGiga = 1e9;
constexpr double kMilli = 1e3;

std::string table(const ServeHeading& heading, std::span<const plan::ServeEstimate> all) {
  std::string text = fmt::format("  {:<24} {:>5} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9}{}\n", "layout",
                                 "GPUs", "requests", "TTFT ms", "TPOT ms", "tok/s", "tok/s",
                                 "requests", heading.price > 0 ? "   $ per" : "");
  text += fmt::format("  {:<24} {:>5} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9}{}\n", "", "", "at once",
                      "", "", "per user", "per GPU", "per s", heading.price > 0 ? "  Mtoken" : "");
  for (const plan::ServeEstimate& e : all.first(std::min(all.size(), heading.most_rows))) {
    text += fmt::format("  {:<24} {:>5} {:>8.0f} {:>9.0f} {:>9.2f} {:>9.1f} {:>9.0f} {:>9.2f}",
                        layout_text(e), e.gpus, e.concurrency, e.ttft * kMilli, e.tpot * kMilli,
                        e.user_speed(), e.output_per_gpu, e.requests_per_second);
    if (heading.price > 0) text += fmt::format("{:>8.3f}", dollars_per_million(heading.price, e));
    text += "\n";
  }
  return text;
}

/// The ends of a curve and what lies evenly between them.
std::vector<plan::ServeEstimate> thinned(std::span<const plan::ServeEstimate> all,
                                         std::size_t most) {
  if (all.size() <= most || most < 2) return {all.begin(), all.end()};
  std::vector<plan::ServeEstimate> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return some;
}

std::string best_text(const plan::ServeEstimate& e) {
  const plan::ServeMemory& m = e.memory;
  std::string text = fmt::format(
      "memory of a GPU, GB: weights {:.1f}, keys and values {:.1f} (room for {:.0f} requests a "
      "rank), activations {:.1f}, other {:.1f}, of {:.0f}\n",
      m.weights / kGiga, m.cache / kGiga, m.requests(), m.activations / kGiga, m.overhead / kGiga,
      m.capacity / kGiga);
  text += fmt::format("a step of {:.2f} ms:", e.step.total() * kMilli);
  for (const StepPart& part : step_parts(e.step))
    if (part.seconds > 0)
      text += fmt::format(" {} {:.0f}%", part.name, 100 * part.seconds / e.step.total());
  text += fmt::format("\nceiling: {}{}\n", e.ceiling, e.link.empty() ? "" : " (" + e.link + ")");
  if (e.decode)
    text += fmt::format("hand-over of keys and values: {:.1f} ms\n", e.transfer * kMilli);
  return text;
}

}  // namespace

std::string layout_text(const plan::ServeEstimate& e) {
  return e.decode ? short_text(e.layout) + " > " + short_text(*e.decode) : short_text(e.layout);
}

double dollars_per_million(double price, const plan::ServeEstimate& e) {
  constexpr double kSecondsOfHour = 3600, kMillion = 1e6;
  return e.output_per_gpu > 0 ? price / kSecondsOfHour / e.output_per_gpu * kMillion : 0;
}

std::vector<StepPart> step_parts(const plan::StepTime& s) {
  return {{"weights", s.gemm},  {"attention", s.attention}, {"other", s.other},
          {"tensor", s.tensor}, {"experts", s.experts},     {"pipeline", s.pipeline},
          {"host", s.host}};
}

std::string serve_text(const ServeHeading& heading, const plan::ServeJob& job,
                       const plan::ServePlan& plan) {
  std::string text =
      fmt::format("{} in {} on {} ({} x {}), {:.0f} tokens in, {:.0f} out, as {} serves\n",
                  heading.model, model::name_of(job.precision), heading.machine, heading.gpus,
                  heading.gpu, job.input, job.output, job.software.name);
  if (!heading.extrapolated.empty())
    text +=
        fmt::format("times of this GPU's kernels are an assumption: {}\n", heading.extrapolated);
  if (plan.smallest)
    text += fmt::format("smallest that fits: {} GPU{} ({})\n", plan.smallest->worker_gpus(),
                        plan.smallest->worker_gpus() == 1 ? "" : "s", short_text(*plan.smallest));
  text += fmt::format("\nbest of {} layouts\n", plan.tried) + table(heading, plan.layouts);
  if (plan.front.size() > 1)
    text += "\nfrom the fastest for a user to the cheapest\n" +
            table(heading, thinned(plan.front, heading.most_rows));
  const plan::ServeEstimate& best = plan.layouts.front();
  text += fmt::format("\n{} at {:.0f} requests\n", layout_text(best), best.concurrency);
  text += best_text(best);
  if (!plan.rejected.empty()) {
    text += "\nnot possible\n";
    for (const auto& r :
         std::span(plan.rejected).first(std::min(plan.rejected.size(), heading.most_rows)))
      text += fmt::format("  {}{}: {}\n", r.layout,
                          r.count > 1 ? fmt::format(" and {} more", r.count - 1) : "", r.why);
  }
  text += "\n";
  for (const auto& command : plan::serve_commands(job, best, heading.model_id))
    text += fmt::format("{}:\n  {}\n", command.software, command.text);
  return text;
}

}  // namespace isleway::report
