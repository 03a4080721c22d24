// A host as a card, where many are drawn.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/picture/pictures.hpp"

namespace isleway::report {
namespace {

std::vector<DeviceIndex> devices_of(const Unit& unit, int host, DeviceKind kind) {
  std::vector<DeviceIndex> found;
  for (DeviceIndex i = 0; i < unit.devices().size(); ++i)
    if (unit.device(i).host == host && unit.device(i).kind == kind) found.push_back(i);
  return found;
}

/// Equal boxes side by side across `room`, or one with their number where there is no place.
void row(Svg& svg, const Rect& room, std::size_t count, const char* style, const char* one) {
  constexpr double kGap = 3, kLeast = 9;
  if (count == 0) return;
  const double width = (room.w + kGap) / static_cast<double>(count) - kGap;
  if (width < kLeast) {
    svg.rect(room, style, 2);
    svg.text({room.middle_x(), room.middle_y() + 3}, fmt::format("{} {}s", count, one), "small");
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    svg.rect({room.x + static_cast<double>(i) * (width + kGap), room.y, width, room.h}, style, 2);
}

}  // namespace

void draw_card(Svg& svg, const Unit& unit, int host, const std::string& name, const Rect& room,
               bool gpus_on_top) {
  svg.rect(room, "card", 6);
  constexpr double kMargin = 7, kGpu = 20, kCpu = 12, kNic = 11, kGap = 5;
  const double x = room.x + kMargin, w = room.w - 2 * kMargin;
  double y = gpus_on_top ? room.y + kMargin : room.bottom() - kMargin;
  const auto next = [&](double height) {
    const Rect place{x, gpus_on_top ? y : y - height, w, height};
    y += (gpus_on_top ? 1 : -1) * (height + kGap);
    return place;
  };
  row(svg, next(kGpu), devices_of(unit, host, DeviceKind::gpu).size(), "gpu", "GPU");
  row(svg, next(kCpu), devices_of(unit, host, DeviceKind::cpu).size(), "cpu", "CPU");
  row(svg, next(kNic), devices_of(unit, host, DeviceKind::nic).size(), "nic", "NIC");
  svg.text({room.middle_x(), gpus_on_top ? room.bottom() - 6 : room.y + 13}, name, "small");
}

}  // namespace isleway::report
