// Rules: what a fact, or several together, mean. Read from rules/*.yaml and the user's files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isleway/check/finding.hpp"
#include "isleway/check/products.hpp"
#include "isleway/check/profile.hpp"
#include "isleway/check/thresholds.hpp"
#include "isleway/check/versions.hpp"
#include "isleway/check/xid.hpp"
#include "isleway/formats/signal.hpp"

namespace isleway::check {

/// One test of a fact's value.
struct Clause {
  enum class Test : std::uint8_t {
    is,
    is_not,
    like,
    not_like,
    above,
    below,
    at_least,
    at_most,
    older_than,
    newer_than
  };
  Test test = Test::is;
  std::vector<std::string> texts;  ///< any of them; patterns of `like` know * and ?
  double number = 0;

  /// Texts are compared without regard to case; a fact of the wrong kind meets no test.
  bool holds(const formats::Signal& signal) const;
};

/// "There is a fact with this name, whose value ...".
struct Condition {
  /// Where to look, relative to the rule's first condition: at the same subject (or what it
  /// is part of, or its parts), anywhere on its node, or anywhere.
  enum class Where : std::uint8_t { subject, node, anywhere };
  std::string signal;
  Where where = Where::node;
  std::vector<std::string> subjects;  ///< patterns; empty: any
  std::vector<std::string> peers;     ///< likewise
  std::vector<std::string> quotes;    ///< patterns of the line that states it; empty: any
  std::vector<Clause> clauses;        ///< all of them
  bool none = false;                  ///< holds where there is no such fact
  int at_least = 1;                   ///< so many facts
};

/// Whose facts a rule is about. Empty lists fit all; otherwise the GPU has to be known, unless
/// "unknown" is listed.
struct AppliesTo {
  std::vector<std::string> vendor, form, architecture, wiring, product;  ///< products: patterns
};

struct Rule {
  std::string id;
  Severity severity = Severity::warning;
  AppliesTo applies;
  std::vector<Condition> when;    ///< all; the first one gives the subject
  std::vector<Condition> unless;  ///< none
  /// Texts may hold {subject}, {peer}, {value}, {node}, {count}, the name of another
  /// condition's signal, and words that come with a derived fact.
  std::string title, explanation, cause, action, confirm;
  Sure sure = Sure::likely;
  std::string reference;
  std::vector<std::string> follows;  ///< ids of rules that explain this one on the same node
  bool each = false;                 ///< a finding for every subject, not one for all
};

struct RuleBook {
  std::vector<Rule> rules;  ///< in the order of what to do first
  Products products;
  XidTable xids;
  VersionTable versions;
  Profile profile;
  Thresholds thresholds;

  /// Every rules/*.yaml that holds rules, and rules/products.yaml.
  static Result<RuleBook> load(const std::filesystem::path& folder);
  /// Adds the rules of a user's file; one with a known id takes that one's place.
  Result<void> add(const std::string& text, const std::string& file);
};

}  // namespace isleway::check
