#include <fmt/format.h>

#include <algorithm>

#include "isleway/report/check.hpp"
#include "report/check_words.hpp"

namespace isleway::report {
namespace {

using check::Severity;

constexpr std::size_t kFewLines = 3, kFewNodes = 8, kFewRows = 20;

std::string one_finding(const check::Finding& finding, bool everything) {
  const bool in_full = finding.severity <= Severity::unknown;
  std::string text =
      fmt::format("{}  {}  [{}]\n", level_text(finding.severity), finding.title, finding.rule);
  if (const auto nodes = nodes_text(finding, everything ? finding.nodes.size() : kFewNodes);
      !nodes.empty())
    text += "  " + nodes + "\n";
  const std::size_t shown = std::min(finding.evidence.size(), everything ? finding.evidence.size()
                                                              : in_full  ? kFewLines
                                                                         : std::size_t{1});
  for (std::size_t i = 0; i < shown; ++i)
    text += "  | " + evidence_text(finding.evidence[i]) + "\n";
  if (in_full && finding.evidence_lines > shown)
    text += fmt::format("  | and {} more lines\n", finding.evidence_lines - shown);
  for (const Paragraph& paragraph : paragraphs_of(finding))
    text += fmt::format("  {:<8}{}\n", paragraph.label, paragraph.text);
  return text;
}

/// Findings that need nothing done: a line each.
std::string short_list(const check::Report& report, Severity severity, const char* heading) {
  std::string text;
  for (const check::Finding& finding : report.findings) {
    if (finding.severity != severity) continue;
    const std::string nodes = nodes_text(finding, kFewNodes);
    text += fmt::format("  {}{}\n", finding.title, nodes.empty() ? "" : " (" + nodes + ")");
  }
  return text.empty() ? text : fmt::format("{}\n{}\n", heading, text);
}

/// Nodes with findings first; of those that are alike only how many.
std::string node_table(const check::Report& report, bool everything) {
  if (report.nodes.empty()) return {};
  std::vector<const check::NodeRow*> rows;
  for (const check::NodeRow& row : report.nodes) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return std::tuple(a->critical, a->odd, a->warnings) >
           std::tuple(b->critical, b->odd, b->warnings);
  });
  const std::size_t shown = everything ? rows.size() : std::min(rows.size(), kFewRows);
  std::vector<std::size_t> widths = {4};
  for (const std::string& column : report.columns) widths.push_back(column.size());
  for (std::size_t i = 0; i < shown; ++i) {
    widths[0] = std::max(widths[0], rows[i]->node.size());
    for (std::size_t c = 0; c < rows[i]->cells.size(); ++c)
      widths[c + 1] = std::max(widths[c + 1], rows[i]->cells[c].size());
  }
  std::string text = fmt::format("{:<{}}", "node", widths[0]);
  for (std::size_t c = 0; c < report.columns.size(); ++c)
    text += fmt::format("  {:<{}}", report.columns[c], widths[c + 1]);
  text += "  findings\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const check::NodeRow& row = *rows[i];
    text += fmt::format("{:<{}}", row.node.empty() ? "-" : row.node, widths[0]);
    for (std::size_t c = 0; c < row.cells.size(); ++c)
      text += fmt::format("  {:<{}}", row.cells[c].empty() ? "-" : row.cells[c], widths[c + 1]);
    std::string state;
    if (row.critical > 0) state += fmt::format("{} critical ", row.critical);
    if (row.warnings > 0)
      state += fmt::format("{} {} ", row.warnings, row.warnings == 1 ? "warning" : "warnings");
    if (row.odd) state += "odd one out";
    text += "  " + (state.empty() ? "-" : state);
    while (text.back() == ' ') text.pop_back();
    text += "\n";
  }
  if (shown < rows.size())
    text += fmt::format("and {} more nodes with no more findings than these (-v shows all)\n",
                        rows.size() - shown);
  return text + "\n";
}

}  // namespace

std::string check_text(const check::Report& report, bool everything) {
  std::string text = fmt::format("{}: {}\n\n", level_text(report.verdict()), summary_text(report));
  for (const check::Finding& finding : report.findings) {
    const bool matters = finding.severity <= Severity::unknown ||
                         finding.severity == Severity::not_a_fault ||
                         (finding.severity == Severity::note && everything);
    if (matters) text += one_finding(finding, everything) + "\n";
  }
  if (!everything) {
    text += short_list(report, Severity::note, "Notes (-v tells more of each)");
  }
  text += short_list(report, Severity::good, "As expected");
  return text + node_table(report, everything);
}

std::string check_line(const check::Report& report) {
  const CheckCounts counts = counts_of(report);
  const Severity verdict = report.verdict();
  const char* state = verdict == Severity::critical  ? "CRITICAL"
                      : verdict == Severity::warning ? "WARNING"
                      : verdict == Severity::good    ? "OK"
                                                     : "UNKNOWN";
  std::string text = fmt::format("{}: {}", state, summary_text(report));
  if (!report.findings.empty() && report.findings[0].severity <= Severity::unknown) {
    text += "; first: " + report.findings[0].title;
    if (const auto nodes = nodes_text(report.findings[0], 3); !nodes.empty()) text += " " + nodes;
  }
  for (char& c : text)
    if (c == '|' || c == '\n') c = '/';
  return text + fmt::format(" | critical={} warning={} unknown={} note={} nodes={} facts={}\n",
                            counts.critical, counts.warnings, counts.unknown, counts.notes,
                            std::max<std::size_t>(report.nodes.size(), 1), report.facts);
}

}  // namespace isleway::report
