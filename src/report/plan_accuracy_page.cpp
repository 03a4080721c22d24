#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "isleway/report/plan_accuracy.hpp"

namespace isleway::report {
namespace {

using plan::SourceErrors;
using plan::TrainScore;
using plan::WeightedError;
using plan::WeightedSummary;

std::string percent(double share) { return fmt::format("{:.0f}%", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.0f}%", 100 * share); }

std::string columns(const WeightedSummary& s) {
  return fmt::format("{} | {} | {} | {}", percent(s.mean), percent(s.median), percent(s.p90),
                     signed_percent(s.bias));
}

std::string error_row(const SourceErrors& e) {
  const double ratio = e.constant.mean > 0 ? e.model.mean / e.constant.mean : 0;
  return fmt::format("| {} | {} | {} | {} | {} | {} | {:.2f} |\n", e.source, e.model.count,
                     e.model.groups, columns(e.model), percent(e.constant.mean),
                     percent(e.constant.p90), ratio);
}

std::string training_part(const PlanAccuracy& accuracy) {
  std::string text =
      "## Training: time of a step\n\n"
      "Predicted over measured time of an optimizer step. Runs of one model on one kind of machine "
      "in one\nprecision are a group, and a group weighs as one however many runs it has. *One "
      "constant*: the\nstep's arithmetic (causal attention) over the peak, times the one "
      "efficiency "
      "that suits this source\nbest; *ratio*: the model's mean error over that of the constant.\n\n"
      "| source | runs | groups | mean | median | p90 | bias | constant: mean | p90 | ratio |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  std::vector<const TrainScore*> all;
  for (const plan::RunSource& source : accuracy.sources) {
    std::vector<const TrainScore*> scored;
    for (const TrainScore& score : accuracy.training)
      if (score.source == &source && score.scored()) scored.push_back(&score);
    if (scored.empty()) continue;
    text += error_row(plan::errors_of(source.id, scored));
    all.insert(all.end(), scored.begin(), scored.end());
  }
  return text + error_row(plan::errors_of("**all**", all)) + "\n";
}

std::string left_out_part(const PlanAccuracy& accuracy) {
  if (accuracy.left_out.empty()) return {};
  std::string text =
      "### Sources that the constants have not seen\n\n"
      "Each source, predicted with the training constants fitted on all the others (one step of "
      "the "
      "model\nmade linear in its constants).\n\n"
      "| source | mean | median | p90 | bias |\n| --- | --- | --- | --- | --- |\n";
  for (const SourceErrors& e : accuracy.left_out)
    text += fmt::format("| {} | {} |\n", e.source, columns(e.model));
  return text + "\n";
}

std::string order_part(const PlanAccuracy& accuracy) {
  std::string text =
      "### Which layout is faster\n\n"
      "Pairs of layouts of the same job on the same GPUs: how often the model has them in the "
      "right "
      "order;\n*regret*: how much slower the layout that it would choose is than the best one "
      "measured.\n\n"
      "| source | jobs | pairs | right | mean regret | worst | within 3% of the best |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const plan::RunSource& source : accuracy.sources) {
    std::vector<const TrainScore*> scored;
    for (const TrainScore& score : accuracy.training)
      if (score.source == &source && score.scored()) scored.push_back(&score);
    const plan::PairOrder order = plan::order_of(scored);
    if (order.pairs == 0) continue;
    text += fmt::format("| {} | {} | {} | {} | {:.1f}% | {:.0f}% | {} |\n", source.id, order.jobs,
                        order.pairs, percent(double(order.right) / double(order.pairs)),
                        100 * order.mean_regret, 100 * order.worst_regret, order.near_best);
  }
  return text + "\n";
}

std::string memory_part(const PlanAccuracy& accuracy) {
  std::vector<WeightedError> errors;
  for (const TrainScore& score : accuracy.training)
    if (score.scored() && score.memory > 0) errors.push_back({score.memory - 1, 1});
  if (errors.empty()) return {};
  const WeightedSummary s = plan::summarise(std::move(errors));
  return fmt::format(
      "### Memory\n\nPeak memory of a GPU, {} runs that state it: mean error {}, median {}, p90 "
      "{}, "
      "bias {}.\n\n",
      s.count, percent(s.mean), percent(s.median), percent(s.p90), signed_percent(s.bias));
}

/// Runs of a model on a kind of machine, in a precision, aggregated or not.
std::string group_of(const plan::ServeScore& score) {
  return fmt::format("{}/{}/{}/{}", score.run->model, score.run->platform.machine,
                     model::name_of(score.run->precision), score.run->decode ? "split" : "one");
}

SourceErrors serve_errors(const std::string& name, std::span<const plan::ServeScore* const> scores,
                          double plan::ServeScore::*ratio, bool with_constant) {
  std::map<std::string, std::size_t> size;
  for (const auto* s : scores)
    if (s->*ratio > 0) ++size[group_of(*s)];
  std::vector<WeightedError> model, rooflines, constant;
  for (const auto* s : scores) {
    if (!(s->*ratio > 0)) continue;
    const double weight = 1.0 / double(size[group_of(*s)]);
    model.push_back({s->*ratio - 1, weight});
    rooflines.push_back({s->roofline, weight});
  }
  SourceErrors errors{name, plan::summarise(std::move(model)), {}};
  errors.model.groups = size.size();
  if (!with_constant || rooflines.empty()) return errors;
  const double efficiency = plan::summarise(rooflines).median;
  for (const WeightedError& e : rooflines) constant.push_back({e.error / efficiency - 1, e.weight});
  errors.constant = plan::summarise(std::move(constant));
  return errors;
}

std::string serving_part(const PlanAccuracy& accuracy) {
  std::string text =
      "## Serving\n\n"
      "Predicted over measured. Throughput: output tokens per second of a GPU at the run's number "
      "of\nrequests (all at once where the source measures the most). *One constant*: of a "
      "roofline "
      "that reads\nweights and cache once a step and multiplies at peak. Groups are model, machine "
      "and precision, those\nwith separate prefill apart. Sources do not say how prompts were "
      "sent, "
      "or whether tokens were\nguessed ahead, so that time to the first token scatters most.\n\n"
      "| source | what | runs | groups | mean | median | p90 | bias | constant: mean | p90 | ratio "
      "|\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  struct What {
    const char* name;
    double plan::ServeScore::*ratio;
    bool constant;
  };
  const What whats[] = {{"throughput", &plan::ServeScore::throughput, true},
                        {"time between tokens", &plan::ServeScore::tpot, false},
                        {"time to the first", &plan::ServeScore::ttft, false}};
  for (const plan::RunSource& source : accuracy.sources) {
    for (const bool split : {false, true}) {
      std::vector<const plan::ServeScore*> scored;
      for (const auto& s : accuracy.serving)
        if (s.source == &source && s.left_out.empty() && s.run->decode.has_value() == split)
          scored.push_back(&s);
      for (const What& what : whats) {
        const SourceErrors e = serve_errors(source.id, scored, what.ratio, what.constant);
        if (e.model.count == 0) continue;
        text +=
            fmt::format("| {}{} | {} | {} | {} | {} |", e.source, split ? ", separate prefill" : "",
                        what.name, e.model.count, e.model.groups, columns(e.model));
        text += what.constant ? fmt::format(" {} | {} | {:.2f} |\n", percent(e.constant.mean),
                                            percent(e.constant.p90), e.model.mean / e.constant.mean)
                              : " | | |\n";
      }
    }
  }
  return text + "\n";
}

std::string facts_part(const PlanAccuracy& accuracy) {
  if (accuracy.orders.empty()) return {};
  std::size_t right = 0;
  for (const auto& order : accuracy.orders) right += order.right();
  std::string text = fmt::format(
      "## What is known to be faster\n\n{} of {} pairs are in the right order.\n\n"
      "| what | measured | predicted | |\n| --- | --- | --- | --- |\n",
      right, accuracy.orders.size());
  for (const auto& o : accuracy.orders)
    text += fmt::format("| {} ([source]({})) | {} | {} | {} |\n", o.fact,
                        o.source.substr(0, o.source.find(' ')),
                        o.measured > 0 ? fmt::format("{:.2f}x", o.measured) : "",
                        o.predicted > 0 ? fmt::format("{:.2f}x", o.predicted) : o.left_out,
                        o.right() ? "right" : "wrong");
  return text + "\n";
}

std::string rank_part(const PlanAccuracy& accuracy) {
  if (accuracy.ranks.empty()) return {};
  constexpr std::size_t kTop = 3;
  constexpr double kNear = 1.05;
  std::size_t top = 0, near = 0, all = 0;
  std::string rows;
  for (const auto& r : accuracy.ranks) {
    ++all;
    top += r.rank > 0 && r.rank <= kTop;
    near += r.slower > 0 && r.slower <= kNear;
    rows += fmt::format("| {} | {} | {} | {} | {} | {} |\n", r.run->id, r.run->layout,
                        r.rank > 0 ? std::to_string(r.rank) : "-",
                        r.slower > 0 ? fmt::format("{:+.0f}%", 100 * (r.slower - 1)) : r.left_out,
                        r.best, r.why);
  }
  return fmt::format(
             "## Layouts that vendors chose\n\n"
             "For the same job on the same GPUs, the search ranks {} of {} layouts that their "
             "authors "
             "chose among\nthe first three ways to divide the model, and expects {} to be within "
             "5% "
             "of its own best. *slower*:\npredicted time over that of the search's best; *why*: "
             "memory, or the part of a step that\ncosts most more than in that one.\n\n"
             "| run | layout | rank | slower | search's best | why |\n"
             "| --- | --- | --- | --- | --- | --- |\n",
             top, all, near) +
         rows + "\n";
}

std::string gemm_part(const PlanAccuracy& accuracy) {
  std::string text =
      "## Matrix multiplies\n\n"
      "Time of single products against measured ones ([how](compute.md)); *large*: of 10^11 "
      "operations or more,\nas in training and prefill.\n\n"
      "| GPU | format | products | median | p90 | large: median | p90 |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const auto& e : accuracy.gemm)
    text += fmt::format("| {} | {} | {} | {:.1f}% | {:.1f}% | {:.1f}% | {:.1f}% |\n", e.gpu,
                        model::name_of(e.precision), e.all.count, 100 * e.all.median,
                        100 * e.all.p90, 100 * e.large.median, 100 * e.large.p90);
  return text + "\n";
}

std::string not_compared_part(const PlanAccuracy& accuracy) {
  std::map<std::string, std::size_t> reasons;
  // Behind a colon stand the figures of one run.
  const auto reason = [](const std::string& text) { return text.substr(0, text.find(':')); };
  for (const auto& s : accuracy.training)
    if (!s.scored()) ++reasons[s.source->id + ": " + reason(s.left_out)];
  for (const auto& s : accuracy.serving)
    if (!s.left_out.empty()) ++reasons[s.source->id + ": " + reason(s.left_out)];
  if (reasons.empty()) return {};
  std::string text = "## Not compared\n\n";
  for (const auto& [why, count] : reasons) text += fmt::format("- {} ({})\n", why, count);
  return text + "\n";
}

std::string sources_part(const PlanAccuracy& accuracy) {
  std::string text = "## Sources\n\n";
  for (const auto& source : accuracy.sources)
    text += fmt::format("- `{}`: {}, {}\n", source.id, source.title, source.url);
  return text;
}

}  // namespace

std::string plan_accuracy_page(const PlanAccuracy& accuracy) {
  return "# How far plans are from measured runs\n\n"
         "Made by `isleway accuracy-plan --rank --page docs/accuracy-plan.md`; do not edit.\n\n" +
         training_part(accuracy) + left_out_part(accuracy) + order_part(accuracy) +
         memory_part(accuracy) + serving_part(accuracy) + facts_part(accuracy) +
         rank_part(accuracy) + gemm_part(accuracy) + not_compared_part(accuracy) +
         sources_part(accuracy);
}

std::string plan_accuracy_runs(const PlanAccuracy& accuracy) {
  std::string text = "source\trun\tlayout\tmeasured_s\tmemory\tpredicted_over_measured";
  for (std::size_t i = 0; i < plan::kParts; ++i)
    text += fmt::format("\t{}", plan::name_of(static_cast<plan::Part>(i)));
  text += "\n";
  for (const auto& s : accuracy.training) {
    if (!s.scored()) continue;
    text += fmt::format("{}\t{}\t{}\t{:.6g}\t{:.3f}\t{:.4f}", s.source->id, s.run->id,
                        s.run->layout, s.run->step.seconds(), s.memory, s.step);
    for (const double part : s.parts) text += fmt::format("\t{:.4f}", part);
    text += "\n";
  }
  return text;
}

}  // namespace isleway::report
