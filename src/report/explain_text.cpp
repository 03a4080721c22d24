#include <fmt/format.h>

#include <cmath>

#include "isleway/core.hpp"
#include "isleway/report/explain.hpp"

namespace isleway::report {
namespace {

std::string field(const char* name, const std::string& value) {
  return fmt::format("{:<12}{}\n", name, value);
}

/// "+12.3%" from `from` to `to`; "-" for less than a tenth of a percent.
std::string change_text(Time from, Time to) {
  const double percent = 100 * (to.seconds() / from.seconds() - 1);
  return std::abs(percent) < 0.05 ? "-" : fmt::format("{:+.1f}%", percent);
}

std::string way_text(nccl::Algorithm algorithm, nccl::Protocol protocol) {
  return fmt::format("{} {}", name_of(algorithm), name_of(protocol));
}
std::string way_text(const nccl::Decision& decision) {
  return way_text(decision.algorithm, decision.protocol);
}

bool same_way(const nccl::Candidate& candidate, const nccl::Decision& decision) {
  return candidate.algorithm == decision.algorithm && candidate.protocol == decision.protocol;
}

std::string choice_text(const nccl::Decision& decision) {
  return fmt::format("{}: {} channel{} of {} threads, chunks of {} in messages of {}",
                     way_text(decision), decision.channels, decision.channels == 1 ? "" : "s",
                     decision.threads, size_text(Bytes(decision.chunking.chunk_bytes)),
                     size_text(Bytes(decision.chunking.slice_bytes)));
}

std::string reason_text(const nccl::Question& question, const nccl::Explanation& explanation) {
  const nccl::Decision& decision = *explanation.chosen.decision;
  if (explanation.alternatives.empty()) return "sends and receives leave nothing to choose";
  if (question.call.algorithm || question.call.protocol)
    return fmt::format("it was asked for; NCCL expects {:.2f} us", decision.estimate.us());
  for (const nccl::Alternative& other : explanation.alternatives) {
    if (!other.candidate.estimate || same_way(other.candidate, decision)) continue;
    return fmt::format(
        "NCCL expects {:.2f} us of it, and of the next, {}, {:.2f} us ({})", decision.estimate.us(),
        way_text(other.candidate.algorithm, other.candidate.protocol),
        other.candidate.estimate->us(), change_text(decision.estimate, *other.candidate.estimate));
  }
  return "NCCL has no other candidate";
}

/// The hint that operators look for: is there something better to set?
std::string fastest_text(const nccl::Explanation& explanation) {
  const nccl::Alternative* best = explanation.fastest();
  const nccl::BenchRow& chosen = explanation.chosen;
  if (best == nullptr) return {};
  if (best->row->time >= chosen.time) return field("fastest", "yes, by simulation as well");
  const auto& candidate = best->candidate;
  return field("fastest",
               fmt::format("no: {} is simulated at {:.2f} us ({}): NCCL_ALGO={} NCCL_PROTO={}",
                           way_text(candidate.algorithm, candidate.protocol), best->row->time.us(),
                           change_text(chosen.time, best->row->time), name_of(candidate.algorithm),
                           name_of(candidate.protocol)));
}

std::string bottleneck_text(const nccl::Explanation& explanation) {
  const nccl::BenchRow& chosen = explanation.chosen;
  if (!chosen.busiest) return "nothing crosses a link";
  std::string text = fmt::format("{}, busy for {:.0f}% of the time", chosen.bottleneck,
                                 100 * chosen.busiest->busy);
  if (explanation.siblings > 1)
    text += fmt::format("; there are {} links of its kind", explanation.siblings);
  if (chosen.limited_by_sender) text += "; the GPUs' own threads are slower still";
  return text;
}

std::string alternatives_text(const nccl::Explanation& explanation, bool everything) {
  if (explanation.alternatives.empty()) return {};
  std::string text =
      fmt::format("\n{:<23}{:>10}{:>16}{:>14}{:>10}{:>9}{:>8}\n", "candidate", "NCCL (us)",
                  "simulated (us)", "busbw (GB/s)", "channels", "threads", "chunk");
  std::string missing;
  for (const nccl::Alternative& alternative : explanation.alternatives) {
    const nccl::Candidate& candidate = alternative.candidate;
    const std::string way = way_text(candidate.algorithm, candidate.protocol);
    if (!candidate.estimate) {
      // In the Simple protocol an algorithm's own reason shows; the others repeat it.
      if (everything || candidate.protocol == nccl::Protocol::simple ||
          candidate.algorithm == nccl::Algorithm::ring ||
          candidate.algorithm == nccl::Algorithm::tree)
        missing += fmt::format("{:<23}{}\n", way, candidate.why_not);
      continue;
    }
    text += fmt::format("{:<23}{:>10.2f}", way, candidate.estimate->us());
    if (alternative.row) {
      const nccl::Decision& decision = *alternative.row->decision;
      text += fmt::format("{:>16.2f}{:>14.2f}{:>10}{:>9}{:>8}{}\n", alternative.row->time.us(),
                          alternative.row->busbw_GBs, decision.channels, decision.threads,
                          size_text(Bytes(decision.chunking.chunk_bytes)),
                          same_way(candidate, *explanation.chosen.decision) ? "  <- chosen" : "");
    } else {
      text += "  not simulated: " + alternative.why_no_row + "\n";
    }
  }
  return missing.empty() ? text : text + fmt::format("\n{:<23}why\n", "not available") + missing;
}

std::string improvement_text(nccl::Improvement improvement, const nccl::Explanation& explanation) {
  switch (improvement) {
    case nccl::Improvement::link_rate:
      return fmt::format("twice the bandwidth of {} alone", explanation.chosen.bottleneck);
    case nccl::Improvement::sibling_rates:
      return fmt::format("twice the bandwidth of all {} links of its kind", explanation.siblings);
    case nccl::Improvement::hop_latency: return "half the latency of messages over them";
    case nccl::Improvement::thread_rate: return "twice what a channel's threads move";
    case nccl::Improvement::message_cost: return "half of what a message costs its sender";
    case nccl::Improvement::launch: return "half of what launching takes";
  }
  return {};
}

std::string what_ifs_text(const nccl::Explanation& explanation) {
  std::string text = fmt::format("\n{:<56}{:>12}{:>9}\n", "what would be with", "(us)", "change");
  for (const nccl::WhatIf& what_if : explanation.what_ifs)
    text +=
        fmt::format("{:<56}{:>12.2f}{:>9}\n", improvement_text(what_if.improvement, explanation),
                    what_if.time.us(), change_text(explanation.chosen.time, what_if.time));
  return text;
}

std::string settings_text(const nccl::Explanation& explanation) {
  if (explanation.settings.empty()) return {};
  std::string text = fmt::format("\n{:<32}{:<17}{:>9}{:>9}{:>12}{:>9}\n", "settings that change it",
                                 "choice", "channels", "chunk", "(us)", "change");
  for (const nccl::SettingEffect& effect : explanation.settings)
    text += fmt::format("{:<32}{:<17}{:>9}{:>9}{:>12.2f}{:>9}\n", effect.name + "=" + effect.value,
                        way_text(effect.decision), effect.decision.channels,
                        size_text(Bytes(effect.decision.chunking.chunk_bytes)), effect.time.us(),
                        change_text(explanation.chosen.time, effect.time));
  return text;
}

std::string choices_text(const nccl::Explanation& explanation) {
  std::string text;
  for (const nccl::ChoiceFrom& choice : explanation.choices)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", way_text(choice.decision),
                        text.empty() ? "" : " from " + size_text(Bytes(choice.bytes)));
  return text;
}

}  // namespace

std::string explanation_text(const nccl::Question& question, const nccl::Explanation& explanation,
                             bool everything) {
  const nccl::BenchRow& chosen = explanation.chosen;
  std::string text =
      field("call", fmt::format("{} of {} in {} on {}: {} ranks, NCCL {}, engine {}",
                                name_of(question.call.collective),
                                size_text(Bytes(chosen.size.bytes)), question.call.type.name,
                                question.fabric.name(), question.fabric.gpu_count(),
                                question.options.version.text(), question.engine.name()));
  text += field("choice", choice_text(*chosen.decision));
  text += field("because", reason_text(question, explanation));
  text +=
      field("time", fmt::format("{:.2f} us, busbw {:.2f} GB/s; {:.0f}% of it is latency and "
                                "overhead",
                                chosen.time.us(), chosen.busbw_GBs, 100 * chosen.latency_share));
  text += fastest_text(explanation);
  text += field("bottleneck", bottleneck_text(explanation));
  text += field("over size", choices_text(explanation));
  return text + alternatives_text(explanation, everything) + what_ifs_text(explanation) +
         settings_text(explanation);
}

}  // namespace isleway::report
