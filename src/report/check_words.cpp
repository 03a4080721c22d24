#include "report/check_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace isleway::report {

using check::Severity;

CheckCounts counts_of(const check::Report& report) {
  CheckCounts counts;
  for (const check::Finding& finding : report.findings) {
    switch (finding.severity) {
      case Severity::critical: ++counts.critical; break;
      case Severity::warning: ++counts.warnings; break;
      case Severity::unknown: ++counts.unknown; break;
      case Severity::note: ++counts.notes; break;
      case Severity::not_a_fault: ++counts.not_faults; break;
      case Severity::good: ++counts.good; break;
    }
  }
  return counts;
}

std::string level_text(Severity severity) {
  std::string text = name_of(severity);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string summary_text(const check::Report& report) {
  const CheckCounts counts = counts_of(report);
  std::string text;
  const auto add = [&](std::size_t count, const char* one, const char* many) {
    if (count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, count == 1 ? one : many);
  };
  add(counts.critical, "critical", "critical");
  add(counts.warnings, "warning", "warnings");
  if (text.empty())
    text = counts.good + counts.not_faults + counts.notes > 0 ? "nothing is wrong"
                                                              : "nothing could be judged";
  add(counts.unknown, "unknown", "unknown");
  add(counts.not_faults, "not a fault", "not faults");
  add(counts.notes, "note", "notes");
  add(counts.good, "as expected", "as expected");
  return text;
}

std::string nodes_text(const check::Finding& finding, std::size_t most) {
  if (finding.nodes.empty()) return {};
  std::string text =
      finding.nodes.size() == 1 ? "on " : fmt::format("on {} nodes: ", finding.nodes.size());
  for (std::size_t i = 0; i < finding.nodes.size() && i < most; ++i)
    text += (i > 0 ? ", " : "") + finding.nodes[i];
  if (finding.nodes.size() > most) text += fmt::format(" and {} more", finding.nodes.size() - most);
  return text;
}

std::string evidence_text(const check::Evidence& evidence, std::size_t most) {
  std::string quote = evidence.quote;
  for (char& c : quote)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  if (quote.size() > most) {
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(quote[end]) & 0xc0) == 0x80) --end;
    quote.resize(end);
    quote += " ...";
  }
  const std::string where = evidence.where.text();
  return where.empty() ? quote : where + ": " + quote;
}

std::vector<Paragraph> paragraphs_of(const check::Finding& finding) {
  std::vector<Paragraph> paragraphs;
  const auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) paragraphs.push_back({label, text});
  };
  add("why", finding.explanation);
  if (!finding.cause.empty())
    add("cause", fmt::format("{} ({})", finding.cause, name_of(finding.sure)));
  std::string follows;
  for (const std::string& id : finding.follows_from) follows += (follows.empty() ? "" : ", ") + id;
  add("follows", follows);
  add("do", finding.action);
  add("confirm", finding.confirm);
  add("see", finding.reference);
  return paragraphs;
}

bool is_link(const Paragraph& paragraph) {
  return paragraph.text.starts_with("https://") && paragraph.text.find(' ') == std::string::npos;
}

}  // namespace isleway::report
