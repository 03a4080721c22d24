// PCIe links below what both ends can, and devices that differ from their sisters.
#include <algorithm>
#include <map>

#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

void add(NodeFacts& node, std::string name, const Signal& now, std::vector<const Signal*> from,
         Words words) {
  Derived fact{
      {std::move(name), now.subject, "", now.value, "", {}, ""}, std::move(from), std::move(words)};
  node.add(std::move(fact));
}

/// A GPU, or a device whose class is one of an accelerator or a network.
bool matters(const NodeFacts& node, const std::string& subject) {
  if (gpu_number(subject) >= 0) return true;
  const Signal* kind = node.find("pcie.class", subject);
  if (!kind) return false;
  const std::string text = value_text(*kind);
  return is_like_any(
      text, {"*3D controller*", "*VGA*", "*Infiniband*", "*Display*", "*Processing accelerator*"});
}

bool wired_so(const NodeFacts& node, const Signal& width) {
  const Product* product = node.product_of(width.subject);
  return product && std::any_of(product->wired_lanes.begin(), product->wired_lanes.end(),
                                [&](int lanes) { return lanes == number_of(width); });
}

/// nvidia-smi's manual: the width too may be reduced while a GPU is not in use.
bool is_idle(const NodeFacts& node, const Signal& width) {
  for (const char* name : {"gpu.utilization_percent", "gpu.processes"})
    if (const Signal* use = node.find(name, width.subject); use && number_of(*use) > 0)
      return false;
  return node.find("gpu.utilization_percent", width.subject) != nullptr;
}

/// At idle a GPU lowers its generation.
void below_capability(NodeFacts& node, const char* what, const std::string& now_name,
                      const std::string& max_name) {
  for (const Fact& fact : node.named(now_name)) {
    const Signal& now = *fact.signal;
    const Signal* max = node.find(max_name, now.subject);
    if (!max || !(number_of(now) > 0) || !(number_of(now) < number_of(*max))) continue;
    const Signal* host = node.find("pcie.generation_host", now.subject);
    const bool is_gpu = gpu_number(now.subject) >= 0;
    std::string name = std::string("pcie.") + what + "_low";
    if (is_gpu && what == std::string_view("width") && wired_so(node, now))
      name = "pcie.width_by_design";
    else if (is_gpu && what == std::string_view("width") && is_idle(node, now)) name += "_idle";
    else if (!matters(node, now.subject)) name += "_elsewhere";
    else if (is_gpu && std::string(what) == "generation") name += "_gpu";
    Words words = {{"max", value_text(*max)}};
    if (host) words.emplace_back("slot", value_text(*host));
    add(node, name, now, {&now, max}, std::move(words));
  }
}

/// What the product can, where the output says less even of the capability: the slot.
void below_product(NodeFacts& node) {
  for (const Fact& fact : node.named("pcie.width_max")) {
    const Product* product = node.product_of(fact.signal->subject);
    if (!product || gpu_number(fact.signal->subject) < 0) continue;
    if (number_of(*fact.signal) > 0 && number_of(*fact.signal) < product->pcie_lanes)
      add(node, "pcie.width_slot", *fact.signal, {fact.signal},
          {{"expected", std::to_string(product->pcie_lanes)}, {"product", product->name}});
  }
  for (const Fact& fact : node.named("pcie.generation_max")) {
    const Product* product = node.product_of(fact.signal->subject);
    if (!product || gpu_number(fact.signal->subject) < 0) continue;
    if (number_of(*fact.signal) > 0 && number_of(*fact.signal) < product->pcie_generation &&
        product->architecture != "other")
      add(node, "pcie.generation_slot", *fact.signal, {fact.signal},
          {{"expected", std::to_string(product->pcie_generation)}, {"product", product->name}});
  }
}

/// Equal products on one node whose links can different things.
void sisters(NodeFacts& node, const std::string& name) {
  std::map<const Product*, std::map<double, std::vector<const Signal*>>> by_value;
  for (const Fact& fact : node.named(name))
    if (gpu_number(fact.signal->subject) >= 0)
      by_value[node.product_of(fact.signal->subject)][number_of(*fact.signal)].push_back(
          fact.signal);
  for (const auto& [product, values] : by_value) {
    if (values.size() < 2) continue;
    const auto usual = std::max_element(values.begin(), values.end(), [](auto& a, auto& b) {
      return a.second.size() < b.second.size();
    });
    for (const auto& [value, signals] : values)
      if (value < usual->first)
        for (const Signal* signal : signals)
          add(node, "pcie.odd_one", *signal, {signal, usual->second[0]},
              {{"usual", number_text(usual->first)},
               {"what", name == "pcie.width" ? "lanes" : "generation at most"}});
  }
}

void derive_pcie(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    below_capability(node, "width", "pcie.width", "pcie.width_max");
    below_capability(node, "generation", "pcie.generation", "pcie.generation_max");
    below_product(node);
    sisters(node, "pcie.width");
    sisters(node, "pcie.generation_max");
  }
}

}  // namespace

extern const Derivation pcie_derivation;
const Derivation pcie_derivation = {"PCIe links against capability and sisters", derive_pcie};

}  // namespace isleway::check
