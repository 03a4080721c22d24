#include "report/picture/host_layout.hpp"

#include <algorithm>
#include <cmath>

namespace isleway::report {
namespace {

constexpr double kGpuWidth = 92, kGpuHeight = 40;
constexpr double kNicWidth = 70, kNicHeight = 30;
constexpr double kBarHeight = 22, kCpuHeight = 32, kBarLeast = 96;
constexpr double kColumnGap = 8, kRootGap = 24, kRowGap = 30;
constexpr double kNvswitchHeight = 30, kFanHeight = 120, kTrunkHeight = 34;
constexpr double kLowestArc = 26, kArcStep = 17;

bool hangs_on_cpu(LinkKind kind) { return kind == LinkKind::pcie || kind == LinkKind::c2c; }

/// GPUs with their share of the NICs between them.
std::vector<DeviceIndex> interleave(const std::vector<DeviceIndex>& gpus,
                                    const std::vector<DeviceIndex>& nics) {
  std::vector<DeviceIndex> all;
  std::size_t nic = 0;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    all.push_back(gpus[i]);
    for (const std::size_t end = nics.size() * (i + 1) / gpus.size(); nic < end; ++nic)
      all.push_back(nics[nic]);
  }
  all.insert(all.end(), nics.begin() + static_cast<std::ptrdiff_t>(nic), nics.end());
  return all;
}

}  // namespace

HostLayout::HostLayout(const Unit& unit, int host, Point top_left) : unit_(unit), host_(host) {
  find_parents();
  collect_stacks();
  for (DeviceIndex i = 0; i < unit.devices().size(); ++i)
    if (unit.device(i).host == host) most_switches_ = std::max(most_switches_, depth(i));
  double x = top_left.x;
  for (DeviceIndex i = 0; i < unit.devices().size(); ++i) {
    const Device& device = unit.device(i);
    if (device.host != host || device.kind == DeviceKind::nvswitch || parents_.count(i) != 0)
      continue;
    x += place(i, x) + kRootGap;
  }
  bounds_ = {top_left.x, top_left.y, std::max(x - kRootGap - top_left.x, 3 * kBarLeast), 0};
  set_rows();
  place_switches();
}

std::optional<Rect> HostLayout::at(DeviceIndex device) const {
  const auto found = boxes_.find(device);
  if (found == boxes_.end()) return std::nullopt;
  return found->second;
}

std::optional<HostLayout::Parent> HostLayout::parent(DeviceIndex device) const {
  const auto found = parents_.find(device);
  if (found == parents_.end()) return std::nullopt;
  return found->second;
}

double HostLayout::arc_height(DeviceIndex gpu_a, DeviceIndex gpu_b) const {
  const auto a = at(gpu_a), b = at(gpu_b);
  if (!a || !b) return 0;
  const double columns = std::abs(a->x - b->x) / (kGpuWidth + kColumnGap);
  return kLowestArc + kArcStep * std::max(0.0, columns - 1);
}

double HostLayout::trunk_height() const {
  const bool trunks =
      std::any_of(unit_.links().begin(), unit_.links().end(), [&](const Link& link) {
        return unit_.device(link.a).kind == DeviceKind::nvswitch &&
               unit_.device(link.b).kind == DeviceKind::nvswitch;
      });
  return trunks ? kTrunkHeight : 0;
}

void HostLayout::find_parents() {
  for (std::uint32_t i = 0; i < unit_.links().size(); ++i) {
    const Link& link = unit_.link(i);
    const Device& near = unit_.device(link.a);
    const Device& far = unit_.device(link.b);
    if (!hangs_on_cpu(link.kind) || near.host != host_ || far.host != host_) continue;
    if (far.kind == DeviceKind::nvswitch || near.kind == DeviceKind::nvswitch) continue;
    const bool upside_down = far.kind == DeviceKind::cpu;
    if (upside_down && near.kind == DeviceKind::cpu) continue;
    const DeviceIndex child = upside_down ? link.a : link.b;
    const DeviceIndex below = upside_down ? link.b : link.a;
    // A GPU on both C2C and PCIe hangs on the faster one.
    const auto found = parents_.find(child);
    if (found == parents_.end() || unit_.link(found->second.link).rate() < link.rate())
      parents_[child] = {below, i};
  }
}

void HostLayout::collect_stacks() {
  std::map<DeviceIndex, std::vector<DeviceIndex>> nics;
  std::map<DeviceIndex, std::size_t> gpus;
  for (const auto& [device, below] : parents_) {
    if (unit_.device(device).kind == DeviceKind::nic) nics[below.device].push_back(device);
    if (unit_.device(device).kind == DeviceKind::gpu) ++gpus[below.device];
  }
  for (const auto& [below, list] : nics)
    if (list.size() > std::max<std::size_t>(2, 2 * gpus[below])) stacks_[list.front()] = list;
}

int HostLayout::depth(DeviceIndex device) const {
  int switches = 0;
  for (auto below = parent(device); below; below = parent(below->device))
    if (unit_.device(below->device).kind == DeviceKind::pcie_switch) ++switches;
  return switches;
}

std::vector<DeviceIndex> HostLayout::children(DeviceIndex device) const {
  std::vector<DeviceIndex> gpus, nics, bars;
  const auto stacked = [&](DeviceIndex nic) {
    return std::any_of(stacks_.begin(), stacks_.end(), [&](const auto& stack) {
      return stack.first != nic &&
             std::find(stack.second.begin(), stack.second.end(), nic) != stack.second.end();
    });
  };
  for (const auto& [child, below] : parents_) {
    if (below.device != device) continue;
    switch (unit_.device(child).kind) {
      case DeviceKind::gpu: gpus.push_back(child); break;
      case DeviceKind::nic:
        if (!stacked(child)) nics.push_back(child);
        break;
      default: bars.push_back(child);
    }
  }
  std::vector<DeviceIndex> all = bars;
  const auto leaves = interleave(gpus, nics);
  all.insert(all.end(), leaves.begin(), leaves.end());
  return all;
}

/// Sets x and width; gives the width that the device and all above it take.
double HostLayout::place(DeviceIndex device, double x) {
  switch (unit_.device(device).kind) {
    case DeviceKind::gpu: boxes_[device] = {x, 0, kGpuWidth, kGpuHeight}; return kGpuWidth;
    case DeviceKind::nic: boxes_[device] = {x, 0, kNicWidth, kNicHeight}; return kNicWidth;
    default: break;
  }
  double cursor = x;
  for (const DeviceIndex child : children(device)) cursor += place(child, cursor) + kColumnGap;
  const double width = std::max(cursor - kColumnGap - x, kBarLeast);
  const bool cpu = unit_.device(device).kind == DeviceKind::cpu;
  boxes_[device] = {x, 0, width, cpu ? kCpuHeight : kBarHeight};
  return width;
}

void HostLayout::set_rows() {
  double above_gpus = 0;
  const bool any_nvswitch = !unit_.nvswitches().empty();
  for (const Link& link : unit_.links())
    if (link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi)
      above_gpus = std::max(above_gpus, arc_height(link.a, link.b) + 12);
  if (any_nvswitch) above_gpus = trunk_height() + kNvswitchHeight + kFanHeight;
  gpu_row_ = bounds_.y + 34 + above_gpus;
  nic_row_ = gpu_row_ + kGpuHeight + 26;
  const bool any_nic = std::any_of(boxes_.begin(), boxes_.end(), [&](const auto& box) {
    return unit_.device(box.first).kind == DeviceKind::nic;
  });
  switch_row_ = nic_row_ + (any_nic ? kNicHeight + kRowGap : 0);
  cpu_row_ = switch_row_ + most_switches_ * (kBarHeight + kRowGap);
  bool any_cpu = false;
  for (auto& [device, box] : boxes_) {
    switch (unit_.device(device).kind) {
      case DeviceKind::gpu: box.y = gpu_row_; break;
      case DeviceKind::nic: box.y = nic_row_; break;
      case DeviceKind::pcie_switch:
        box.y = switch_row_ + (most_switches_ - 1 - depth(device)) * (kBarHeight + kRowGap);
        break;
      default: box.y = cpu_row_; any_cpu = true;
    }
  }
  bounds_.h = (any_cpu ? cpu_row_ + kCpuHeight : switch_row_) - bounds_.y;
}

void HostLayout::place_switches() {
  std::vector<DeviceIndex> chips;
  for (const DeviceIndex chip : unit_.nvswitches())
    if (unit_.device(chip).host == host_) chips.push_back(chip);
  double left = bounds_.right(), right = bounds_.x;
  for (const auto& [device, box] : boxes_) {
    if (unit_.device(device).kind != DeviceKind::gpu) continue;
    left = std::min(left, box.x);
    right = std::max(right, box.right());
  }
  const double slot = (right - left) / static_cast<double>(std::max<std::size_t>(1, chips.size()));
  const double width = std::min(170.0, slot - 2 * kColumnGap);
  for (std::size_t i = 0; i < chips.size(); ++i)
    boxes_[chips[i]] = {left + slot * (static_cast<double>(i) + 0.5) - width / 2,
                        bounds_.y + 34 + trunk_height(), width, kNvswitchHeight};
}

}  // namespace isleway::report
