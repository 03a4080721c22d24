#include <fmt/format.h>

#include <algorithm>

#include "isleway/report/check.hpp"
#include "report/check_words.hpp"

namespace isleway::report {
namespace {

constexpr std::size_t kMostNodes = 20;

/// Text that must not become markup.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>#|~&").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string code_block(const check::Finding& finding) {
  if (finding.evidence.empty()) return {};
  std::string lines;
  std::size_t ticks = 3;
  for (const check::Evidence& evidence : finding.evidence) {
    const std::string line = evidence_text(evidence);
    std::size_t run = 0;
    for (const char c : line) ticks = std::max(ticks, (run = c == '`' ? run + 1 : 0) + 1);
    lines += line + "\n";
  }
  const std::string fence(ticks, '`');
  return fmt::format("{}text\n{}{}\n\n", fence, lines, fence);
}

}  // namespace

std::string check_markdown(const check::Report& report) {
  std::string text = fmt::format("## isleway check: {}\n\n{}\n\n", level_text(report.verdict()),
                                 summary_text(report));
  for (const check::Finding& finding : report.findings) {
    if (finding.severity > check::Severity::not_a_fault) continue;
    text += fmt::format("### {}: {}\n\n", level_text(finding.severity), escaped(finding.title));
    if (const auto nodes = nodes_text(finding, kMostNodes); !nodes.empty())
      text += escaped(nodes) + "\n\n";
    text += code_block(finding);
    for (const Paragraph& paragraph : paragraphs_of(finding))
      text += fmt::format("- **{}**: {}\n", paragraph.label,
                          is_link(paragraph) ? paragraph.text : escaped(paragraph.text));
    text += fmt::format("- **rule**: `{}`\n\n", finding.rule);
  }
  std::string good;
  for (const check::Finding& finding : report.findings)
    if (finding.severity == check::Severity::good) good += "- " + escaped(finding.title) + "\n";
  if (!good.empty()) text += "### As expected\n\n" + good + "\n";
  if (report.nodes.empty()) return text;
  text += "| node |";
  std::string rule = "| --- |";
  for (const std::string& column : report.columns) {
    text += " " + column + " |";
    rule += " --- |";
  }
  text += " critical | warnings |\n" + rule + " ---: | ---: |\n";
  for (const check::NodeRow& row : report.nodes) {
    text += "| " + escaped(row.node) + " |";
    for (const std::string& cell : row.cells) text += " " + escaped(cell) + " |";
    text += fmt::format(" {} | {} |\n", row.critical, row.warnings);
  }
  return text;
}

}  // namespace isleway::report
