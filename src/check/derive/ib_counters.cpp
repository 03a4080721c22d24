// Error counters of InfiniBand ports; traffic counters are none.
#include <map>

#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

/// Counters that have a rule of their own, and those that count no errors.
bool is_handled(std::string_view name) {
  return is_like_any(name, {"ib.link_downed", "ib.symbol_error", "ib.port_rcv_errors"});
}
bool counts_errors(std::string_view name) {
  return is_like_any(name, {"*error*", "*discard*", "*drop*", "*overrun*", "*integrity*",
                            "*downed*", "*recovery*", "*vl15*"});
}

/// A port whose output was hardly copied cannot be called clean.
constexpr double kFewCounters = 3;

void derive_ib_counters(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    std::map<std::string, std::pair<double, const Signal*>> clean;
    std::map<std::string, bool> dirty;
    std::vector<Derived> found;
    for (const std::string_view name : node.names_like("ib.*")) {
      if (!counts_errors(name)) continue;
      for (const Fact& fact : node.named(name)) {
        const Signal& signal = *fact.signal;
        auto& [count, line] = clean[signal.subject];
        ++count;
        line = &signal;
        if (!(number_of(signal) > 0)) continue;
        dirty[signal.subject] = true;
        if (is_handled(name)) continue;
        found.push_back({{"ib.error_counter", signal.subject, "", number_of(signal), "", {}, ""},
                         {&signal},
                         {{"field", std::string(name.substr(3))}}});
      }
    }
    for (const auto& [port, counted] : clean)
      if (dirty.count(port) == 0 && counted.first >= kFewCounters)
        found.push_back(
            {{"ib.counters_clean", port, "", counted.first, "", {}, ""}, {counted.second}, {}});
    for (Derived& derived : found) node.add(std::move(derived));
  }
}

}  // namespace

extern const Derivation ib_counters_derivation;
const Derivation ib_counters_derivation = {"Error counters of InfiniBand ports",
                                           derive_ib_counters};

}  // namespace isleway::check
