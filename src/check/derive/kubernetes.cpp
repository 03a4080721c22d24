// GPUs that a node has and its device plugin does not offer.
#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

void derive_kubernetes(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    std::vector<Derived> found;
    for (const Fact& fact : node.named("k8s.allocatable")) {
      const Signal* capacity = node.find("k8s.capacity", fact.signal->subject);
      if (!capacity || !(number_of(*fact.signal) < number_of(*capacity))) continue;
      found.push_back({{"k8s.gpus_unhealthy",
                        fact.signal->subject,
                        "",
                        number_of(*capacity) - number_of(*fact.signal),
                        "",
                        {},
                        ""},
                       {fact.signal, capacity},
                       {{"capacity", value_text(*capacity)}}});
    }
    for (Derived& derived : found) node.add(std::move(derived));
  }
}

}  // namespace

extern const Derivation kubernetes_derivation;
const Derivation kubernetes_derivation = {"Devices that Kubernetes does not offer",
                                          derive_kubernetes};

}  // namespace isleway::check
