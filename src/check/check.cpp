#include "isleway/check/check.hpp"

#include <algorithm>

#include "check/derivation.hpp"
#include "check/engine.hpp"
#include "check/node_profile.hpp"
#include "check/node_table.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {

/// What the machine that the user expects calls its GPUs.
std::vector<std::string> expected_names(const Context& context) {
  std::vector<std::string> names;
  if (!context.machine || context.machine->unit_count() == 0) return names;
  const Unit& unit = context.machine->unit(0);
  for (const DeviceIndex gpu : unit.gpus()) {
    const GpuPart* part = context.catalogue.parts().gpu(unit.device(gpu).part);
    names.push_back(part ? part->title : "");
  }
  return names;
}

/// Which product each GPU is: by the outputs, else by the expected machine.
void find_products(Facts& facts, const Context& context) {
  const Products& products = context.rules.products;
  const auto expected = expected_names(context);
  for (NodeFacts& node : facts.nodes()) {
    for (const Fact& fact : node.named("gpu.name")) {
      const int number = gpu_number(fact.signal->subject);
      const Product* product = products.find(value_text(*fact.signal));
      if (product) node.products.emplace(number >= 0 ? number : -1, product);
    }
    if (!node.products.empty()) continue;
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (const Product* product = products.find(expected[i]))
        node.products.emplace(static_cast<int>(i), product);
  }
}

}  // namespace

Severity Report::verdict() const {
  bool judged = false;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::critical || finding.severity == Severity::warning)
      return finding.severity;  // they come first
    judged |= finding.severity > Severity::unknown;
  }
  return judged ? Severity::good : Severity::unknown;
}

Report check(const Input& input, const Context& context) {
  Facts facts(input.signals);
  find_products(facts, context);
  for (const Derivation* derivation : derive()) derivation->derive(facts, input, context);
  Report report;
  report.facts = input.signals.size();
  report.findings = to_findings(find_hits(context.rules.rules, facts));
  add_node_table(facts, context.rules.profile, report);
  return report;
}

}  // namespace isleway::check
