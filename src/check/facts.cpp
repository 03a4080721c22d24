#include "check/facts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "check/words.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {
constexpr std::size_t kFewFacts = 16;  // read through faster than looked up
}

double number_of(const Signal& signal) {
  const auto* number = std::get_if<double>(&signal.value);
  return number ? *number : std::numeric_limits<double>::quiet_NaN();
}

std::string value_text(const Signal& signal) {
  if (const auto* text = std::get_if<std::string>(&signal.value)) return *text;
  return number_text(number_of(signal));
}

std::optional<int> whole_number(const Signal& signal) {
  const auto number = parse_int(value_text(signal));
  constexpr std::int64_t kMost = 1'000'000'000;
  if (!number || *number < -kMost || *number > kMost) return {};
  return static_cast<int>(*number);
}

std::string_view device_of(std::string_view subject) {
  return subject.substr(0, subject.find('/'));
}

int gpu_number(std::string_view subject) {
  const std::string_view device = device_of(subject);
  if (!device.starts_with("gpu")) return -1;
  const auto number = parse_int(device.substr(3));
  return number && *number >= 0 && *number < 1'000'000 ? static_cast<int>(*number) : -1;
}

std::span<const Fact> NodeFacts::named(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::span<const Fact>() : found->second.facts;
}

const Signal* NodeFacts::find(std::string_view name, std::string_view subject) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  const Named& list = found->second;
  const auto& facts = list.facts;
  if (facts.size() <= kFewFacts) {
    for (const Fact& fact : facts)
      if (fact.signal->subject == subject) return fact.signal;
    return nullptr;
  }
  for (; list.indexed < facts.size(); ++list.indexed)
    list.first_of.emplace(facts[list.indexed].signal->subject, list.indexed);
  const auto at = list.first_of.find(subject);
  return at == list.first_of.end() ? nullptr : facts[at->second].signal;
}

const Signal* NodeFacts::find(std::string_view name) const {
  const auto facts = named(name);
  return facts.empty() ? nullptr : facts[0].signal;
}

std::vector<std::string_view> NodeFacts::names_like(std::string_view pattern) const {
  std::vector<std::string_view> names;
  if (pattern.find_first_of("*?") == std::string_view::npos) {
    if (has(pattern)) names.push_back(pattern);
    return names;
  }
  for (const auto& [name, facts] : by_name_)
    if (is_like(name, pattern)) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

void NodeFacts::add(Derived derived) {
  derived.signal.node = name_;
  std::erase(derived.from, nullptr);  // an output that is cut may lack the line
  if (!derived.from.empty()) {
    derived.signal.where = derived.from[0]->where;
    derived.signal.quote = derived.from[0]->quote;
  }
  const Derived& kept = derived_.emplace_back(std::move(derived));
  by_name_[kept.signal.name].facts.push_back({&kept.signal, &kept});
}

const Product* NodeFacts::product_of(std::string_view subject) const {
  if (const auto found = products.find(gpu_number(subject)); found != products.end())
    return found->second;
  if (common_of_ == products.size()) return common_;
  common_of_ = products.size();
  common_ = products.empty() ? nullptr : products.begin()->second;
  for (const auto& [number, product] : products)
    if (product != common_) common_ = nullptr;
  return common_;
}

Facts::Facts(const formats::Signals& signals) {
  std::vector<std::string> names;
  std::unordered_map<std::string_view, std::size_t> position;
  for (const Signal& signal : signals)
    if (position.emplace(signal.node, 0).second) names.push_back(signal.node);
  std::sort(names.begin(), names.end(), counts_before);
  for (std::size_t i = 0; i < names.size(); ++i) {
    nodes_.emplace_back(names[i]);
    position[names[i]] = i;
  }
  for (const Signal& signal : signals) nodes_[position[signal.node]].add(signal);
}

}  // namespace isleway::check
