// Measurements against the targets of a rollout.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "check/derivation.hpp"
#include "check/words.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {

bool is_measured_by(const Signal& signal, const Target& target) {
  if (!target.subject.empty() && signal.subject != target.subject) return false;
  if (target.bytes >= 0 && parse_int(signal.peer) != target.bytes) return false;
  return std::isfinite(number_of(signal));
}

/// USD for moving `per_GB` at the measured rate.
double cost_of(const Target& target, double GBs) {
  constexpr double kSecondsPerHour = 3600;
  return GBs > 0 ? target.usd_per_hour * target.per_GB / (GBs * kSecondsPerHour)
                 : std::numeric_limits<double>::infinity();
}

std::string limit_text(const Target& target) {
  std::string text;
  if (target.at_least) text = "at least " + number_text(*target.at_least);
  if (target.at_most)
    text += (text.empty() ? "" : " and ") + ("at most " + number_text(*target.at_most));
  return text;
}

void judge(NodeFacts& node, const Target& target, const Gate& gate, const Signal& measured) {
  const bool is_cost = target.per_GB > 0;
  const double value = is_cost ? cost_of(target, number_of(measured)) : number_of(measured);
  const bool met = (!target.at_least || value >= *target.at_least) &&
                   (!target.at_most || value <= *target.at_most);
  Derived fact{
      {met ? "gate.passed" : "gate.failed", measured.subject, measured.peer, value, "", {}, ""},
      {&measured},
      {{"target", target.name},
       {"limit", limit_text(target)},
       {"rollout", gate.rollout.empty() ? "the change" : gate.rollout},
       {"roll_back", gate.roll_back.empty() ? "restore the state before" : gate.roll_back}}};
  if (is_cost)
    fact.words.emplace_back("unit", fmt::format(" USD for {} GB", number_text(target.per_GB)));
  else fact.words.emplace_back("unit", "");
  node.add(std::move(fact));
}

void derive_gate(Facts& facts, const Input&, const Context& context) {
  if (!context.gate) return;
  for (const Target& target : context.gate->targets) {
    bool measured = false;
    for (NodeFacts& node : facts.nodes())
      for (const Fact& fact : node.named(target.measurement))
        if (is_measured_by(*fact.signal, target)) {
          judge(node, target, *context.gate, *fact.signal);
          measured = true;
        }
    if (!measured)
      facts.cluster().add(Derived{{"gate.not_measured", "", "", target.measurement, "", {}, ""},
                                  {},
                                  {{"target", target.name}, {"limit", limit_text(target)}}});
  }
}

}  // namespace

extern const Derivation gate_derivation;
const Derivation gate_derivation = {"Targets of a rollout", derive_gate};

}  // namespace isleway::check
