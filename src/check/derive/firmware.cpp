// Firmware that differs between equal devices of one node, or from the driver that loads it.
#include <map>
#include <set>

#include "check/derivation.hpp"
#include "check/words.hpp"

namespace isleway::check {
namespace {

/// Versions of one kind of firmware, by what the device is.
using ByKind = std::map<std::string, std::map<std::string, std::vector<const Signal*>>>;

void mixed(NodeFacts& node, const ByKind& kinds, const char* what) {
  for (const auto& [kind, versions] : kinds) {
    if (versions.size() < 2) continue;
    std::vector<std::string> texts;
    Derived fact{{"firmware.mixed", kind, "", "", "", {}, ""}, {}, {}};
    for (const auto& [version, devices] : versions) {
      std::vector<std::string> names;
      for (const Signal* device : devices) names.push_back(subject_text(device->subject));
      texts.push_back(version + " on " + list_text(std::move(names), 4));
      fact.from.push_back(devices.front());
    }
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
    fact.signal.value = std::move(all);
    fact.words = {{"what", what}, {"kind", kind}};
    node.add(std::move(fact));
  }
}

void vbios(NodeFacts& node) {
  ByKind kinds;
  for (const Fact& fact : node.named("gpu.vbios"))
    if (const Product* product = node.product_of(fact.signal->subject))
      kinds[product->name][value_text(*fact.signal)].push_back(fact.signal);
  mixed(node, kinds, "VBIOS");
}

/// Cards with one board's number are equal; the kind of chip alone is too coarse.
void nics(NodeFacts& node) {
  ByKind kinds;
  for (const Fact& fact : node.named("nic.firmware")) {
    const Signal* board = node.find("nic.board", fact.signal->subject);
    if (!board) board = node.find("nic.type", fact.signal->subject);
    if (board) kinds[value_text(*board)][value_text(*fact.signal)].push_back(fact.signal);
  }
  mixed(node, kinds, "NIC firmware");
}

/// The driver brings the firmware of the GPU's system processor, and loads no other.
void gsp(NodeFacts& node) {
  const Signal* driver = node.find("driver.version");
  if (!driver) return;
  std::vector<Derived> found;
  for (const Fact& fact : node.named("gpu.firmware"))
    if (value_text(*fact.signal) != value_text(*driver))
      found.push_back({{"firmware.gsp", fact.signal->subject, "", fact.signal->value, "", {}, ""},
                       {fact.signal, driver},
                       {{"against", value_text(*driver)}}});
  for (Derived& derived : found) node.add(std::move(derived));
}

void derive_firmware(Facts& facts, const Input&, const Context&) {
  for (NodeFacts& node : facts.nodes()) {
    vbios(node);
    nics(node);
    gsp(node);
  }
}

}  // namespace

extern const Derivation firmware_derivation;
const Derivation firmware_derivation = {"Firmware against driver and sisters", derive_firmware};

}  // namespace isleway::check
