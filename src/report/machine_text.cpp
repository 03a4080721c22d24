#include <fmt/format.h>

#include <algorithm>

#include "isleway/report/machine.hpp"
#include "report/summary.hpp"

namespace isleway::report {
namespace {

std::string count_of(std::uint32_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string rate_text(Rate rate) {
  if (rate == Rate::unlimited()) return "no limit";
  return rate.GBs() >= 1000 ? fmt::format("{:.4g} TB/s", rate.GBs() / 1000)
                            : fmt::format("{:.4g} GB/s", rate.GBs());
}

std::string field(const char* name, const std::string& value) {
  return fmt::format("{:<12}{}\n", name, value);
}

std::string devices_text(const UnitSummary& unit) {
  std::string text;
  DeviceKind last = DeviceKind::gpu;
  bool first = true;
  for (const DeviceClass& one : unit.devices) {
    const bool repeats = !first && one.kind == last;
    const char* name = one.kind == DeviceKind::gpu           ? "GPUs"
                       : one.kind == DeviceKind::nvswitch    ? "NVSwitches"
                       : one.kind == DeviceKind::cpu         ? "CPUs"
                       : one.kind == DeviceKind::pcie_switch ? "PCIe"
                                                             : "NICs";
    text += field(repeats ? "" : name, fmt::format("{} x {}", one.count, one.title));
    last = one.kind;
    first = false;
  }
  return text;
}

std::string island_text(const Island& island) {
  if (island.nvlinks_max == 0) return "no NVLink";
  return fmt::format("{} of {} NVLinks a GPU, {} each way{}", island.nvlinks, island.nvlinks_max,
                     rate_text(island.gpu_rate), island.multicast ? ", multicast (NVLS)" : "");
}

/// Equal islands in one line: "4 of 2 GPUs: ...".
std::string islands_text(const UnitSummary& unit) {
  std::string text;
  for (std::size_t i = 0; i < unit.islands.size();) {
    const Island& island = unit.islands[i];
    const std::string what = island_text(island);
    std::size_t end = i;
    while (end < unit.islands.size() && unit.islands[end].gpus == island.gpus &&
           island_text(unit.islands[end]) == what)
      ++end;
    text += field(i == 0 ? "islands" : "",
                  fmt::format("{} of {}: {}", end - i,
                              count_of(static_cast<std::uint32_t>(island.gpus), "GPU"), what));
    i = end;
  }
  return text;
}

std::string links_text(const UnitSummary& unit) {
  if (unit.links.empty()) return {};
  std::string text = fmt::format("\n{:<14}{:<26}{:>8}{:>17}{:>13}{:>10}\n", "link", "between",
                                 "bundles", "links up/fitted", "GB/s a link", "GB/s all");
  for (const LinkClass& one : unit.links) {
    text += fmt::format("{:<14}{:<26}{:>8}{:>17}{:>13.4g}{:>10.5g}{}\n",
                        link_title(one.kind, one.generation, one.lanes_max), one.between,
                        one.bundles, fmt::format("{}/{}", one.links, one.links_max),
                        one.link_rate.GBs(), one.rate.GBs(),
                        one.degraded > 0 ? fmt::format("  {} degraded", one.degraded) : "");
  }
  return text;
}

std::string nics_text(const UnitSummary& unit) {
  std::string text;
  for (const NicAffinity& one : unit.nics) {
    if (one.nic.empty()) continue;
    if (text.empty()) text = "\nGPU    near NIC      path  Gb/s\n";
    text += fmt::format("{:<7}{:<14}{:<6}{:g}\n", one.gpu, one.nic, name_of(one.path),
                        one.rate.gbits());
  }
  return text;
}

std::string modes_text(const UnitModes& modes) {
  std::string text;
  if (modes.confidential != Confidential::off) text += field("mode", "confidential computing");
  if (modes.iommu) text += field("mode", "a translating IOMMU between peers");
  if (modes.multicast_off) text += field("mode", "in-switch multicast (NVLS) is off");
  return text;
}

std::string unit_text(const Unit& unit, const Parts& parts) {
  const UnitSummary summary = summarise(unit, parts);
  std::string text = devices_text(summary) + islands_text(summary) + modes_text(unit.parts().modes);
  if (!unit.parts().source.empty()) text += field("source", unit.parts().source);
  text += links_text(summary);
  return unit.parts().hosts == 1 ? text + nics_text(summary) : text;
}

std::string network_text(const Fabric& fabric) {
  const NetworkPlan& plan = fabric.network().plan();
  std::string text =
      field("network", fmt::format("{}: {}, {}", plan.name, title_of(plan.shape), plan.technology));
  for (const TierSummary& tier : summarise(fabric.network())) {
    std::string line = fmt::format(
        "tier {}: {}, {} down", tier.tier,
        count_of(static_cast<std::uint32_t>(tier.switches), "switch group"), rate_text(tier.down));
    if (!tier.up.is_zero())
      line += fmt::format(", {} up ({:.3g}:1)", rate_text(tier.up), tier.oversubscription());
    text += field("", line);
  }
  return text;
}

std::string title_of_unit(const Unit& unit) {
  const UnitParts& parts = unit.parts();
  return (parts.title.empty() ? parts.name : parts.title) + (parts.announced ? " (announced)" : "");
}

}  // namespace

std::string machine_text(const Fabric& fabric, const Parts& parts) {
  const bool cluster = fabric.unit_count() > 1;
  std::string text = cluster || fabric.templates().empty() ? fabric.name() + "\n"
                                                           : title_of_unit(fabric.unit(0)) + "\n";
  if (cluster || fabric.host_count() > 1)
    text += field("size", count_of(fabric.host_count(), "host") + ", " +
                              count_of(fabric.gpu_count(), "GPU") + ", " +
                              count_of(fabric.island_count(), "island"));
  if (cluster) text += network_text(fabric);
  if (fabric.gpu_count() > 1)
    text += field("bisection", rate_text(bisection(fabric)) + " each way");
  for (std::uint32_t i = 0; i < fabric.templates().size(); ++i) {
    if (cluster) {
      const auto count =
          std::count(fabric.unit_templates().begin(), fabric.unit_templates().end(), i);
      text += fmt::format("\n{} x {}\n", count, title_of_unit(*fabric.templates()[i]));
    }
    text += unit_text(*fabric.templates()[i], parts);
  }
  return text;
}

}  // namespace isleway::report
