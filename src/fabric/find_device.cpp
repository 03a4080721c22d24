// From what a user types to a device.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "isleway/core/text.hpp"
#include "isleway/fabric/fabric.hpp"

namespace isleway {
namespace {

constexpr int any_host = -2;

/// "gpu", "nvswitch", ...: how a user names a kind, followed by the index.
const char* kind_word(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu: return "gpu";
    case DeviceKind::nvswitch: return "nvswitch";
    case DeviceKind::cpu: return "cpu";
    case DeviceKind::nic: return "nic";
    case DeviceKind::pcie_switch: return "pcie";
  }
  return "";
}

/// By name on the host (or any), else by kind and index; the lowest host of several.
std::optional<DeviceIndex> find_in_unit(const Unit& unit, int host, std::string_view text) {
  std::optional<DeviceIndex> best;
  const auto consider = [&](auto matches) {
    for (std::size_t i = 0; i < unit.devices().size(); ++i) {
      const Device& device = unit.devices()[i];
      if (host != any_host && device.host != host) continue;
      if (!matches(device)) continue;
      if (!best || device.host < unit.device(*best).host) best = static_cast<DeviceIndex>(i);
    }
    return best.has_value();
  };
  if (!consider([&](const Device& device) { return equal_ignoring_case(device.name, text); }))
    consider([&](const Device& device) {
      const std::string word = fmt::format("{}{}", kind_word(device.kind), device.index);
      return equal_ignoring_case(word, text);
    });
  return best;
}

/// "GPU0 to GPU7, mlx5_0, mlx5_1": what a user can name, runs of numbers cut short.
std::string names_of(const Unit& unit, int host) {
  std::map<std::string, std::vector<int>> numbers;
  for (const Device& device : unit.devices()) {
    if (device.host != host && device.host != -1 && host != any_host) continue;
    const std::size_t stem = device.name.find_last_not_of("0123456789") + 1;
    const auto number = parse_int(std::string_view(device.name).substr(stem));
    numbers[device.name.substr(0, stem)].push_back(number ? static_cast<int>(*number) : -1);
  }
  std::vector<std::string> runs;
  for (auto& [prefix, all] : numbers) {
    const std::string& stem = prefix;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i + 1;
      while (end < all.size() && all[end] == all[end - 1] + 1) ++end;
      const auto name = [&](int n) { return n < 0 ? stem : fmt::format("{}{}", stem, n); };
      runs.push_back(end - i > 1 ? fmt::format("{} to {}", name(all[i]), name(all[end - 1]))
                                 : name(all[i]));
      i = end;
    }
  }
  return fmt::format("{}", fmt::join(runs, ", "));
}

tl::unexpected<Error> no_such_device(const Unit& unit, int host, std::string_view text) {
  std::vector<std::string> known;
  for (const Device& device : unit.devices()) {
    known.push_back(device.name);
    known.push_back(fmt::format("{}{}", kind_word(device.kind), device.index));
  }
  const std::string nearest = closest(text, known);
  return fail(fmt::format("there is no device \"{}\"", text), names_of(unit, host),
              nearest.empty() ? "" : nearest);
}

}  // namespace

Result<DeviceRef> find_device(const Fabric& fabric, std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    // Equal units have equal devices: the first of each template will do.
    std::vector<bool> seen(fabric.templates().size(), false);
    for (std::uint32_t u = 0; u < fabric.unit_count(); ++u) {
      if (seen[fabric.template_of(u)]) continue;
      seen[fabric.template_of(u)] = true;
      if (const auto found = find_in_unit(fabric.unit(u), any_host, text))
        return DeviceRef{u, *found};
    }
    if (fabric.unit_count() == 0) return fail("the fabric has no devices");
    return no_such_device(fabric.unit(0), any_host, text);
  }

  const std::string_view place = text.substr(0, slash), name = text.substr(slash + 1);
  Fabric::HostRef where;
  const bool is_rack = starts_with_ignoring_case(place, "rack");
  const auto number = parse_int(place.substr(std::min<std::size_t>(4, place.size())));
  const std::uint32_t count = is_rack ? fabric.unit_count() : fabric.host_count();
  if (!(is_rack || starts_with_ignoring_case(place, "node")) || !number || *number < 0 ||
      *number >= count)
    return fail(fmt::format("there is no \"{}\"", place),
                count == 1 ? fmt::format("{}0", is_rack ? "rack" : "node")
                           : fmt::format("{0}0 to {0}{1}", is_rack ? "rack" : "node",
                                         std::max(count, 1u) - 1));
  if (is_rack) {
    where = {static_cast<std::uint32_t>(*number), -1};
  } else {
    where = fabric.host(static_cast<std::uint32_t>(*number));
  }
  const auto found = find_in_unit(fabric.unit(where.unit), where.host, name);
  if (!found) return no_such_device(fabric.unit(where.unit), where.host, name);
  return DeviceRef{where.unit, *found};
}

}  // namespace isleway
