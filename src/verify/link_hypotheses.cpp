// Hypotheses about the links inside a node.
#include <algorithm>

#include "fabric/edit.hpp"
#include "verify/hypotheses.hpp"

namespace isleway::verify {
namespace {

bool joins(const UnitParts& parts, const Link& link, DeviceKind kind) {
  return parts.devices[link.a].kind == kind || parts.devices[link.b].kind == kind;
}

/// Every second link; of bundles with an odd number, the larger half turn about.
void take_down_half(UnitParts& parts, const std::function<bool(const Link&)>& which) {
  bool larger = true;
  for (Link& link : parts.links) {
    if (!which(link)) continue;
    const bool odd = link.count % 2 != 0;
    link.count = static_cast<std::uint16_t>(link.count / 2 + (odd && larger ? 1 : 0));
    if (odd) larger = !larger;
  }
}

/// Adds what changes every node, unless it cannot be done or changes nothing.
class Adder {
 public:
  Adder(const Setup& setup, std::vector<Hypothesis>& all) : setup_(setup), all_(all) {}

  void add(const char* key, const char* title, const char* remedy, const Result<Fabric>& fabric,
           const char* variable = nullptr, const char* value = nullptr) {
    if (!fabric) return;
    Setup changed{*fabric, setup_.options};
    if (variable != nullptr) changed.options.env[variable] = value;
    all_.push_back({key, title, remedy, {std::move(changed)}});
  }

 private:
  const Setup& setup_;
  std::vector<Hypothesis>& all_;
};

bool has(const Fabric& fabric, const std::function<bool(const UnitParts&, const Link&)>& which) {
  const auto& units = fabric.templates();
  return std::any_of(units.begin(), units.end(), [&](const auto& unit) {
    return std::any_of(unit->links().begin(), unit->links().end(),
                       [&](const Link& link) { return link.up() && which(unit->parts(), link); });
  });
}

Result<Fabric> with_lanes(const Fabric& fabric, DeviceKind kind, int divisor) {
  return edit_all_units(fabric, [&](UnitParts& parts) -> Result<void> {
    for (Link& link : parts.links)
      if (link.kind == LinkKind::pcie && joins(parts, link, kind))
        link.lanes = static_cast<std::uint16_t>(std::max(1, link.lanes / divisor));
    return {};
  });
}

}  // namespace

void add_link_hypotheses(const Setup& setup, std::vector<Hypothesis>& all) {
  Adder adder(setup, all);
  const Fabric& fabric = setup.fabric;
  if (has(fabric, [](const auto&, const Link& link) { return is_nvlink(link); })) {
    const Result<Fabric> without = edit_all_units(fabric, [](UnitParts& parts) -> Result<void> {
      take_down_links(parts, is_nvlink);
      return {};
    });
    adder.add("nvlink-off", "no NVLink: GPUs reach one another over PCIe",
              "nvidia-smi nvlink -s; fabric manager; a bridge that is missing", without);
    adder.add("nvlink-and-p2p-off", "neither NVLink nor peer access: all goes through the host",
              "fabric manager; MIG; confidential mode; NCCL_P2P_DISABLE", without,
              "NCCL_P2P_DISABLE", "1");
    adder.add("nvlink-half", "half of the NVLinks are down",
              "nvidia-smi nvlink -s; NVSwitch errors (SXid)",
              edit_all_units(fabric, [](UnitParts& parts) -> Result<void> {
                take_down_half(parts, is_nvlink);
                return {};
              }));
    adder.add("nvlink-half-one-gpu", "one GPU has half of its NVLinks",
              "nvidia-smi nvlink -s -i on each GPU; Xid 74, 144 to 150",
              edit_unit(fabric, 0, [](UnitParts& parts) -> Result<void> {
                const auto gpu = std::find_if(
                    parts.devices.begin(), parts.devices.end(),
                    [](const Device& device) { return device.kind == DeviceKind::gpu; });
                const auto index = static_cast<DeviceIndex>(gpu - parts.devices.begin());
                take_down_half(parts, [index](const Link& link) {
                  return is_nvlink(link) && (link.a == index || link.b == index);
                });
                return {};
              }));
  }
  adder.add("pcie-half", "the GPUs' PCIe links have half of their lanes or speed",
            "lspci -vv: LnkSta against LnkCap; risers; power saving",
            with_lanes(fabric, DeviceKind::gpu, 2));
  adder.add("pcie-quarter", "the GPUs' PCIe links have a quarter of their lanes or speed",
            "lspci -vv: LnkSta against LnkCap; risers; power saving",
            with_lanes(fabric, DeviceKind::gpu, 4));
}

}  // namespace isleway::verify
