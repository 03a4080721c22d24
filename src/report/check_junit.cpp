#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "isleway/report/check.hpp"
#include "report/check_words.hpp"

namespace isleway::report {
namespace {

using check::Severity;

/// Without characters that XML 1.0 does not have.
std::string clean(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') c = '?';
  return text;
}

std::string body_of(const check::Finding& finding) {
  std::string text;
  for (const check::Evidence& evidence : finding.evidence) text += evidence_text(evidence) + "\n";
  for (const Paragraph& paragraph : paragraphs_of(finding))
    text += fmt::format("{}: {}\n", paragraph.label, paragraph.text);
  return clean(std::move(text));
}

}  // namespace

std::string check_junit(const check::Report& report) {
  const CheckCounts counts = counts_of(report);
  pugi::xml_document document;
  auto suites = document.append_child("testsuites");
  auto suite = suites.append_child("testsuite");
  suite.append_attribute("name") = "isleway check";
  suite.append_attribute("tests") = report.findings.size();
  suite.append_attribute("failures") = counts.critical + counts.warnings;
  suite.append_attribute("skipped") = counts.unknown;
  for (const check::Finding& finding : report.findings) {
    auto test = suite.append_child("testcase");
    test.append_attribute("classname") = ("isleway." + finding.rule).c_str();
    const std::string nodes = nodes_text(finding, 8);
    test.append_attribute("name") =
        clean(finding.title + (nodes.empty() ? "" : " " + nodes)).c_str();
    if (finding.severity == Severity::critical || finding.severity == Severity::warning) {
      auto failure = test.append_child("failure");
      failure.append_attribute("type") = name_of(finding.severity);
      failure.append_attribute("message") = clean(finding.title).c_str();
      failure.text() = body_of(finding).c_str();
    } else if (finding.severity == Severity::unknown) {
      test.append_child("skipped").append_attribute("message") = clean(finding.title).c_str();
    } else if (const std::string body = body_of(finding); !body.empty()) {
      test.append_child("system-out").text() = body.c_str();
    }
  }
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
  return out.str();
}

}  // namespace isleway::report
