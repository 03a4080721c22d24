// Small machines for tests, wired as real ones are.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "isleway/fabric.hpp"

namespace isleway::testing {

/// Adds devices and links one by one.
class UnitBuilder {
 public:
  explicit UnitBuilder(std::string name, int hosts = 1) {
    parts.name = std::move(name);
    parts.hosts = hosts;
  }

  DeviceIndex add(DeviceKind kind, int index, int host = 0) {
    Device device;
    device.kind = kind;
    device.host = static_cast<std::int16_t>(host);
    device.index = static_cast<std::int16_t>(index);
    switch (kind) {
      case DeviceKind::gpu:
        device.name = "GPU";
        device.info = GpuInfo{};
        break;
      case DeviceKind::nvswitch:
        device.name = "NVSwitch";
        device.info = NvswitchInfo{};
        break;
      case DeviceKind::cpu:
        device.name = "CPU";
        device.info = CpuInfo{};
        break;
      case DeviceKind::nic:
        device.name = "mlx5_";
        device.info = NicInfo{.rate = Rate::gbits(400), .guid = {}};
        break;
      case DeviceKind::pcie_switch:
        device.name = "PCIe";
        device.info = PcieSwitchInfo{};
        break;
    }
    device.name += std::to_string(index);
    parts.devices.push_back(device);
    return static_cast<DeviceIndex>(parts.devices.size() - 1);
  }

  /// 25 GB/s and 100 ns for each single link of a bundle.
  Link& join(LinkKind kind, DeviceIndex a, DeviceIndex b, int count = 1) {
    Link link;
    link.kind = kind;
    link.a = a;
    link.b = b;
    link.count = link.count_max = static_cast<std::uint16_t>(count);
    link.lanes = link.lanes_max = kind == LinkKind::pcie ? 16 : 2;
    link.link_rate = kind == LinkKind::pcie ? Rate::GBs(63) : Rate::GBs(25);
    link.latency = Time::ns(100);
    parts.links.push_back(link);
    return parts.links.back();
  }

  std::shared_ptr<const Unit> make() const {
    auto unit = Unit::make(parts);
    if (!unit) throw std::logic_error(unit.error().text());
    return *unit;
  }

  UnitParts parts;
};

/// 8 GPUs on 4 NVSwitches by 5, 4, 4 and 5 links; 2 CPUs; each GPU and a NIC of its own
/// behind a PCIe switch. GPUs come first: device i is GPU i.
inline UnitBuilder hgx_h100() {
  UnitBuilder b("hgx-h100");
  for (int i = 0; i < 8; ++i) b.add(DeviceKind::gpu, i);
  DeviceIndex cpus[2];
  for (int i = 0; i < 2; ++i) cpus[i] = b.add(DeviceKind::cpu, i);
  for (int i = 0; i < 8; ++i) {
    const DeviceIndex pcie = b.add(DeviceKind::pcie_switch, i);
    const DeviceIndex nic = b.add(DeviceKind::nic, i);
    b.join(LinkKind::pcie, cpus[i / 4], pcie);
    b.join(LinkKind::pcie, pcie, static_cast<DeviceIndex>(i));
    b.join(LinkKind::pcie, pcie, nic);
  }
  b.join(LinkKind::smp, cpus[0], cpus[1], 4);
  const int links[] = {5, 4, 4, 5};
  for (int s = 0; s < 4; ++s) {
    const DeviceIndex nvswitch = b.add(DeviceKind::nvswitch, s);
    std::get<NvswitchInfo>(b.parts.devices.back().info).multicast = true;
    for (int i = 0; i < 8; ++i)
      b.join(LinkKind::nvlink, static_cast<DeviceIndex>(i), nvswitch, links[s]);
  }
  return b;
}

/// The hybrid cube mesh of the DGX-1 V100: 8 GPUs, 6 links each, single and double.
inline UnitBuilder dgx1_v100() {
  UnitBuilder b("dgx-1-v100");
  for (int i = 0; i < 8; ++i) b.add(DeviceKind::gpu, i);
  DeviceIndex cpus[2];
  for (int i = 0; i < 2; ++i) cpus[i] = b.add(DeviceKind::cpu, i);
  b.join(LinkKind::smp, cpus[0], cpus[1]);
  for (int i = 0; i < 4; ++i) {
    const DeviceIndex pcie = b.add(DeviceKind::pcie_switch, i);
    b.join(LinkKind::pcie, cpus[i / 2], pcie).host_bridge = 0;
    b.join(LinkKind::pcie, pcie, static_cast<DeviceIndex>(2 * i));
    b.join(LinkKind::pcie, pcie, static_cast<DeviceIndex>(2 * i + 1));
    b.join(LinkKind::pcie, pcie, b.add(DeviceKind::nic, i));
  }
  const int mesh[][3] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 6, 2}, {1, 2, 2}, {1, 3, 1},
                         {1, 7, 2}, {2, 3, 2}, {2, 4, 1}, {3, 5, 1}, {4, 5, 2}, {4, 6, 1},
                         {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 1}};
  for (const auto& [x, y, count] : mesh)
    b.join(LinkKind::nvlink, static_cast<DeviceIndex>(x), static_cast<DeviceIndex>(y), count);
  return b;
}

/// Two boards of 8 GPUs with 6 NVSwitches each; switch i of one board has 8 trunk links to
/// switch i of the other.
inline UnitBuilder dgx2() {
  UnitBuilder b("dgx-2");
  for (int i = 0; i < 16; ++i) b.add(DeviceKind::gpu, i);
  const DeviceIndex cpu = b.add(DeviceKind::cpu, 0);
  for (DeviceIndex i = 0; i < 16; ++i) b.join(LinkKind::pcie, cpu, i);
  for (int s = 0; s < 6; ++s) {
    DeviceIndex pair[2];
    for (int board = 0; board < 2; ++board) {
      pair[board] = b.add(DeviceKind::nvswitch, s + 6 * board);
      for (int i = 0; i < 8; ++i)
        b.join(LinkKind::nvlink, static_cast<DeviceIndex>(i + 8 * board), pair[board]);
    }
    b.join(LinkKind::nvlink, pair[0], pair[1], 8);
  }
  return b;
}

/// A tray of Grace and Blackwell: 4 GPUs in a row of 2 CPUs, C2C to the CPU and NVLink to
/// a switch; a NIC on each CPU.
inline UnitBuilder grace_tray() {
  UnitBuilder b("grace-tray");
  for (int i = 0; i < 4; ++i) b.add(DeviceKind::gpu, i);
  DeviceIndex cpus[2];
  for (int i = 0; i < 2; ++i) {
    cpus[i] = b.add(DeviceKind::cpu, i);
    b.join(LinkKind::pcie, cpus[i], b.add(DeviceKind::nic, i));
  }
  b.join(LinkKind::smp, cpus[0], cpus[1]);
  const DeviceIndex nvswitch = b.add(DeviceKind::nvswitch, 0, -1);
  for (DeviceIndex i = 0; i < 4; ++i) {
    b.join(LinkKind::c2c, i, cpus[i / 2]);
    b.join(LinkKind::nvlink, i, nvswitch, 18);
  }
  return b;
}

}  // namespace isleway::testing
