#include "isleway/fabric/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>

namespace isleway {
namespace {

std::vector<NicPort> nic_ports(const Unit& unit) {
  std::vector<NicPort> ports;
  std::vector<int> seen(static_cast<std::size_t>(unit.parts().hosts) + 1, 0);
  for (DeviceIndex nic : unit.nics()) {
    const Device& device = unit.device(nic);
    ports.push_back({device.nic().rate, device.host, seen[device.host + 1]++});
  }
  return ports;
}

/// In which unit number `id` lies, given running sums.
std::uint32_t owner(const std::vector<std::uint32_t>& base, std::uint32_t id) {
  const auto next = std::upper_bound(base.begin(), base.end(), id);
  return static_cast<std::uint32_t>(next - base.begin()) - 1;
}

}  // namespace

Result<Fabric> Fabric::make(std::string name, std::vector<std::shared_ptr<const Unit>> templates,
                            std::vector<std::uint32_t> unit_template, NetworkPlan plan) {
  if (unit_template.empty()) return fail("a fabric without machines", "at least one");
  std::uint64_t links = 0;
  std::vector<std::vector<NicPort>> ports;
  for (const auto& unit : templates) ports.push_back(nic_ports(*unit));
  for (std::uint32_t t : unit_template) {
    if (t >= templates.size())
      return fail(fmt::format("machine template {} of {}", t, templates.size()));
    links += templates[t]->links().size() + ports[t].size();
  }
  // Half of the numbers are left for trunks, which are always fewer than cables.
  if (links > std::numeric_limits<LinkId>::max() / 2)
    return fail(fmt::format("a fabric of {} links", links), "at most 2 billion");

  auto network = Network::build(plan, ports, unit_template);
  if (!network) return tl::unexpected(network.error());
  Fabric fabric;
  fabric.name_ = std::move(name);
  fabric.templates_ = std::move(templates);
  fabric.unit_template_ = std::move(unit_template);
  fabric.network_ = std::make_shared<const Network>(*std::move(network));
  fabric.derive();
  return fabric;
}

Result<Fabric> Fabric::single(std::shared_ptr<const Unit> unit) {
  std::string name = unit->name();
  return make(std::move(name), {std::move(unit)}, {0});
}

void Fabric::derive() {
  const auto sum_up = [&](auto count) {
    std::vector<std::uint32_t> base = {0};
    base.reserve(unit_template_.size() + 1);
    for (std::uint32_t t : unit_template_)
      base.push_back(base.back() + static_cast<std::uint32_t>(count(*templates_[t])));
    return base;
  };
  gpu_base_ = sum_up([](const Unit& unit) { return unit.gpus().size(); });
  host_base_ = sum_up([](const Unit& unit) { return unit.parts().hosts; });
  nic_base_ = sum_up([](const Unit& unit) { return unit.nics().size(); });
  island_base_ = sum_up([](const Unit& unit) { return unit.island_count(); });
  link_base_ = sum_up([](const Unit& unit) { return unit.links().size(); });
  cable_base_ = link_base_.back();
  trunk_base_ = cable_base_ + nic_base_.back();
  assert(network().attachments().size() == nic_base_.back());
}

DeviceRef Fabric::gpu(GpuId id) const {
  const std::uint32_t u = owner(gpu_base_, id);
  return {u, unit(u).gpus()[id - gpu_base_[u]]};
}

GpuId Fabric::gpu_id(DeviceRef gpu) const {
  return gpu_base_[gpu.unit] + unit(gpu.unit).position(gpu.device);
}

Fabric::HostRef Fabric::host(std::uint32_t id) const {
  const std::uint32_t u = owner(host_base_, id);
  return {u, static_cast<int>(id - host_base_[u])};
}

std::uint32_t Fabric::host_of(DeviceRef ref) const {
  return host_base_[ref.unit] + static_cast<std::uint32_t>(std::max<int>(device(ref).host, 0));
}

std::uint32_t Fabric::island_of(GpuId id) const {
  const DeviceRef ref = gpu(id);
  return island_base_[ref.unit] + static_cast<std::uint32_t>(unit(ref.unit).island_of(ref.device));
}

const Link& Fabric::link(LinkId id) const {
  if (id >= trunk_base_) return network().trunks()[id - trunk_base_];
  if (id >= cable_base_) return network().attachments()[id - cable_base_].cable;
  const std::uint32_t u = owner(link_base_, id);
  return unit(u).link(id - link_base_[u]);
}

LinkId Fabric::cable_id(DeviceRef nic) const {
  return cable_base_ + nic_base_[nic.unit] + unit(nic.unit).position(nic.device);
}

std::string Fabric::link_name(LinkId id) const {
  const auto& switches = network().switches();
  if (id >= trunk_base_) {
    const Network::Ends ends = network().trunk_ends()[id - trunk_base_];
    return switches[ends.a].name + '-' + switches[ends.b].name;
  }
  if (id >= cable_base_) {
    const std::uint32_t cable = id - cable_base_;
    const std::uint32_t u = owner(nic_base_, cable);
    return device_name({u, unit(u).nics()[cable - nic_base_[u]]}) + '-' +
           switches[network().attachments()[cable].leaf].name;
  }
  const std::uint32_t u = owner(link_base_, id);
  const Link& link = unit(u).link(id - link_base_[u]);
  const Device& far = unit(u).device(link.b);
  const bool one_host = unit(u).device(link.a).host == far.host || far.host < 0;
  return device_name({u, link.a}) + '-' + (one_host ? far.name : device_name({u, link.b}));
}

std::string Fabric::device_name(DeviceRef ref) const {
  const Device& named = device(ref);
  if (named.host < 0)
    return unit_count() > 1 ? fmt::format("rack{}/{}", ref.unit, named.name) : named.name;
  if (host_count() <= 1) return named.name;
  return fmt::format("node{}/{}", host_of(ref), named.name);
}

Fabric Fabric::with_units(std::vector<std::shared_ptr<const Unit>> templates,
                          std::vector<std::uint32_t> unit_template) const {
  Fabric copy = *this;
  copy.templates_ = std::move(templates);
  copy.unit_template_ = std::move(unit_template);
  copy.derive();
  return copy;
}

Fabric Fabric::with_network(Network network) const {
  Fabric copy = *this;
  copy.network_ = std::make_shared<const Network>(std::move(network));
  copy.derive();
  return copy;
}

Fabric Fabric::renamed(std::string name) const {
  Fabric copy = *this;
  copy.name_ = std::move(name);
  return copy;
}

}  // namespace isleway
