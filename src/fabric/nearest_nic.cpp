#include "fabric/nearest_nic.hpp"

#include <tuple>

#include "fabric/host_path.hpp"
#include "isleway/fabric/fabric.hpp"

namespace isleway {
namespace {

/// The lowest bits of `value`, in reverse, for a power of two of values. NCCL numbers its
/// equal NICs like this, so that neighbouring GPUs start at NICs that lie far apart.
std::uint32_t mirror_bits(std::uint32_t value, std::uint32_t power) {
  std::uint32_t mirrored = 0;
  for (std::uint32_t low = 1, high = power >> 1; high != 0; low <<= 1, high >>= 1)
    if (value & high) mirrored |= low;
  return mirrored;
}

}  // namespace

std::optional<DeviceIndex> nearest_nic_among(const Unit& unit, DeviceIndex device,
                                             const std::function<bool(DeviceIndex)>& usable) {
  // Nearer first, then faster: the smaller the better.
  using Rank = std::tuple<PathKind, double>;
  Rank best{PathKind::dis, 0};
  std::vector<DeviceIndex> equals;
  for (DeviceIndex nic : unit.nics()) {
    const bool same_host = unit.device(nic).host == unit.device(device).host;
    if (!same_host || !usable(nic)) continue;
    const Route path = path_through_host(unit, device, nic);
    if (!path.exists()) continue;
    const Rank rank{path.kind, -unit.device(nic).nic().rate.bytes_per_second()};
    if (rank < best) {
      best = rank;
      equals.clear();
    }
    if (rank == best) equals.push_back(nic);
  }
  if (equals.empty()) return std::nullopt;
  const auto count = static_cast<std::uint32_t>(equals.size());
  const auto index = static_cast<std::uint32_t>(unit.device(device).index);
  const bool power_of_two = (count & (count - 1)) == 0;
  return equals[(power_of_two ? mirror_bits(index, count) : index) % count];
}

std::optional<DeviceIndex> nearest_nic(const Unit& unit, DeviceIndex gpu) {
  return nearest_nic_among(unit, gpu, [](DeviceIndex) { return true; });
}

}  // namespace isleway
