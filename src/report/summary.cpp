#include "report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isleway::report {
namespace {

/// By its part where the catalogue knows it, else by what its source told.
std::string device_title(const Device& device, const Parts& parts) {
  switch (device.kind) {
    case DeviceKind::gpu: {
      const GpuPart* part = parts.gpu(device.part);
      return part != nullptr ? part->title : device.gpu().gcn.empty() ? "GPU" : device.gpu().gcn;
    }
    case DeviceKind::nic: {
      const NicPart* part = parts.nic(device.part);
      const double gbits = device.nic().rate.gbits();
      const std::string rate = gbits > 0 ? fmt::format("{:g} Gb/s", gbits) : "rate not known";
      return part != nullptr ? fmt::format("{}, {}", part->title, rate) : "NIC, " + rate;
    }
    case DeviceKind::cpu: {
      const CpuPart* part = parts.cpu(device.part);
      if (part != nullptr) return part->title;
      const CpuInfo& cpu = device.cpu();
      return cpu.vendor.empty() ? cpu.arch : cpu.vendor + " " + cpu.arch;
    }
    case DeviceKind::nvswitch:
      return fmt::format("NVSwitch {}{}", device.nvswitch().generation,
                         device.nvswitch().multicast ? " with multicast" : "");
    case DeviceKind::pcie_switch: return "PCIe switch";
  }
  return {};
}

std::vector<DeviceClass> device_classes(const Unit& unit, const Parts& parts) {
  std::vector<DeviceClass> classes;
  for (const Device& device : unit.devices()) {
    const std::string title = device_title(device, parts);
    const auto found = std::find_if(classes.begin(), classes.end(), [&](const auto& one) {
      return one.kind == device.kind && one.title == title;
    });
    if (found != classes.end()) {
      ++found->count;
    } else {
      classes.push_back({device.kind, title, 1});
    }
  }
  std::stable_sort(classes.begin(), classes.end(),
                   [](const auto& a, const auto& b) { return a.kind < b.kind; });
  return classes;
}

bool is_scale_up(LinkKind kind) { return kind == LinkKind::nvlink || kind == LinkKind::xgmi; }

std::vector<Island> islands(const Unit& unit) {
  std::vector<Island> all(static_cast<std::size_t>(unit.island_count()));
  for (const DeviceIndex gpu : unit.gpus()) {
    const int number = unit.island_of(gpu);
    Island& island = all[static_cast<std::size_t>(number)];
    if (island.gpus++ > 0) continue;
    island.multicast = unit.has_multicast(number);
    for (const std::uint32_t at : unit.links_at(gpu)) {
      const Link& link = unit.link(at);
      if (!is_scale_up(link.kind)) continue;
      island.nvlinks += link.up() ? link.count : 0;
      island.nvlinks_max += link.count_max;
      island.gpu_rate = island.gpu_rate + link.rate();
    }
  }
  return all;
}

std::vector<NicAffinity> affinities(const Unit& unit) {
  std::vector<NicAffinity> all;
  for (const DeviceIndex gpu : unit.gpus()) {
    NicAffinity one{unit.device(gpu).name, "", PathKind::dis, Rate()};
    if (const auto nic = nearest_nic(unit, gpu)) {
      one.nic = unit.device(*nic).name;
      one.path = path_kind(unit, gpu, *nic, true);
      one.rate = unit.device(*nic).nic().rate;
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::vector<LinkClass> link_classes(const Unit& unit) {
  std::vector<LinkClass> classes;
  for (const Link& link : unit.links()) {
    DeviceKind ends[] = {unit.device(link.a).kind, unit.device(link.b).kind};
    std::sort(std::begin(ends), std::end(ends));
    const std::string between = fmt::format("{} - {}", title_of(ends[0]), title_of(ends[1]));
    auto found = std::find_if(classes.begin(), classes.end(), [&](const LinkClass& one) {
      return one.kind == link.kind && one.generation == link.generation && one.between == between &&
             one.lanes_max == link.lanes_max;
    });
    if (found == classes.end())
      found = classes.insert(classes.end(), {link.kind, link.generation, between, 0, 0, 0, 0,
                                             link.lanes_max, link.link_rate, Rate()});
    ++found->bundles;
    found->links += link.lanes > 0 ? link.count : 0;
    found->links_max += link.count_max;
    found->degraded += link.degraded() ? 1 : 0;
    found->rate = found->rate + link.rate();
  }
  std::stable_sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) {
    return std::pair(a.kind, b.generation) < std::pair(b.kind, a.generation);
  });
  return classes;
}

UnitSummary summarise(const Unit& unit, const Parts& parts) {
  return {device_classes(unit, parts), link_classes(unit), islands(unit), affinities(unit)};
}

std::vector<TierSummary> summarise(const Network& network) {
  std::vector<TierSummary> tiers;
  const auto tier = [&](std::uint32_t one) -> TierSummary& {
    const auto number = static_cast<std::size_t>(network.switches()[one].tier);
    while (tiers.size() <= number)
      tiers.push_back({static_cast<int>(tiers.size()), 0, Rate(), Rate()});
    return tiers[number];
  };
  for (std::uint32_t i = 0; i < network.switches().size(); ++i)
    tier(i).switches += network.switches()[i].members;
  for (const NicAttachment& attachment : network.attachments()) {
    TierSummary& leaf = tier(attachment.leaf);
    leaf.down = leaf.down + attachment.cable.rate();
  }
  for (std::size_t i = 0; i < network.trunks().size(); ++i) {
    const auto [a, b] = network.trunk_ends()[i];
    if (network.switches()[a].tier == network.switches()[b].tier) continue;
    const bool a_is_lower = network.switches()[a].tier < network.switches()[b].tier;
    const Rate rate = network.trunks()[i].rate();
    TierSummary& lower = tier(a_is_lower ? a : b);
    lower.up = lower.up + rate;
    TierSummary& upper = tier(a_is_lower ? b : a);
    upper.down = upper.down + rate;
  }
  return tiers;
}

std::string link_title(LinkKind kind, int generation, int lanes) {
  std::string text = name_of(kind);
  if (generation > 0) text += fmt::format(" {}", generation);
  if (kind == LinkKind::pcie && lanes > 0) text += fmt::format(" x{}", lanes);
  return text;
}

const char* title_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu: return "GPU";
    case DeviceKind::nvswitch: return "NVSwitch";
    case DeviceKind::cpu: return "CPU";
    case DeviceKind::pcie_switch: return "PCIe switch";
    case DeviceKind::nic: return "NIC";
  }
  return "";
}

const char* title_of(NetworkPlan::Shape shape) {
  switch (shape) {
    case NetworkPlan::Shape::ideal: return "ideal, non-blocking";
    case NetworkPlan::Shape::rail: return "rail-optimised";
    case NetworkPlan::Shape::fat_tree_2: return "fat tree of 2 levels";
    case NetworkPlan::Shape::fat_tree_3: return "fat tree of 3 levels";
    case NetworkPlan::Shape::dragonfly_plus: return "dragonfly+";
  }
  return "";
}

}  // namespace isleway::report
