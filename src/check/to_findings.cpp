#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "check/engine.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

constexpr std::size_t kMostEvidence = 12;

/// Hits of one rule that will be one finding.
using Group = std::vector<const Hit*>;

std::string named(std::string_view subject) {
  return subject.empty() ? "the device" : subject_text(subject);
}

/// What {word} stands for in one hit.
std::optional<std::string> word_of(const Hit& hit, std::string_view word) {
  const Signal& signal = *hit.fact.signal;
  if (word == "subject") return named(signal.subject);
  if (word == "device") return named(device_of(signal.subject));
  if (word == "peer") return subject_text(signal.peer);
  if (word == "value" || word == signal.name) return value_text(signal);
  if (word == "node") return signal.node;
  if (hit.fact.derived)
    for (const auto& [name, text] : hit.fact.derived->words)
      if (name == word) return text;
  for (const Signal* other : hit.beside)
    if (other && other->name == word) return value_text(*other);
  if (const Product* product = hit.node->product_of(signal.subject); product && word == "product")
    return product->name;
  return {};
}

/// Over a group: the values that its hits have, each once, in ranges.
std::string fill_in_group(const Group& group, std::string_view text) {
  return fill_in(text, [&](std::string_view word) -> std::optional<std::string> {
    if (word == "count") return std::to_string(group.size());
    std::vector<std::string> values;
    for (const Hit* hit : group) {
      auto value = word_of(*hit, word);
      if (!value) return {};
      if (values.empty() || values.back() != *value) values.push_back(*std::move(value));
    }
    if (values.size() == 1) return values[0];
    return list_text(std::move(values), 8);
  });
}

class EvidenceList {
 public:
  void add(const Signal* signal) {
    if (!signal || signal->quote.empty()) return;
    if (!seen_.insert(signal->where.text() + '\n' + signal->quote).second) return;
    if (lines_.size() < kMostEvidence)
      lines_.push_back({signal->node, signal->where, signal->quote});
  }
  void move_to(Finding& finding) {
    finding.evidence_lines = seen_.size();
    finding.evidence = std::move(lines_);
  }

 private:
  std::unordered_set<std::string> seen_;
  std::vector<Evidence> lines_;
};

Finding to_finding(const Group& group) {
  const Rule& rule = *group[0]->rule;
  const auto text = [&](const std::string& of) { return fill_in_group(group, of); };
  Finding finding;
  finding.rule = rule.id;
  finding.severity = rule.severity;
  finding.sure = rule.sure;
  finding.title = text(rule.title);
  finding.explanation = text(rule.explanation);
  finding.cause = text(rule.cause);
  finding.action = text(rule.action);
  finding.confirm = text(rule.confirm);
  finding.reference = rule.reference;
  std::set<std::string> nodes;
  std::vector<std::string> subjects;
  EvidenceList evidence;
  for (const Hit* hit : group) {
    if (!hit->node->name().empty()) nodes.insert(hit->node->name());
    if (!hit->fact.signal->subject.empty()) subjects.push_back(hit->fact.signal->subject);
    if (hit->fact.derived && !hit->fact.derived->from.empty())
      for (const Signal* from : hit->fact.derived->from) evidence.add(from);
    else evidence.add(hit->fact.signal);
    for (const Signal* other : hit->beside) evidence.add(other);
  }
  finding.nodes.assign(nodes.begin(), nodes.end());
  std::sort(finding.nodes.begin(), finding.nodes.end(), counts_before);
  std::sort(subjects.begin(), subjects.end(), counts_before);
  subjects.erase(std::unique(subjects.begin(), subjects.end()), subjects.end());
  finding.subjects = std::move(subjects);
  evidence.move_to(finding);
  return finding;
}

/// First by node; then nodes that say the same together.
std::vector<Group> groups_of(std::span<const Hit> hits) {
  std::vector<Group> by_node;
  const NodeFacts* node = nullptr;
  for (const Hit& hit : hits) {
    if (hit.node != node || hit.rule->each) by_node.emplace_back();
    node = hit.node;
    by_node.back().push_back(&hit);
  }
  std::vector<Group> groups;
  std::map<std::string, std::size_t> by_title;
  for (Group& group : by_node) {
    const auto [at, is_new] =
        by_title.emplace(fill_in_group(group, group[0]->rule->title), groups.size());
    if (is_new) groups.push_back(std::move(group));
    else groups[at->second].insert(groups[at->second].end(), group.begin(), group.end());
  }
  return groups;
}

/// On which nodes each rule was met.
using MetOn = std::unordered_map<std::string_view, std::unordered_set<std::string_view>>;

MetOn nodes_by_rule(const std::vector<Finding>& findings) {
  MetOn met;
  for (const Finding& finding : findings) {
    auto& nodes = met[finding.rule];
    if (finding.nodes.empty()) nodes.insert("");
    nodes.insert(finding.nodes.begin(), finding.nodes.end());
  }
  return met;
}

/// Which of the rules that may explain `finding` were met on one of its nodes. What is of no
/// named node may be of any.
std::vector<std::string> explained_by(const Finding& finding, const Rule& rule, const MetOn& met) {
  std::vector<std::string> ids;
  for (const std::string& id : rule.follows) {
    const auto other = id == rule.id ? met.end() : met.find(id);
    if (other == met.end()) continue;
    const auto& nodes = other->second;
    if (finding.nodes.empty() || nodes.count("") > 0 ||
        std::any_of(finding.nodes.begin(), finding.nodes.end(),
                    [&](const std::string& node) { return nodes.count(node) > 0; }))
      ids.push_back(id);
  }
  return ids;
}

}  // namespace

std::vector<Finding> to_findings(const std::vector<Hit>& hits) {
  std::vector<Finding> findings;
  std::vector<const Rule*> rules;
  for (std::size_t i = 0; i < hits.size();) {
    std::size_t end = i;
    while (end < hits.size() && hits[end].rule == hits[i].rule) ++end;
    for (const Group& group : groups_of({hits.data() + i, end - i})) {
      findings.push_back(to_finding(group));
      rules.push_back(hits[i].rule);
    }
    i = end;
  }
  const MetOn met = nodes_by_rule(findings);
  for (std::size_t i = 0; i < findings.size(); ++i)
    findings[i].follows_from = explained_by(findings[i], *rules[i], met);
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    if (a.severity != b.severity) return a.severity < b.severity;
    return a.follows_from.empty() && !b.follows_from.empty();
  });
  return findings;
}

}  // namespace isleway::check
