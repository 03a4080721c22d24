// Random machines and clusters for property tests.
#pragma once

#include <gtest/gtest.h>  // before rapidcheck, which relies on it
#include <rapidcheck/gtest.h>

#include "unit/fabric/build_unit.hpp"

namespace isleway::testing {

inline int pick(int least, int most) { return *rc::gen::inRange(least, most + 1); }

/// Any mix of NVSwitch planes, trunks, direct NVLinks, C2C, PCIe trees and NICs, parts of it
/// broken.
inline std::shared_ptr<const Unit> any_unit() {
  const int hosts = pick(1, 2), gpus = pick(1, 6);
  UnitBuilder b("any", hosts);
  const auto broken = [](Link& link) {
    if (pick(0, 9) == 0) link.count = static_cast<std::uint16_t>(pick(0, link.count));
    if (pick(0, 9) == 0) link.lanes = static_cast<std::uint16_t>(pick(0, link.lanes));
  };
  std::vector<DeviceIndex> all_gpus, switches;
  for (int host = 0; host < hosts; ++host) {
    std::vector<DeviceIndex> cpus, roots;
    for (int i = 0; i < pick(1, 2); ++i) {
      cpus.push_back(b.add(DeviceKind::cpu, i, host));
      roots.push_back(cpus.back());
      if (i > 0) broken(b.join(LinkKind::smp, cpus[0], cpus[1], 3));
    }
    for (int i = 0; i < pick(0, 3); ++i) {
      const auto parent = roots[static_cast<std::size_t>(pick(0, int(roots.size()) - 1))];
      roots.push_back(b.add(DeviceKind::pcie_switch, i, host));
      broken(b.join(LinkKind::pcie, parent, roots.back()));
    }
    const auto hang = [&](DeviceIndex device) {
      const auto parent = roots[static_cast<std::size_t>(pick(0, int(roots.size()) - 1))];
      broken(b.join(LinkKind::pcie, parent, device));
    };
    for (int i = 0; i < pick(0, 2); ++i) hang(b.add(DeviceKind::nic, i, host));
    const bool c2c = pick(0, 3) == 0;
    for (int i = 0; i < gpus; ++i) {
      all_gpus.push_back(b.add(DeviceKind::gpu, i, host));
      std::get<GpuInfo>(b.parts.devices.back().info).mig = pick(0, 19) == 0;
      hang(all_gpus.back());
      if (c2c) broken(b.join(LinkKind::c2c, all_gpus.back(), cpus[0]));
    }
  }
  for (int i = 0; i < pick(0, 4); ++i) {
    switches.push_back(b.add(DeviceKind::nvswitch, i, -1));
    for (DeviceIndex gpu : all_gpus)
      if (pick(0, 3) > 0) broken(b.join(LinkKind::nvlink, gpu, switches.back(), pick(1, 6)));
    if (i > 0 && pick(0, 1) == 0)
      broken(b.join(LinkKind::nvlink, switches[0], switches.back(), pick(1, 8)));
  }
  for (std::size_t i = 1; i < all_gpus.size(); ++i)
    if (pick(0, 2) == 0) broken(b.join(LinkKind::nvlink, all_gpus[i - 1], all_gpus[i], pick(1, 4)));
  return b.make();
}

/// One to six such units of up to two kinds, on a network of any shape.
inline Fabric any_fabric() {
  std::vector<std::shared_ptr<const Unit>> templates = {any_unit(), any_unit()};
  std::vector<std::uint32_t> units;
  for (int i = 0; i < pick(1, 6); ++i) units.push_back(static_cast<std::uint32_t>(pick(0, 1)));
  NetworkPlan plan;
  plan.shape = static_cast<NetworkPlan::Shape>(pick(0, 4));
  plan.leaf_ports = 2 * pick(4, 16);
  plan.oversubscription = pick(1, 3);
  plan.upper_oversubscription = pick(1, 2);
  auto fabric = Fabric::make("any", templates, units, plan);
  if (!fabric) throw std::logic_error(fabric.error().text());
  return *fabric;
}

/// A fault that a user could type for some device of the fabric.
inline std::string any_fault(const Fabric& fabric) {
  const auto u = static_cast<std::uint32_t>(pick(0, int(fabric.unit_count()) - 1));
  const auto devices = static_cast<int>(fabric.unit(u).devices().size());
  const DeviceRef ref{u, static_cast<DeviceIndex>(pick(0, devices - 1))};
  const std::string name = fabric.device_name(ref);
  const auto& switches = fabric.network().switches();
  const auto& net = switches[static_cast<std::size_t>(pick(0, int(switches.size()) - 1))].name;
  switch (pick(0, 6)) {
    case 0: return name;
    case 1: return name + ":nvlink" + std::to_string(pick(0, 12));
    case 2: return name + ":nvlink" + std::to_string(pick(0, 12)) + ":lanes=1";
    case 3: return name + ":pcie:lanes=" + std::to_string(pick(0, 8));
    case 4: return "node" + std::to_string(fabric.host_of(ref));
    case 5: return net + ":members=" + std::to_string(pick(0, 3));
    default: return net;
  }
}

}  // namespace isleway::testing
