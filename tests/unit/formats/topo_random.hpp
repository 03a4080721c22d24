// Random machines whose every distance topo -m can tell.
#pragma once

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "formats/cpu_mask.hpp"
#include "unit/fabric/build_unit.hpp"

namespace isleway::testing {

class RandomMachine {
 public:
  std::shared_ptr<const Unit> make() {
    add_devices();
    for (const DeviceIndex cpu : cpus_) grow_tree(cpu);
    wire_nvlinks();
    return unit_.make();
  }

 private:
  static int pick(int first, int last) { return *rc::gen::inRange(first, last + 1); }
  static bool chance(int percent) { return pick(1, 100) <= percent; }

  void add_devices() {
    const int cpus = pick(1, 3);
    for (int i = 0; i < cpus; ++i) {
      cpus_.push_back(unit_.add(DeviceKind::cpu, i));
      auto& info = std::get<CpuInfo>(unit_.parts.devices.back().info);
      info.numa = i;
      info.affinity = formats::CpuMask::from_ranges(
                          fmt::format("{}-{},{}-{}", 8 * i, 8 * i + 7, 64 + 8 * i, 64 + 8 * i + 7))
                          ->words();
    }
    for (std::size_t a = 0; a < cpus_.size(); ++a)
      for (std::size_t b = a + 1; b < cpus_.size(); ++b)
        unit_.join(LinkKind::smp, cpus_[a], cpus_[b]);
  }

  /// Bridges of a CPU, things below a bridge, devices below a switch.
  void grow_tree(DeviceIndex cpu) {
    const int bridges = pick(1, 2);
    for (int bridge = 0; bridge < bridges; ++bridge) {
      const int roots = pick(1, 2);
      const auto number = static_cast<std::int16_t>(roots > 1 ? bridge : -1);
      for (int root = 0; root < roots; ++root) {
        const bool first = bridge == 0 && root == 0;
        const DeviceIndex top =
            chance(60) ? grow_switch(chance(40) ? 2 : 1, first) : add_device(first);
        unit_.join(LinkKind::pcie, cpu, top).host_bridge = number;
      }
    }
  }

  DeviceIndex grow_switch(int levels, bool with_gpu) {
    const DeviceIndex here = unit_.add(DeviceKind::pcie_switch, switches_++);
    const int children = pick(1, 3);
    for (int i = 0; i < children; ++i) {
      const bool gpu = with_gpu && i == 0;
      const DeviceIndex child = levels > 1 ? grow_switch(1, gpu) : add_device(gpu);
      unit_.join(LinkKind::pcie, here, child);
    }
    return here;
  }

  DeviceIndex add_device(bool must_be_gpu) {
    if (!must_be_gpu && chance(50)) return unit_.add(DeviceKind::nic, nics_++);
    gpus_.push_back(unit_.add(DeviceKind::gpu, static_cast<int>(gpus_.size())));
    return gpus_.back();
  }

  void wire_nvlinks() {
    const auto n = gpus_.size();
    switch (pick(0, 3)) {
      case 0: break;
      case 1: {
        const DeviceIndex nvswitch = unit_.add(DeviceKind::nvswitch, 0);
        const int links = *rc::gen::element(8, 12, 18);
        if (n > 2)
          for (const DeviceIndex gpu : gpus_) unit_.join(LinkKind::nvlink, gpu, nvswitch, links);
        break;
      }
      case 2:
        for (std::size_t i = 0; i + 1 < n; i += 2)
          unit_.join(LinkKind::nvlink, gpus_[i], gpus_[i + 1], *rc::gen::element(1, 2, 4));
        break;
      default:
        for (std::size_t a = 0; n <= 4 && a < n; ++a)
          for (std::size_t b = a + 1; b < n; ++b)
            if (chance(80)) unit_.join(LinkKind::nvlink, gpus_[a], gpus_[b], pick(1, 2));
    }
  }

  UnitBuilder unit_{"random"};
  std::vector<DeviceIndex> cpus_, gpus_;
  int switches_ = 0, nics_ = 0;
};

}  // namespace isleway::testing
