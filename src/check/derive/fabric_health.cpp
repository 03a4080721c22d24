// The fields of fabric health that are not as they should be.
#include <algorithm>

#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

bool is_fine(const std::string& text) {
  return is_like_any(text,
                     {"N/A", "[N/A]", "Healthy", "Full", "False", "None", "Not Supported", ""});
}

void derive_fabric_health(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    std::vector<Derived> found;
    for (const Fact& fact : node.named("fabric.health")) {
      const Signal& signal = *fact.signal;
      if (signal.peer == "summary" || is_fine(value_text(signal))) continue;
      const char* name = signal.peer == "route_unhealthy" ? "fabric.route_unhealthy"
                         : signal.peer == "bandwidth"     ? "fabric.health_bandwidth"
                                                          : "fabric.health_other";
      std::string summary = "not given";
      for (const Fact& other : node.named("fabric.health"))
        if (other.signal->subject == signal.subject && other.signal->peer == "summary")
          summary = value_text(*other.signal);
      found.push_back({{name, signal.subject, "", value_text(signal), "", {}, ""},
                       {&signal},
                       {{"summary", summary}, {"field", signal.peer}}});
    }
    for (Derived& derived : found) node.add(std::move(derived));
  }
}

}  // namespace

extern const Derivation fabric_health_derivation;
const Derivation fabric_health_derivation = {"Fields of fabric health", derive_fabric_health};

}  // namespace isleway::check
