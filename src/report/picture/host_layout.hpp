// Where the devices of one host stand in its picture.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "isleway/fabric.hpp"
#include "report/picture/svg.hpp"

namespace isleway::report {

/// Rows from top to bottom: NVSwitches, GPUs, NICs, PCIe switches (those far from the CPU
/// first), CPUs. Each switch and CPU is a bar as wide as all that hangs on it, so every
/// PCIe link is a vertical line and none cross.
class HostLayout {
 public:
  HostLayout(const Unit& unit, int host, Point top_left);

  const Unit& unit() const { return unit_; }
  /// Nothing for devices of other hosts.
  std::optional<Rect> at(DeviceIndex device) const;
  /// The PCIe (or C2C) link by which a device hangs on the one below it.
  struct Parent {
    DeviceIndex device;
    std::uint32_t link;
  };
  std::optional<Parent> parent(DeviceIndex device) const;
  /// NICs that are drawn as one box because there are so many: first of them, and all.
  const std::map<DeviceIndex, std::vector<DeviceIndex>>& stacks() const { return stacks_; }
  /// Where an arc over the GPUs may rise to.
  double arc_height(DeviceIndex gpu_a, DeviceIndex gpu_b) const;
  Rect bounds() const { return bounds_; }

 private:
  double trunk_height() const;
  void find_parents();
  void collect_stacks();
  int depth(DeviceIndex device) const;
  double place(DeviceIndex device, double x);
  void set_rows();
  void place_switches();
  std::vector<DeviceIndex> children(DeviceIndex device) const;

  const Unit& unit_;
  int host_;
  Rect bounds_;
  std::map<DeviceIndex, Parent> parents_;
  std::map<DeviceIndex, Rect> boxes_;
  std::map<DeviceIndex, std::vector<DeviceIndex>> stacks_;
  int most_switches_ = 0;  ///< on the way from a device to its CPU
  double gpu_row_ = 0, nic_row_ = 0, switch_row_ = 0, cpu_row_ = 0;
};

}  // namespace isleway::report
