// Rules held against facts.
#pragma once

#include <vector>

#include "check/facts.hpp"
#include "isleway/check/rules.hpp"

namespace isleway::check {

/// A rule that a fact meets, with what the other conditions found.
struct Hit {
  const Rule* rule = nullptr;
  const NodeFacts* node = nullptr;
  Fact fact;                          ///< of the first condition
  std::vector<const Signal*> beside;  ///< of the others, in their order; null where `none`
};

/// By rule, then node, then the outputs' order.
std::vector<Hit> find_hits(const std::vector<Rule>& rules, const Facts& facts);

/// Hits of one rule as few findings: those that say the same of several subjects or nodes are
/// one. Sorted by what to do first.
std::vector<Finding> to_findings(const std::vector<Hit>& hits);

}  // namespace isleway::check
