// PCIe on the way from a device to its CPU, by NCCL's topology or log: what is narrower than
// the device's own link, or than a NIC's cable.
#include <fmt/format.h>

#include "check/derivation.hpp"
#include "check/words.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {

std::string rate_text(Rate rate) { return fmt::format("{:.3g} GB/s", rate.GBs()); }

/// The narrowest link above a device, and its own.
struct Way {
  Rate own, narrowest;
  std::string at;  ///< the device below the narrowest link
};

Way way_up(const Unit& unit, DeviceIndex device) {
  Way way;
  DeviceIndex at = device;
  for (int hop = 0; hop < 16; ++hop) {
    const auto link = unit.pcie_uplink(at);
    if (!link) break;
    const Rate rate = unit.link(*link).rate();
    if (at == device) way.own = way.narrowest = rate;
    if (rate < way.narrowest) {
      way.narrowest = rate;
      way.at =
          unit.device(at).pci.bus_id.empty() ? unit.device(at).name : unit.device(at).pci.bus_id;
    }
    at = unit.peer(*link, at);
  }
  return way;
}

NodeFacts* node_of(Facts& facts, const std::string& name) {
  for (NodeFacts& node : facts.nodes())
    if (node.name() == name) return &node;
  return nullptr;
}

/// A line of the output for evidence: the device's own, by its bus id.
const Signal* line_of(const NodeFacts& node, const Device& device) {
  for (const char* name : {"nccl.pcie_GBs", "declared.bus_id"})
    for (const Fact& fact : node.named(name)) {
      const Signal& signal = *fact.signal;
      const std::string& bus = device.pci.bus_id;
      if (signal.subject == device.name || (!bus.empty() && value_text(signal) == bus))
        return &signal;
      // NCCL's "GPU/0-d000" is bus 0d, device 00.
      const auto dash = signal.subject.find_last_of("-/");
      if (bus.size() < 10 || dash == std::string::npos) continue;
      const auto id = parse_int(signal.subject.substr(dash + 1), 16);
      const auto own = parse_int(bus.substr(5, 2) + bus.substr(8, 2), 16);
      if (id && own && (*id >> 4) == ((*own >> 8) << 8 | (*own & 0xff))) return &signal;
    }
  return nullptr;
}

void judge(NodeFacts& node, const Unit& unit) {
  const auto add = [&](const char* name, const Device& device, const Way& way) {
    Derived fact{
        {name,
         device.kind == DeviceKind::gpu ? to_lower(device.name) : device.name,
         "",
         way.narrowest.GBs(),
         "",
         {},
         ""},
        {},
        {{"own", rate_text(way.own)}, {"at", way.at}, {"narrowest", rate_text(way.narrowest)}}};
    if (const Signal* line = line_of(node, device)) fact.from.push_back(line);
    if (device.kind == DeviceKind::nic)
      fact.words.emplace_back("cable", rate_text(device.nic().rate));
    node.add(std::move(fact));
  };
  for (const DeviceIndex gpu : unit.gpus()) {
    const Way way = way_up(unit, gpu);
    if (way.narrowest * 1.5 < way.own) add("uplink.narrow", unit.device(gpu), way);
  }
  for (const DeviceIndex nic : unit.nics()) {
    const Way way = way_up(unit, nic);
    const Rate cable = unit.device(nic).nic().rate;
    if (!way.own.is_zero() && way.narrowest < cable * 0.8)
      add("uplink.nic_starved", unit.device(nic), way);
  }
}

void derive_uplinks(Facts& facts, const Input& input, const Context&) {
  for (const Content& content : input.contents) {
    const auto* unit = std::get_if<std::shared_ptr<const Unit>>(&content.document.content);
    if (!unit || content.document.format.find("nccl") == std::string::npos) continue;
    if (NodeFacts* node = node_of(facts, content.node)) judge(*node, **unit);
  }
}

}  // namespace

extern const Derivation uplinks_derivation;
const Derivation uplinks_derivation = {"PCIe between a device and its CPU", derive_uplinks};

}  // namespace isleway::check
