#include "check/node_table.hpp"

#include <map>
#include <unordered_map>

#include "check/node_profile.hpp"

namespace isleway::check {
namespace {

/// All values of an entry in few words: the sum of numbers that are counted, else the values.
std::string cell_of(const NodeFacts& node, const ProfileEntry& entry) {
  ProfileEntry whole = entry;
  whole.per_subject = false;
  const auto values = profile_values(node, whole);
  return values.empty() ? "" : values.begin()->second.text;
}

}  // namespace

void add_node_table(const Facts& facts, const Profile& profile, Report& report) {
  if (facts.nodes().size() < 2) return;
  std::vector<const ProfileEntry*> columns;
  for (const ProfileEntry& entry : profile.entries) {
    bool any = false;
    for (const NodeFacts& node : facts.nodes()) any |= node.has(entry.signal);
    if (any && !entry.column.empty()) columns.push_back(&entry);
  }
  std::unordered_map<std::string, std::size_t> row_of;
  for (const NodeFacts& node : facts.nodes()) {
    if (node.name().empty()) continue;
    row_of.emplace(node.name(), report.nodes.size());
    NodeRow& row = report.nodes.emplace_back();
    row.node = node.name();
    for (const ProfileEntry* entry : columns) row.cells.push_back(cell_of(node, *entry));
  }
  for (const ProfileEntry* entry : columns) report.columns.push_back(entry->column);
  for (const Finding& finding : report.findings)
    for (const std::string& name : finding.nodes) {
      const auto found = row_of.find(name);
      if (found == row_of.end()) continue;
      NodeRow& row = report.nodes[found->second];
      row.critical += finding.severity == Severity::critical;
      row.warnings += finding.severity == Severity::warning;
      row.odd |= finding.rule.starts_with("sister-");
    }
}

}  // namespace isleway::check
