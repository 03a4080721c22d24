// What rules name is documented, and what the documents list is there.
#include <set>

#include "isleway/core.hpp"
#include "unit/check/signals.hpp"

namespace isleway::check {
namespace {

using DocumentedTest = CheckTest;

/// Words between back ticks in the first column of the page's tables.
std::set<std::string> names_in_page() {
  const std::string page = read_file(ISLEWAY_SOURCE_DIR "/docs/signals.md").value();
  std::set<std::string> names;
  for (const std::string_view line : split_lines(page)) {
    if (!line.starts_with("| `")) continue;
    const auto pieces = split(line.substr(0, line.find(" | ")), '`');
    for (std::size_t i = 1; i < pieces.size(); i += 2) names.emplace(pieces[i]);
  }
  return names;
}

bool is_pattern(std::string_view name) { return name.find_first_of("*?<") != name.npos; }

TEST_F(DocumentedTest, EverySignalThatARuleNames) {
  const auto names = names_in_page();
  ASSERT_GT(names.size(), 200U);
  const auto is_known = [&](const std::string& name) {
    // "ib.<counter>", "copy.<table>" stand for as many as the tools print.
    const std::string family = name.substr(0, name.find('.')) + ".<";
    const auto at = names.lower_bound(family);
    return names.count(name) > 0 || (at != names.end() && at->starts_with(family));
  };
  for (const Rule& rule : rules_.rules)
    for (const auto* conditions : {&rule.when, &rule.unless})
      for (const Condition& condition : *conditions)
        if (!is_pattern(condition.signal)) {
          EXPECT_TRUE(is_known(condition.signal)) << rule.id << " names " << condition.signal;
        }
  for (const ProfileEntry& entry : rules_.profile.entries)
    EXPECT_TRUE(is_known(entry.signal)) << "rules/profile.yaml names " << entry.signal;
}

TEST_F(DocumentedTest, RulesThatExplainOthersAreThere) {
  std::set<std::string> ids;
  for (const Rule& rule : rules_.rules) EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
  for (const Rule& rule : rules_.rules)
    for (const std::string& id : rule.follows)
      EXPECT_EQ(ids.count(id), 1U) << rule.id << " follows " << id;
}

TEST_F(DocumentedTest, RulesOfTheCoverageTablesAreThere) {
  std::set<std::string> ids;
  for (const Rule& rule : rules_.rules) ids.insert(rule.id);
  const std::string page = read_file(ISLEWAY_SOURCE_DIR "/docs/check-coverage.md").value();
  std::size_t named = 0;
  for (const std::string_view line : split_lines(page)) {
    const std::size_t last = line.rfind(" | ");
    if (!line.starts_with("| ") || last == line.npos) continue;
    const auto pieces = split(line.substr(last), '`');
    for (std::size_t i = 1; i < pieces.size(); i += 2) {
      if (is_pattern(pieces[i])) continue;
      ++named;
      EXPECT_EQ(ids.count(std::string(pieces[i])), 1U) << "docs/check-coverage.md: " << pieces[i];
    }
  }
  EXPECT_GT(named, 100U);
}

}  // namespace
}  // namespace isleway::check
