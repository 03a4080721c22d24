#include <fmt/format.h>

#include "isleway/core/markup.hpp"
#include "isleway/report/check.hpp"
#include "report/check_words.hpp"

namespace isleway::report {
namespace {

using check::Severity;

constexpr std::size_t kMostNodes = 40;

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>isleway check</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --line: #8884; --critical: #c62828; --warning: #c77700;
  --unknown: #6a5acd; --quiet: #607d8b; --good: #2e7d32; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
article { border: 1px solid var(--line); border-left: 5px solid var(--quiet); border-radius: 4px;
  padding: .3rem 1rem .7rem; margin: .8rem 0; }
article.critical { border-left-color: var(--critical); } article.warning { border-left-color: var(--warning); }
article.unknown { border-left-color: var(--unknown); } article.good { border-left-color: var(--good); }
h2 { font-size: 1.05rem; margin: .4rem 0; } h2 small { font-weight: normal; opacity: .7; }
pre { overflow-x: auto; background: #8881; padding: .5rem; margin: .4rem 0; font-size: 13px; }
dl { display: grid; grid-template-columns: 5rem 1fr; gap: .15rem .6rem; margin: .4rem 0; }
dt { opacity: .7; } dd { margin: 0; }
table { border-collapse: collapse; font-size: 14px; } td, th { border: 1px solid var(--line); padding: .2rem .5rem; text-align: left; }
.odd td { background: #c7770022; } .bad td { background: #c6282822; }
</style></head><body>
)";

const char* class_of(Severity severity) {
  switch (severity) {
    case Severity::critical: return "critical";
    case Severity::warning: return "warning";
    case Severity::unknown: return "unknown";
    case Severity::good: return "good";
    case Severity::note:
    case Severity::not_a_fault: break;
  }
  return "quiet";
}

std::string article(const check::Finding& finding) {
  std::string text = fmt::format("<article class=\"{}\"><h2>{}: {} <small>{}</small></h2>\n",
                                 class_of(finding.severity), level_text(finding.severity),
                                 escape_markup(finding.title), escape_markup(finding.rule));
  if (const auto nodes = nodes_text(finding, kMostNodes); !nodes.empty())
    text += "<p>" + escape_markup(nodes) + "</p>\n";
  if (!finding.evidence.empty()) {
    text += "<pre>";
    for (const check::Evidence& evidence : finding.evidence)
      text += escape_markup(evidence_text(evidence)) + "\n";
    text += "</pre>\n";
  }
  text += "<dl>";
  for (const Paragraph& paragraph : paragraphs_of(finding)) {
    const std::string body = escape_markup(paragraph.text);
    text += fmt::format("<dt>{}</dt><dd>{}</dd>", paragraph.label,
                        is_link(paragraph) ? fmt::format("<a href=\"{0}\">{0}</a>", body) : body);
  }
  return text + "</dl></article>\n";
}

std::string node_table(const check::Report& report) {
  if (report.nodes.empty()) return {};
  std::string text = "<h2>Nodes</h2><table><tr><th>node</th>";
  for (const std::string& column : report.columns) text += "<th>" + escape_markup(column) + "</th>";
  text += "<th>critical</th><th>warnings</th></tr>\n";
  for (const check::NodeRow& row : report.nodes) {
    text += fmt::format("<tr class=\"{}\"><td>{}</td>",
                        row.critical > 0              ? "bad"
                        : row.odd || row.warnings > 0 ? "odd"
                                                      : "",
                        escape_markup(row.node));
    for (const std::string& cell : row.cells) text += "<td>" + escape_markup(cell) + "</td>";
    text += fmt::format("<td>{}</td><td>{}</td></tr>\n", row.critical, row.warnings);
  }
  return text + "</table>\n";
}

}  // namespace

std::string check_html(const check::Report& report) {
  std::string text = kHead;
  text += fmt::format("<h1>{}</h1><p>{}</p>\n", level_text(report.verdict()),
                      escape_markup(summary_text(report)));
  for (const check::Finding& finding : report.findings) text += article(finding);
  return text + node_table(report) + "</body></html>\n";
}

}  // namespace isleway::report
