#include <algorithm>

#include "check/facts.hpp"
#include "check/words.hpp"
#include "isleway/check/rules.hpp"
#include "isleway/core.hpp"

namespace isleway::check {

bool Clause::holds(const formats::Signal& signal) const {
  const std::string text = value_text(signal);
  const double value = number_of(signal);  // NaN compares false with all
  const auto equals = [&](const std::string& other) { return equal_ignoring_case(text, other); };
  switch (test) {
    case Test::is: return std::any_of(texts.begin(), texts.end(), equals);
    case Test::is_not: return std::none_of(texts.begin(), texts.end(), equals);
    case Test::like: return is_like_any(text, texts);
    case Test::not_like: return !is_like_any(text, texts);
    case Test::above: return value > number;
    case Test::below: return value < number;
    case Test::at_least: return value >= number;
    case Test::at_most: return value <= number;
    case Test::older_than: return is_older(text, texts.front());
    case Test::newer_than: return is_older(texts.front(), text);
  }
  return false;
}

}  // namespace isleway::check
