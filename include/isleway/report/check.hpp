// Findings as text, one line, Markdown, HTML, JUnit XML and JSON.
#pragma once

#include <string>
#include <string_view>

#include "isleway/check/finding.hpp"

namespace isleway::report {

/// For a terminal. With `everything`, every line of evidence, all notes and all nodes.
std::string check_text(const check::Report& report, bool everything);
/// "WARNING: 1 critical, 2 warnings - first title | critical=1 warnings=2 ..." as Nagios
/// plugins print: one line, with performance data after the bar.
std::string check_line(const check::Report& report);
/// To be pasted into an issue.
std::string check_markdown(const check::Report& report);
/// One page that needs nothing else.
std::string check_html(const check::Report& report);
/// A test case a finding: critical and warning fail, unknown is skipped.
std::string check_junit(const check::Report& report);
/// See docs/json.md.
std::string check_json(const check::Report& report);

}  // namespace isleway::report
