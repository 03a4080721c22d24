// What breaks, from a user's words to a changed fabric.
#include <fmt/format.h>

#include <algorithm>

#include "fabric/edit.hpp"
#include "isleway/core/text.hpp"
#include "isleway/fabric/change.hpp"

namespace isleway {
namespace {

/// "node7/gpu3:nvlink5:lanes=1" taken apart: target, part, key and value.
struct Fault {
  std::string_view text, target, part, key;
  std::optional<double> value;
};

tl::unexpected<Error> not_understood(std::string_view text) {
  return fail(fmt::format("cannot read the fault \"{}\"", text),
              "gpu3, gpu3:nvlink5, gpu3:nvlink5:lanes=1, gpu3:pcie:lanes=8, nvswitch1, nic4, "
              "nic4:rate=200, leaf0, spine0:members=3, node5 or node7/gpu3");
}

Result<Fault> parse_fault(std::string_view text) {
  Fault fault;
  fault.text = text;
  std::vector<std::string_view> pieces = split(trim(text), ':');
  if (const std::size_t equals = pieces.back().find('='); equals != std::string_view::npos) {
    fault.key = pieces.back().substr(0, equals);
    fault.value = parse_double(pieces.back().substr(equals + 1));
    if (!fault.value || !(*fault.value >= 0)) return not_understood(text);
    pieces.pop_back();
  }
  if (pieces.empty() || pieces.size() > 2 || pieces[0].empty()) return not_understood(text);
  fault.target = pieces[0];
  if (pieces.size() == 2) {
    if (pieces[1].empty()) return not_understood(text);
    fault.part = pieces[1];
  }
  return fault;
}

/// A whole number from 0 to below `limit`: what is left of that many.
Result<int> what_is_left(const Fault& fault, std::string_view of, int limit) {
  if (*fault.value < limit && *fault.value == static_cast<int>(*fault.value))
    return static_cast<int>(*fault.value);
  return fail(fmt::format("{}={} in \"{}\"", fault.key, *fault.value, fault.text),
              fmt::format("0 to {}: {} has {}", limit - 1, of, limit));
}

// --- Links ---------------------------------------------------------------------------

/// Puts one link of a bundle at fewer lanes: it becomes a bundle of its own, right behind.
void train_one_link(UnitParts& parts, std::uint32_t bundle, int lanes) {
  Link single = parts.links[bundle];
  single.count = single.count_max = 1;
  single.lanes = static_cast<std::uint16_t>(lanes);
  if (parts.links[bundle].count_max == 1) {
    parts.links[bundle] = single;
    return;
  }
  --parts.links[bundle].count;
  --parts.links[bundle].count_max;
  parts.links.insert(parts.links.begin() + bundle + 1, single);
}

Result<Fabric> nvlink_fault(const Fabric& fabric, const Fault& fault, DeviceRef device) {
  const auto port = parse_int(fault.part.substr(std::string_view("nvlink").size()));
  if (!port || *port < 0) return not_understood(fault.text);
  const Unit& unit = fabric.unit(device.unit);
  std::int64_t ports = 0;
  for (std::uint32_t bundle : unit.links_at(device.device)) {
    const Link& link = unit.link(bundle);
    if (!is_nvlink(link)) continue;
    ports += link.count_max;
    if (*port >= ports) continue;
    if (!link.up())
      return fail(fmt::format("the links at {} to {} are down already", fault.part,
                              unit.device(unit.peer(bundle, device.device)).name));
    int lanes = 0;
    if (fault.value) {
      auto left = what_is_left(fault, fmt::format("the link, at {} now,", link.lanes), link.lanes);
      if (!left) return tl::unexpected(left.error());
      lanes = *left;
    }
    return edit_unit(fabric, device.unit, [&](UnitParts& parts) -> Result<void> {
      if (lanes == 0) {
        --parts.links[bundle].count;
      } else {
        train_one_link(parts, bundle, lanes);
      }
      return {};
    });
  }
  return fail(fmt::format("{} has no {}", fabric.device_name(device), fault.part),
              ports == 0 ? "it has no NVLinks" : fmt::format("nvlink0 to nvlink{}", ports - 1));
}

Result<Fabric> pcie_fault(const Fabric& fabric, const Fault& fault, DeviceRef device) {
  const Unit& unit = fabric.unit(device.unit);
  const auto uplink = unit.pcie_uplink(device.device);
  if (!uplink) return fail(fmt::format("{} has no PCIe link", fabric.device_name(device)));
  int lanes = 0;
  if (fault.value) {
    const int now = unit.link(*uplink).lanes;
    auto left = what_is_left(fault, "the link", now);
    if (!left) return tl::unexpected(left.error());
    lanes = *left;
  }
  return edit_unit(fabric, device.unit, [&](UnitParts& parts) -> Result<void> {
    parts.links[*uplink].lanes = static_cast<std::uint16_t>(lanes);
    return {};
  });
}

// --- Devices -------------------------------------------------------------------------

Fabric with_cable(const Fabric& fabric, DeviceRef nic, const std::function<void(Link&)>& edit) {
  const std::uint32_t cable = fabric.cable_id(nic) - fabric.first_cable();
  return fabric.with_network(fabric.network().changed(
      [&](auto&, auto&, auto& attachments) { edit(attachments[cable].cable); }));
}

Result<Fabric> cable_fault(const Fabric& fabric, const Fault& fault, DeviceRef nic) {
  const Rate now = fabric.link(fabric.cable_id(nic)).link_rate;
  const Rate rate = Rate::gbits(*fault.value);
  if (rate.is_zero() || rate >= now)
    return fail(fmt::format("rate={} in \"{}\"", *fault.value, fault.text),
                fmt::format("Gb/s above 0 and below the {:g} that the cable has", now.gbits()));
  return with_cable(fabric, nic, [&](Link& cable) { cable.link_rate = rate; });
}

Result<Fabric> device_fault(const Fabric& fabric, DeviceRef ref) {
  const Device& device = fabric.device(ref);
  const Fabric cut = device.kind == DeviceKind::nic
                         ? with_cable(fabric, ref, [](Link& cable) { cable.count = 0; })
                         : fabric;
  return edit_unit(cut, ref.unit, [&](UnitParts& parts) -> Result<void> {
    if (device.kind == DeviceKind::gpu) {
      remove_devices(parts, [&](const Device& other) {
        return other.kind == device.kind && other.host == device.host &&
               other.index == device.index;
      });
    } else {
      take_down_links(
          parts, [&](const Link& link) { return link.a == ref.device || link.b == ref.device; });
    }
    return {};
  });
}

Result<Fabric> host_fault(const Fabric& fabric, std::uint32_t number) {
  const Fabric::HostRef host = fabric.host(number);
  const Unit& unit = fabric.unit(host.unit);
  const auto on_host = [&](const Device& device) { return device.host == host.host; };
  const Fabric cut =
      fabric.with_network(fabric.network().changed([&](auto&, auto&, auto& attachments) {
        for (DeviceIndex nic : unit.nics())
          if (on_host(unit.device(nic)))
            attachments[fabric.cable_id({host.unit, nic}) - fabric.first_cable()].cable.count = 0;
      }));
  return edit_unit(cut, host.unit, [&](UnitParts& parts) -> Result<void> {
    remove_devices(parts, [&](const Device& device) {
      return device.kind == DeviceKind::gpu && on_host(device);
    });
    take_down_links(parts, [&](const Link& link) {
      return on_host(parts.devices[link.a]) || on_host(parts.devices[link.b]);
    });
    return {};
  });
}

// --- Network -------------------------------------------------------------------------

Result<Fabric> switch_fault(const Fabric& fabric, const Fault& fault, std::uint32_t which) {
  const NetSwitch& now = fabric.network().switches()[which];
  int left = 0;
  if (fault.value) {
    auto members = what_is_left(fault, now.name, now.members);
    if (!members) return tl::unexpected(members.error());
    left = *members;
  }
  const auto& ends = fabric.network().trunk_ends();
  return fabric.with_network(
      fabric.network().changed([&](auto& switches, auto& trunks, auto& attachments) {
        switches[which].members = left;
        const auto thin_out = [&](Link& link) {
          const int most = link.count_max * left / switches[which].members_max;
          link.count = static_cast<std::uint16_t>(std::min<int>(link.count, most));
        };
        for (std::size_t i = 0; i < trunks.size(); ++i)
          if (ends[i].a == which || ends[i].b == which) thin_out(trunks[i]);
        for (NicAttachment& attachment : attachments)
          if (attachment.leaf == which) thin_out(attachment.cable);
      }));
}

/// "node5" as a number, when it names a host and nothing on it.
std::optional<std::int64_t> host_number(std::string_view target) {
  constexpr std::string_view word = "node";
  if (!starts_with_ignoring_case(target, word)) return std::nullopt;
  return parse_int(target.substr(word.size()));
}

}  // namespace

Result<Fabric> with_fault(const Fabric& fabric, std::string_view text) {
  const auto parsed = parse_fault(text);
  if (!parsed) return tl::unexpected(parsed.error());
  const Fault& fault = *parsed;
  const bool whole = fault.part.empty() && fault.key.empty();

  const auto& switches = fabric.network().switches();
  for (std::uint32_t i = 0; i < switches.size(); ++i)
    if (equal_ignoring_case(switches[i].name, fault.target)) {
      if (whole || (fault.part.empty() && fault.key == "members"))
        return switch_fault(fabric, fault, i);
      return not_understood(text);
    }

  if (const auto host = host_number(fault.target)) {
    if (!whole) return not_understood(text);
    if (*host < 0 || *host >= fabric.host_count())
      return fail(fmt::format("there is no \"{}\"", fault.target),
                  fmt::format("node0 to node{}", fabric.host_count() - 1));
    return host_fault(fabric, static_cast<std::uint32_t>(*host));
  }

  const auto device = find_device(fabric, fault.target);
  if (!device) {
    std::vector<std::string> names;
    for (const NetSwitch& s : switches) names.push_back(s.name);
    Error error = device.error();
    if (error.hint.empty()) error.hint = closest(fault.target, names);
    return tl::unexpected(error);
  }
  if (whole) return device_fault(fabric, *device);
  if (fault.part == "pcie" && (fault.key.empty() || fault.key == "lanes"))
    return pcie_fault(fabric, fault, *device);
  if (starts_with_ignoring_case(fault.part, "nvlink") &&
      (fault.key.empty() || fault.key == "lanes"))
    return nvlink_fault(fabric, fault, *device);
  if (fault.part.empty() && fault.key == "rate" && fabric.device(*device).kind == DeviceKind::nic)
    return cable_fault(fabric, fault, *device);
  return not_understood(text);
}

}  // namespace isleway
