// What all forms of a check's report say in the same words.
#pragma once

#include <string>
#include <vector>

#include "isleway/check/finding.hpp"

namespace isleway::report {

struct CheckCounts {
  std::size_t critical = 0, warnings = 0, unknown = 0, notes = 0, not_faults = 0, good = 0;
};
CheckCounts counts_of(const check::Report& report);

/// "CRITICAL"
std::string level_text(check::Severity severity);
/// "1 critical, 2 warnings, 3 notes"; "nothing is wrong" when there is neither.
std::string summary_text(const check::Report& report);
/// "on n7", "on 12 nodes: n1-n12"; empty where no node has a name.
std::string nodes_text(const check::Finding& finding, std::size_t most);
/// "file:3: the line", cut to a length that can be read.
std::string evidence_text(const check::Evidence& evidence, std::size_t most = 160);

/// What a finding has to say beyond its title, in this order; only what is there.
struct Paragraph {
  const char* label;
  std::string text;
};
std::vector<Paragraph> paragraphs_of(const check::Finding& finding);
/// Nothing but an address, which no form may escape.
bool is_link(const Paragraph& paragraph);

}  // namespace isleway::report
