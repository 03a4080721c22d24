#include <algorithm>

#include "check/engine.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

bool fits(std::string_view text, const std::vector<std::string>& names) {
  return names.empty() || std::find(names.begin(), names.end(), text) != names.end();
}

bool applies_to(const AppliesTo& applies, const Product* product) {
  const auto unknown_will_do = [](const std::vector<std::string>& names) {
    return names.empty() || fits("unknown", names);
  };
  if (!product)
    return unknown_will_do(applies.vendor) && unknown_will_do(applies.form) &&
           unknown_will_do(applies.architecture) && unknown_will_do(applies.wiring) &&
           unknown_will_do(applies.product);
  return fits(product->vendor, applies.vendor) && fits(product->form, applies.form) &&
         fits(product->architecture, applies.architecture) &&
         fits(name_of(product->wiring), applies.wiring) &&
         is_like_any(product->name, applies.product);
}

bool meets(const Signal& signal, const Condition& condition) {
  if (!is_like_any(signal.subject, condition.subjects) ||
      !is_like_any(signal.peer, condition.peers) ||
      !is_like_any(signal.quote, condition.quotes))
    return false;
  return std::all_of(condition.clauses.begin(), condition.clauses.end(),
                     [&](const Clause& clause) { return clause.holds(signal); });
}

/// The same subject, what it is part of, or its parts.
bool belong_together(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return b.starts_with(a) && (a.empty() || a.size() == b.size() || b[a.size()] == '/');
}

/// Conditions beyond the first, relative to one fact.
class Surroundings {
 public:
  Surroundings(const Facts& facts, const NodeFacts& node, const Signal& subject)
      : facts_(facts), node_(node), subject_(subject) {}

  /// `found` becomes the first fact that meets it, or null.
  bool hold(const Condition& condition, const Signal*& found) const {
    found = nullptr;
    int count = 0;
    search(condition, node_, found, count);
    if (condition.where == Condition::Where::anywhere) {
      for (const NodeFacts& other : facts_.nodes())
        if (&other != &node_) search(condition, other, found, count);
      if (&facts_.cluster() != &node_) search(condition, facts_.cluster(), found, count);
    }
    return condition.none ? count == 0 : count >= condition.at_least;
  }

 private:
  void search(const Condition& condition, const NodeFacts& node, const Signal*& found,
              int& count) const {
    for (const std::string_view name : node.names_like(condition.signal))
      for (const Fact& fact : node.named(name)) {
        if (condition.where == Condition::Where::subject &&
            !belong_together(fact.signal->subject, subject_.subject))
          continue;
        if (!meets(*fact.signal, condition)) continue;
        if (!found) found = fact.signal;
        if (++count >= condition.at_least) return;
      }
  }

  const Facts& facts_;
  const NodeFacts& node_;
  const Signal& subject_;
};

void find_hits(const Rule& rule, const Facts& facts, const NodeFacts& node,
               std::vector<Hit>& hits) {
  const Condition& first = rule.when[0];
  const std::size_t before = hits.size();
  for (const std::string_view name : node.names_like(first.signal))
    for (const Fact& fact : node.named(name)) {
      if (!meets(*fact.signal, first)) continue;
      if (!applies_to(rule.applies, node.product_of(fact.signal->subject))) continue;
      const Surroundings around(facts, node, *fact.signal);
      Hit hit{&rule, &node, fact, {}};
      const Signal* found = nullptr;
      bool all = true;
      for (std::size_t i = 1; i < rule.when.size() && all; ++i) {
        all = around.hold(rule.when[i], found);
        hit.beside.push_back(found);
      }
      for (std::size_t i = 0; i < rule.unless.size() && all; ++i)
        all = !around.hold(rule.unless[i], found);
      if (all) hits.push_back(std::move(hit));
    }
  if (hits.size() - before < static_cast<std::size_t>(first.at_least)) hits.resize(before);
}

}  // namespace

std::vector<Hit> find_hits(const std::vector<Rule>& rules, const Facts& facts) {
  std::vector<Hit> hits;
  for (const Rule& rule : rules) {
    for (const NodeFacts& node : facts.nodes()) find_hits(rule, facts, node, hits);
    find_hits(rule, facts, facts.cluster(), hits);
  }
  return hits;
}

}  // namespace isleway::check
