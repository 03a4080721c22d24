// The links of a machine: PCIe trees, sockets, NVLink bundles, and the switches they reach.
#include <fmt/format.h>

#include <algorithm>

#include "formats/machine_builder.hpp"
#include "isleway/core/groups.hpp"

namespace isleway::formats {
namespace {

constexpr int kMostLanes = 32;  ///< what PCIe allows

/// Up to this many NUMA nodes of a host are joined pairwise; a file with more is damaged.
constexpr std::size_t kMostNumaNodes = 64;

/// Older than most machines with GPUs, and what NCCL takes where it cannot find out.
constexpr int kFallbackPcieGeneration = 3;
constexpr int kFallbackPcieLanes = 16;

/// What NCCL takes for a network of unknown speed.
constexpr Rate kVirtualNicRate = Rate::gbits(10);

/// A rate in Gb/s that ports are sold with: the largest that a slot can feed.
Rate port_rate_for(Rate slot) {
  for (const double gbits : {1600.0, 800.0, 400.0, 200.0, 100.0, 50.0, 25.0, 10.0})
    if (slot.gbits() >= gbits) return Rate::gbits(gbits);
  return Rate::gbits(1);
}

}  // namespace

/// A switch chip reaches every GPU of its domain. Where GPUs name different chips (a trunk
/// joins them, or each GPU sees the switches under addresses of its own), the k-th chip of
/// each is taken for the same one. NCCL too sees a single switch in all of them.
void MachineBuilder::merge_nvswitches() {
  const std::size_t chips = switch_keys_.size();
  Groups groups(chips + size());
  for (const Bundle& b : bundles_)
    if (b.into_switch) groups.join(b.to, chips + b.from);
  std::map<std::size_t, DeviceIndex> chips_of_group;
  std::vector<DeviceIndex> merged(chips);
  DeviceIndex kept = 0;
  for (std::size_t chip = 0; chip < chips; ++chip) {
    merged[chip] = chips_of_group[groups.find(chip)]++;
    kept = std::max<DeviceIndex>(kept, static_cast<DeviceIndex>(merged[chip] + 1));
  }
  if (kept == chips) return;
  notes_.assumed(
      fmt::format("GPUs name {} NVSwitches, none of which all of them reach: they "
                  "are taken for {} that all reach",
                  chips, kept));
  for (Bundle& b : bundles_)
    if (b.into_switch) b.to = merged[b.to];
  switch_keys_.resize(kept);
}

int MachineBuilder::nvlink_generation(const Device& gpu) const {
  if (const GpuPart* part = parts_.gpu(gpu.part); part && part->nvlink_generation > 0)
    return part->nvlink_generation;
  const int sm = gpu.gpu().sm;
  return sm >= 100 ? 5 : sm >= 90 ? 4 : sm >= 80 || sm == 0 ? 3 : sm >= 70 ? 2 : 1;
}

void MachineBuilder::add_nvswitches() {
  int generation = 0;
  for (const Bundle& b : bundles_)
    if (b.into_switch) generation = std::max(generation, nvlink_generation(device(b.from)) - 1);
  NvswitchInfo info{generation, 0, generation >= 3};
  std::string key;
  for (const auto& [name, part] : parts_.nvswitches()) {
    if (part.info.generation != generation) continue;
    info = part.info;
    key = name;
  }
  // In a rack the switches are in trays that no host sees.
  const int host = unit_.hosts > 1 ? -1 : 0;
  for (std::size_t chip = 0; chip < switch_keys_.size(); ++chip) {
    Device added;
    added.kind = DeviceKind::nvswitch;
    added.host = static_cast<std::int16_t>(host);
    added.index = static_cast<std::int16_t>(chip);
    added.name = unique_name(host, fmt::format("NVSwitch{}", chip));
    added.part = key;
    const bool is_address = switch_keys_[chip].find(':') != std::string::npos;
    added.pci = {is_address ? switch_keys_[chip] : "", "0x068000", "", "", "", ""};
    added.info = info;
    switch_device_.push_back(static_cast<DeviceIndex>(size()));
    unit_.devices.push_back(std::move(added));
  }
}

/// The generation that the file gives, or else the likeliest.
int MachineBuilder::pcie_generation_of(const Placement& place, const Device& child) {
  if (place.wire.generation > 0) return place.wire.generation;
  const GpuPart* part = child.kind == DeviceKind::gpu ? parts_.gpu(child.part) : nullptr;
  int generation = part ? part->pcie_generation : placements_[place.parent].wire.generation;
  if (generation == 0) generation = kFallbackPcieGeneration;
  notes_.assumed(fmt::format("PCIe generation {}, where the file gives none", generation));
  return generation;
}

void MachineBuilder::rate_nic(Device& nic, Rate slot) {
  NicInfo info = nic.nic();
  if (!info.rate.is_zero()) return;
  info.rate = port_rate_for(slot);
  notes_.assumed(
      fmt::format("a NIC of {:.0f} Gb/s, where the file gives no speed", info.rate.gbits()));
  nic.info = std::move(info);
}

void MachineBuilder::wire_pcie() {
  for (DeviceIndex i = 0; i < placements_.size(); ++i) {
    const Placement& place = placements_[i];
    if (place.parent == kNoParent) continue;
    Device& child = unit_.devices[i];
    Link link;
    link.kind = LinkKind::pcie;
    // Files may say of any device what only virtual NICs have.
    if (place.wire.is_virtual && child.kind == DeviceKind::nic) {
      rate_nic(child, kVirtualNicRate);
      link.link_rate = child.nic().rate;
    } else {
      const int lanes =
          place.wire.lanes > 0 ? std::min(place.wire.lanes, kMostLanes) : kFallbackPcieLanes;
      link = parts_.make_link(LinkKind::pcie, pcie_generation_of(place, child), 1, lanes, false);
      if (child.kind == DeviceKind::nic) rate_nic(child, link.rate());
    }
    link.generation = static_cast<std::uint8_t>(place.wire.generation);
    link.a = place.parent;
    link.b = i;
    link.host_bridge = static_cast<std::int16_t>(place.wire.host_bridge);
    unit_.links.push_back(link);
  }
}

void MachineBuilder::wire_sockets() {
  std::vector<std::vector<DeviceIndex>> by_host(static_cast<std::size_t>(unit_.hosts));
  for (DeviceIndex i = 0; i < size(); ++i)
    if (device(i).kind == DeviceKind::cpu)
      by_host[static_cast<std::size_t>(device(i).host)].push_back(i);
  for (const std::vector<DeviceIndex>& cpus : by_host) {
    for (std::size_t a = 0; a < cpus.size(); ++a) {
      if (a > 0 && cpus.size() > kMostNumaNodes) break;
      for (std::size_t b = a + 1; b < cpus.size(); ++b) {
        Link link = parts_.make_link(LinkKind::smp, 0, 1, 1, false);
        if (const CpuPart* part = parts_.cpu(device(cpus[a]).part)) {
          link.link_rate = part->smp_rate;
          link.efficiency.sm = link.efficiency.copy_engine = part->smp_efficiency;
        }
        link.a = cpus[a];
        link.b = cpus[b];
        unit_.links.push_back(link);
      }
    }
  }
}

Link MachineBuilder::nvlink(const Device& gpu, int count, bool into_switch) const {
  const GpuPart* part = parts_.gpu(gpu.part);
  const LinkPart* wire = part ? parts_.link(part->nvlink_part) : nullptr;
  if (wire) return parts_.make_link(*wire, count, 0, into_switch);
  const LinkKind kind = gpu.gpu().amd ? LinkKind::xgmi : LinkKind::nvlink;
  return parts_.make_link(kind, nvlink_generation(gpu), count, 0, into_switch);
}

void MachineBuilder::wire_bundles() {
  for (const Bundle& b : bundles_) {
    const int count = std::max(b.count, b.count_back);
    if (count == 0) continue;
    if (b.count_back > 0 && b.count > 0 && b.count != b.count_back)
      notes_.assumed(fmt::format("two GPUs disagree on the links between them ({} and {}): {}",
                                 b.count, b.count_back, count));
    const Device& gpu = device(b.from);
    Link link = b.kind == LinkKind::c2c ? parts_.make_link(LinkKind::c2c, 0, count, 0, false)
                                        : nvlink(gpu, count, b.into_switch);
    link.kind = b.kind;
    link.count_max = static_cast<std::uint16_t>(std::max(count, b.fitted));
    if (!b.per_link.is_zero()) link.link_rate = b.per_link;
    link.a = b.from;
    link.b = b.into_switch ? switch_device_[b.to] : b.to;
    unit_.links.push_back(link);
  }
}

}  // namespace isleway::formats
