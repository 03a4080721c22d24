// Hypotheses about NICs and the network between nodes.
#include <fmt/format.h>

#include <algorithm>

#include "fabric/edit.hpp"
#include "isleway/fabric/siblings.hpp"
#include "verify/hypotheses.hpp"

namespace isleway::verify {
namespace {

/// The number of a NIC among those of its host.
int rail_of(const UnitParts& parts, std::size_t nic) {
  return static_cast<int>(std::count_if(
      parts.devices.begin(), parts.devices.begin() + static_cast<std::ptrdiff_t>(nic),
      [&](const Device& device) {
        return device.kind == DeviceKind::nic && device.host == parts.devices[nic].host;
      }));
}

int rails(const Unit& unit) {
  int most = 0;
  for (const DeviceIndex nic : unit.nics()) most = std::max(most, rail_of(unit.parts(), nic) + 1);
  return most;
}

/// Every host keeps its first `kept` NICs; with `only_first_unit` that unit alone loses some.
Result<Fabric> with_first_nics(const Fabric& fabric, int kept, bool only_first_unit = false) {
  std::size_t cable = 0;
  const Network network = fabric.network().changed([&](auto&, auto&, auto& attachments) {
    for (std::uint32_t u = 0; u < fabric.unit_count(); ++u)
      for (const DeviceIndex nic : fabric.unit(u).nics()) {
        const bool goes = rail_of(fabric.unit(u).parts(), nic) >= kept;
        if (goes && (u == 0 || !only_first_unit)) attachments[cable].cable.count = 0;
        ++cable;
      }
  });
  const UnitEdit edit = [&](UnitParts& parts) -> Result<void> {
    take_down_links(parts, [&](const Link& link) {
      // Of a PCIe link, b is what is further from the CPU: the NIC.
      return parts.devices[link.b].kind == DeviceKind::nic && rail_of(parts, link.b) >= kept;
    });
    return {};
  };
  const Fabric cut = fabric.with_network(network);
  return only_first_unit ? edit_unit(cut, 0, edit) : edit_all_units(cut, edit);
}

}  // namespace

void add_network_hypotheses(const Setup& setup, const Parts& parts, std::vector<Hypothesis>& all) {
  const Fabric& fabric = setup.fabric;
  const auto add = [&](const char* key, std::string title, const char* remedy,
                       const Result<Fabric>& changed, Repricing repricing = {},
                       const char* variable = nullptr, const char* value = nullptr) {
    if (!changed) return;
    Setup with{*changed, setup.options};
    if (variable != nullptr) with.options.env[variable] = value;
    all.push_back({key, std::move(title), remedy, {std::move(with), std::move(repricing)}});
  };
  const int nics = rails(fabric.unit(0));
  if (nics == 0 || fabric.first_trunk() == fabric.first_cable()) return;
  const char* const use = "NCCL_IB_HCA; ibstat on every node; NCCL's line NET/IB : Using";
  if (nics > 1)
    add("one-rail-missing", fmt::format("one of the {} NICs of each node is not used", nics), use,
        with_first_nics(fabric, nics - 1));
  if (nics > 2)
    add("half-of-rails", fmt::format("half of the {} NICs of each node are used", nics), use,
        with_first_nics(fabric, nics / 2));
  if (nics > 1) {
    add("one-rail", fmt::format("only one of the {} NICs of each node is used", nics), use,
        with_first_nics(fabric, 1));
    add("one-rail-missing-on-one-node", "one node has a NIC less than the others", use,
        with_first_nics(fabric, nics - 1, true));
  }
  const LinkId cable = fabric.first_cable();
  add("half-rate-network", "the NICs have half of their rate",
      "ibstat: Rate; lspci -vv of the NICs: LnkSta; a cable or switch of the last generation",
      with_link_rate(fabric, cable, Scope::siblings, 0.5));
  add("half-rate-cable", "one NIC has half of its rate",
      "ibstat on every node: Rate; lspci -vv of the NICs: LnkSta",
      with_link_rate(fabric, cable, Scope::alone, 0.5));
  if (fabric.link_count() > fabric.first_trunk())
    add("spine-half", "between the leaf switches only half of the rate arrives",
        "routes that collide, adaptive routing, other jobs, spines that are down",
        with_link_rate(fabric, fabric.first_trunk(), Scope::siblings, 0.5));

  const Constant* rate = parts.constant("nccl.socket.rate");
  const Constant* hop = parts.constant("nccl.socket.hop");
  if (rate == nullptr || hop == nullptr) return;
  const double now = fabric.link(cable).rate().GBs();
  if (now <= rate->value) return;
  const Repricing slower{
      [cable, last = fabric.first_trunk(), latency = Time::us(hop->value)](Connection& connection) {
        if (connection.route == nullptr) return;
        for (const Hop& step : connection.route->hops)
          if (step.link >= cable && step.link < last) {
            connection.latency += latency;
            return;
          }
      }};
  const char* const sockets =
      "NCCL_IB_DISABLE, NCCL_NET; RDMA devices in the container; the "
      "network's plugin (libnccl-net)";
  add("sockets", "TCP sockets carry the data instead of RDMA", sockets,
      with_link_rate(fabric, cable, Scope::siblings, rate->value / now), slower,
      "NCCL_NET_GDR_LEVEL", "LOC");
  if (nics < 2) return;
  const auto one = with_first_nics(fabric, 1);
  if (one)
    add("sockets-one", "TCP sockets over one interface carry the data instead of RDMA", sockets,
        with_link_rate(*one, cable, Scope::siblings, rate->value / now), slower,
        "NCCL_NET_GDR_LEVEL", "LOC");
}

}  // namespace isleway::verify
