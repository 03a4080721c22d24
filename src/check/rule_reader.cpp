#include "check/rule_reader.hpp"

#include <array>

namespace isleway::check {
namespace {

template <class T, std::size_t N>
T choice(YamlFile& file, YamlMap& map, const char* key, T fallback, const std::array<T, N>& known) {
  if (!map.has(key)) return fallback;
  const std::string text = map.text(key);
  std::vector<std::string> names;
  for (const T value : known) {
    if (text == name_of(value)) return value;
    names.emplace_back(name_of(value));
  }
  file.fail_unknown(map.node(), key, text, names);
  return fallback;
}

constexpr std::pair<const char*, Clause::Test> kTextTests[] = {
    {"is", Clause::Test::is},
    {"is_not", Clause::Test::is_not},
    {"like", Clause::Test::like},
    {"not_like", Clause::Test::not_like},
    {"older_than", Clause::Test::older_than},
    {"newer_than", Clause::Test::newer_than}};
constexpr std::pair<const char*, Clause::Test> kNumberTests[] = {
    {"above", Clause::Test::above},
    {"below", Clause::Test::below},
    {"at_least", Clause::Test::at_least},
    {"at_most", Clause::Test::at_most}};

Condition read_condition(YamlFile& file, const YAML::Node& node) {
  YamlMap map(file, node, "a condition");
  Condition condition;
  condition.signal = map.required_text("signal");
  condition.subjects = map.texts("subject");
  condition.peers = map.texts("peer");
  condition.quotes = map.texts("quote");
  condition.none = map.flag("none", false);
  condition.at_least = map.integer("count", 1, 1, 1'000'000);
  const std::string where = map.text("where", "node");
  if (where == "same") condition.where = Condition::Where::subject;
  else if (where == "anywhere") condition.where = Condition::Where::anywhere;
  else if (where != "node") file.fail_unknown(node, "where", where, {"same", "node", "anywhere"});
  for (const auto& [key, test] : kTextTests)
    if (map.has(key)) condition.clauses.push_back({test, map.texts(key), 0});
  for (const auto& [key, test] : kNumberTests)
    if (map.has(key)) condition.clauses.push_back({test, {}, map.number(key, 0, -1e18, 1e18)});
  map.finish();
  return condition;
}

std::vector<Condition> read_conditions(YamlFile& file, YamlMap& map, const char* key) {
  std::vector<Condition> conditions;
  for (const auto& entry : map.optional_list(key))
    conditions.push_back(read_condition(file, entry));
  return conditions;
}

AppliesTo read_applies(YamlFile& file, YamlMap& rule) {
  AppliesTo applies;
  const YAML::Node node = rule.take("applies");
  if (!node.IsDefined()) return applies;
  YamlMap map(file, node, "'applies'");
  applies.vendor = map.texts("vendor");
  applies.form = map.texts("form");
  applies.architecture = map.texts("architecture");
  applies.wiring = map.texts("wiring");
  applies.product = map.texts("product");
  map.finish();
  return applies;
}

}  // namespace

Rule read_rule(YamlFile& file, const YAML::Node& node) {
  YamlMap map(file, node, "a rule");
  Rule rule;
  rule.id = map.required_text("id");
  rule.severity = choice(file, map, "severity", Severity::warning,
                         std::array{Severity::critical, Severity::warning, Severity::unknown,
                                    Severity::note, Severity::not_a_fault, Severity::good});
  rule.applies = read_applies(file, map);
  rule.when = read_conditions(file, map, "when");
  if (rule.when.empty()) file.fail(node, "a rule without conditions", "'when': a list");
  else if (rule.when[0].none)
    file.fail(node, "the first condition of a rule is about what is there",
              "'none' in a later condition");
  rule.unless = read_conditions(file, map, "unless");
  rule.title = map.required_text("title");
  rule.explanation = map.text("explanation");
  rule.cause = map.text("cause");
  rule.sure = choice(file, map, "sure", Sure::likely,
                     std::array{Sure::certain, Sure::likely, Sure::possible});
  rule.action = map.text("action");
  rule.confirm = map.text("confirm");
  rule.reference = map.text("reference");
  rule.follows = map.texts("follows");
  rule.each = map.flag("each", false);
  map.finish();
  return rule;
}

}  // namespace isleway::check
