// Hosts that share NVSwitches, half of them above the switches and half below.
#include <fmt/format.h>

#include <algorithm>

#include "report/picture/pictures.hpp"

namespace isleway::report {
namespace {

constexpr double kCardWidth = 96, kCardHeight = 88, kCardGap = 12;
constexpr double kLinkHeight = 46, kChipHeight = 34, kFramePad = 12;

/// All scale-up links of one host's GPUs, as one.
struct Uplink {
  int links = 0, links_max = 0;
  Rate rate;
  bool degraded() const { return links < links_max; }
};

Uplink uplink_of(const Unit& unit, int host) {
  Uplink all;
  for (const Link& link : unit.links()) {
    if (link.kind != LinkKind::nvlink && link.kind != LinkKind::xgmi) continue;
    const Device& a = unit.device(link.a);
    const Device& b = unit.device(link.b);
    if ((a.kind == DeviceKind::nvswitch) == (b.kind == DeviceKind::nvswitch)) continue;
    if ((a.kind == DeviceKind::gpu ? a : b).host != host) continue;
    all.links += link.up() ? link.count : 0;
    all.links_max += link.count_max;
    all.rate = all.rate + link.rate();
  }
  return all;
}

void draw_uplink(Svg& svg, const Uplink& uplink, Point from, Point to) {
  if (uplink.links_max == 0) return;
  svg.line(from, to, uplink.degraded() ? "bad" : "nvlink", stroke_width(uplink.rate.GBs()) * 0.6);
  const std::string count = uplink.degraded()
                                ? fmt::format("{} of {}", uplink.links, uplink.links_max)
                                : fmt::format("{} links", uplink.links);
  svg.label({from.x, (from.y + to.y) / 2 + 3}, count, uplink.degraded() ? "alarm" : "count");
}

void draw_chips(Svg& svg, const Unit& unit, const Rect& frame) {
  svg.rect(frame, "island", 10);
  const auto chips = unit.nvswitches();
  Rate rate;
  for (int host = 0; host < unit.parts().hosts; ++host) rate = rate + uplink_of(unit, host).rate;
  svg.text({frame.x + 12, frame.y + 17},
           fmt::format("NVLink domain of {} GPUs through {} NVSwitch chips, {:.4g} TB/s each way",
                       unit.gpus().size(), chips.size(), rate.GBs() / 1000),
           "count", Anchor::start);
  if (chips.empty()) return;
  const double slot = (frame.w - 2 * kFramePad) / static_cast<double>(chips.size());
  for (std::size_t i = 0; i < chips.size(); ++i) {
    const Rect box{frame.x + kFramePad + slot * static_cast<double>(i) + 2, frame.y + 26, slot - 4,
                   kChipHeight};
    svg.rect(box, "nvswitch");
    svg.text({box.middle_x(), box.middle_y() + 3},
             slot > 76 ? unit.device(chips[i]).name : std::to_string(i), "small");
  }
}

}  // namespace

Rect draw_rack(Svg& svg, const Unit& unit, Point top_left) {
  const int hosts = unit.parts().hosts;
  const int above = (hosts + 1) / 2;
  const double width = above * (kCardWidth + kCardGap) - kCardGap;
  const double frame_top = top_left.y + kCardHeight + kLinkHeight;
  const Rect frame{top_left.x, frame_top, width, 26 + kChipHeight + kFramePad};
  const double below_top = frame.bottom() + kLinkHeight;
  for (int host = 0; host < hosts; ++host) {
    const bool up = host < above;
    const double x = top_left.x + (up ? host : host - above) * (kCardWidth + kCardGap);
    const Rect card{x, up ? top_left.y : below_top, kCardWidth, kCardHeight};
    const Uplink uplink = uplink_of(unit, host);
    up ? draw_uplink(svg, uplink, {card.middle_x(), card.bottom()}, {card.middle_x(), frame.y})
       : draw_uplink(svg, uplink, {card.middle_x(), card.y}, {card.middle_x(), frame.bottom()});
    draw_card(svg, unit, host, fmt::format("host {}", host), card, !up);
  }
  draw_chips(svg, unit, frame);
  return {top_left.x, top_left.y, width, below_top + (hosts > 1 ? kCardHeight : 0) - top_left.y};
}

}  // namespace isleway::report
