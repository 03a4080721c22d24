#include "isleway/fabric/unit.hpp"

#include <algorithm>
#include <numeric>

#include "fabric/scale_up.hpp"
#include "fabric/unit_check.hpp"
#include "isleway/core/groups.hpp"

namespace isleway {
namespace {

constexpr std::uint32_t no_link = ~std::uint32_t{0};

}  // namespace

Unit::Unit(UnitParts parts) : parts_(std::move(parts)) {
  derive_order();
  derive_adjacency();
  derive_islands();
}

Result<std::shared_ptr<const Unit>> Unit::make(UnitParts parts) {
  if (auto checked = check_parts(parts); !checked) return tl::unexpected(checked.error());
  return std::shared_ptr<const Unit>(new Unit(std::move(parts)));
}

void Unit::derive_order() {
  std::vector<DeviceIndex> order(devices().size());
  std::iota(order.begin(), order.end(), DeviceIndex{0});
  std::stable_sort(order.begin(), order.end(), [&](DeviceIndex x, DeviceIndex y) {
    const Device& a = device(x);
    const Device& b = device(y);
    return std::pair(a.host, a.index) < std::pair(b.host, b.index);
  });
  position_.resize(devices().size());
  for (DeviceIndex i : order) {
    std::vector<DeviceIndex>* list = nullptr;
    switch (device(i).kind) {
      case DeviceKind::gpu: list = &gpus_; break;
      case DeviceKind::nic: list = &nics_; break;
      case DeviceKind::nvswitch: list = &nvswitches_; break;
      case DeviceKind::cpu: list = &cpus_; break;
      case DeviceKind::pcie_switch: continue;
    }
    position_[i] = static_cast<std::uint32_t>(list->size());
    list->push_back(i);
  }
}

void Unit::derive_adjacency() {
  pcie_uplink_.assign(devices().size(), no_link);
  adjacency_start_.assign(devices().size() + 1, 0);
  for (const Link& link : links()) {
    ++adjacency_start_[link.a + 1u];
    ++adjacency_start_[link.b + 1u];
  }
  std::partial_sum(adjacency_start_.begin(), adjacency_start_.end(), adjacency_start_.begin());
  adjacency_.resize(links().size() * 2);
  std::vector<std::uint32_t> next(adjacency_start_.begin(), adjacency_start_.end() - 1);
  for (std::uint32_t i = 0; i < links().size(); ++i) {
    adjacency_[next[link(i).a]++] = i;
    adjacency_[next[link(i).b]++] = i;
    if (link(i).kind == LinkKind::pcie) pcie_uplink_[link(i).b] = i;
  }
}

void Unit::derive_islands() {
  Groups groups(devices().size());
  for (std::uint32_t i = 0; i < links().size(); ++i)
    if (is_scale_up(*this, i)) groups.join(link(i).a, link(i).b);

  island_.assign(devices().size(), -1);
  std::vector<int> number(devices().size(), -1);
  for (DeviceIndex gpu : gpus_) {
    int& island = number[groups.find(gpu)];
    if (island < 0) island = island_count_++;
    island_[gpu] = island;
  }
  for (DeviceIndex nvswitch : nvswitches_) island_[nvswitch] = number[groups.find(nvswitch)];
}

std::span<const std::uint32_t> Unit::links_at(DeviceIndex device) const {
  return std::span(adjacency_)
      .subspan(adjacency_start_[device], adjacency_start_[device + 1u] - adjacency_start_[device]);
}

DeviceIndex Unit::peer(std::uint32_t link_index, DeviceIndex device) const {
  const Link& joined = link(link_index);
  return joined.a == device ? joined.b : joined.a;
}

std::optional<DeviceIndex> Unit::find(std::string_view name, int host) const {
  std::optional<DeviceIndex> unseen;
  for (std::size_t i = 0; i < devices().size(); ++i) {
    const Device& candidate = devices()[i];
    if (candidate.name != name) continue;
    if (candidate.host == host) return static_cast<DeviceIndex>(i);
    if (candidate.host == -1) unseen = static_cast<DeviceIndex>(i);
  }
  return unseen;
}

std::optional<std::uint32_t> Unit::pcie_uplink(DeviceIndex device) const {
  if (pcie_uplink_[device] == no_link) return std::nullopt;
  return pcie_uplink_[device];
}

bool Unit::has_multicast(int island) const {
  if (parts_.modes.multicast_off) return false;
  bool any = false;
  for (DeviceIndex i : nvswitches_) {
    if (island_[i] != island) continue;
    if (!device(i).nvswitch().multicast) return false;
    any = true;
  }
  return any && island >= 0;
}

}  // namespace isleway
