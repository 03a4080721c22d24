// Which GPUs take part, and the modes that part them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fabric/edit.hpp"
#include "isleway/fabric/change.hpp"

namespace isleway {
namespace {

bool is_gpu(const Device& device) { return device.kind == DeviceKind::gpu; }

/// The indices of each host's GPUs, in order; hosts without a GPU are left out.
std::map<int, std::set<int>> gpus_by_host(const UnitParts& parts) {
  std::map<int, std::set<int>> hosts;
  for (const Device& device : parts.devices)
    if (is_gpu(device)) hosts[device.host].insert(device.index);
  return hosts;
}

/// Every host that has GPUs has all of `indices`, each given once.
Result<void> check_indices(const UnitParts& parts, const std::vector<int>& indices) {
  std::set<int> given;
  for (int index : indices)
    if (!given.insert(index).second) return fail(fmt::format("GPU {} is listed twice", index));
  for (const auto& [host, gpus] : gpus_by_host(parts))
    for (int index : given)
      if (!gpus.contains(index))
        return fail(fmt::format("{} has no GPU {}", parts.name, index),
                    fmt::format("{} GPUs, {} to {}", gpus.size(), *gpus.begin(), *gpus.rbegin()));
  return {};
}

void keep_gpus(UnitParts& parts, const std::vector<int>& indices) {
  remove_devices(parts, [&](const Device& device) {
    return is_gpu(device) &&
           std::find(indices.begin(), indices.end(), device.index) == indices.end();
  });
}

}  // namespace

Result<Fabric> with_first_gpus(const Fabric& fabric, int n) {
  return edit_all_units(fabric, [n](UnitParts& parts) -> Result<void> {
    std::set<std::pair<int, int>> wanted;  // host, index
    for (const auto& [host, gpus] : gpus_by_host(parts)) {
      if (n < 1 || n > static_cast<int>(gpus.size()))
        return fail(fmt::format("{} GPUs of each host of {}", n, parts.name),
                    fmt::format("1 to {}", gpus.size()));
      auto end = std::next(gpus.begin(), n);
      for (auto index = gpus.begin(); index != end; ++index) wanted.emplace(host, *index);
    }
    remove_devices(parts, [&](const Device& device) {
      return is_gpu(device) && !wanted.contains({device.host, device.index});
    });
    return {};
  });
}

Result<Fabric> with_gpus(const Fabric& fabric, const std::vector<int>& indices) {
  if (indices.empty()) return fail("an empty list of GPUs", "GPU indices, such as 0,1,4");
  return edit_all_units(fabric, [&](UnitParts& parts) {
    return check_indices(parts, indices).map([&] { keep_gpus(parts, indices); });
  });
}

Result<Fabric> with_mig(const Fabric& fabric, const std::vector<int>& indices) {
  return edit_all_units(fabric, [&](UnitParts& parts) -> Result<void> {
    if (auto checked = check_indices(parts, indices); !checked) return checked;
    for (Device& device : parts.devices)
      if (is_gpu(device) && (indices.empty() || std::find(indices.begin(), indices.end(),
                                                          device.index) != indices.end()))
        std::get<GpuInfo>(device.info).mig = true;
    const auto in_mig_mode = [&](DeviceIndex i) {
      return is_gpu(parts.devices[i]) && parts.devices[i].gpu().mig;
    };
    take_down_links(parts, [&](const Link& link) {
      return is_nvlink(link) && (in_mig_mode(link.a) || in_mig_mode(link.b));
    });
    return {};
  });
}

Result<Fabric> with_partition(const Fabric& fabric, const std::vector<int>& indices) {
  if (indices.empty()) return fail("an empty partition", "GPU indices, such as 0,1,2,3");
  constexpr std::size_t too_few_for_multicast = 4;
  return edit_all_units(fabric, [&](UnitParts& parts) -> Result<void> {
    if (auto checked = check_indices(parts, indices); !checked) return checked;
    if (std::none_of(parts.devices.begin(), parts.devices.end(),
                     [](const Device& device) { return device.kind == DeviceKind::nvswitch; }))
      return fail(fmt::format("{} has no NVSwitch to partition", parts.name), "",
                  "choose GPUs instead (--gpus)");
    keep_gpus(parts, indices);
    if (indices.size() == 1) take_down_links(parts, is_nvlink);
    if (indices.size() <= too_few_for_multicast) parts.modes.multicast_off = true;
    return {};
  });
}

}  // namespace isleway
