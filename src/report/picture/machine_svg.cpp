#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "isleway/report/machine.hpp"
#include "report/picture/pictures.hpp"
#include "report/summary.hpp"

namespace isleway::report {
namespace {

constexpr double kMargin = 26, kTop = 66, kLegendLine = 18;

std::string plural(std::uint32_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string heading(const Fabric& fabric) {
  if (fabric.unit_count() > 1) return fabric.name();
  const UnitParts& parts = fabric.unit(0).parts();
  return parts.title.empty() ? fabric.name() : parts.title;
}

std::string subheading(const Fabric& fabric) {
  std::string text = plural(fabric.gpu_count(), "GPU") + ", " +
                     plural(fabric.host_count(), "host") + ", " +
                     plural(fabric.island_count(), "island");
  if (fabric.unit_count() > 1)
    text += fmt::format(", network {} ({})", fabric.network().plan().name,
                        title_of(fabric.network().plan().shape));
  if (fabric.unit(0).parts().announced) text += ", announced";
  return text;
}

/// Keys side by side, in as many lines as they need.
class Legend {
 public:
  Legend(Svg& svg, Point at, double width)
      : svg_(svg), at_(at), width_(width), x_(at.x), y_(at.y) {}

  void link(const char* style, Rate rate, const std::string& text) {
    const double x = next(30, text);
    svg_.line({x, y_ - 4}, {x + 24, y_ - 4}, style, stroke_width(rate.GBs()));
    svg_.text({x + 30, y_}, text, "small", Anchor::start);
  }
  void box(const char* style, const std::string& text) {
    const double x = next(18, text);
    svg_.rect({x, y_ - 9, 12, 10}, style, 2);
    svg_.text({x + 18, y_}, text, "small", Anchor::start);
  }
  double bottom() const { return y_ + kLegendLine; }

 private:
  double next(double key, const std::string& text) {
    const double wide = key + 5.2 * static_cast<double>(text.size()) + 22;
    if (x_ > at_.x && x_ + wide > at_.x + width_) {
      x_ = at_.x;
      y_ += kLegendLine;
    }
    const double x = x_;
    x_ += wide;
    return x;
  }

  Svg& svg_;
  Point at_;
  double width_, x_, y_;
};

/// Boxes are named in the picture of one host; in those of many they are only coloured.
double draw_legend(Svg& svg, const Fabric& fabric, Point at, double width, bool loads) {
  Legend legend(svg, at, width);
  if (loads) {
    constexpr std::pair<double, const char*> kKeys[] = {{0, "idle"},
                                                        {0.1, "below 25% of its rate"},
                                                        {0.3, "25 to 50%"},
                                                        {0.6, "50 to 75%"},
                                                        {0.9, "75% and more"}};
    for (const auto& [share, text] : kKeys) legend.link(load_style(share), Rate::GBs(100), text);
    return legend.bottom();
  }
  const Unit& unit = fabric.unit(0);
  if (fabric.unit_count() > 1 || unit.parts().hosts > 1) {
    legend.box("gpu", "GPU");
    legend.box("cpu", "CPU (NUMA node)");
    legend.box("nic", "NIC");
  }
  std::set<std::string> seen;
  for (const LinkClass& one : link_classes(unit)) {
    const std::string text =
        fmt::format("{}: {:.4g} GB/s a link each way",
                    link_title(one.kind, one.generation, one.lanes_max), one.link_rate.GBs());
    if (!one.link_rate.is_zero() && seen.insert(text).second)
      legend.link(link_style(one.kind), one.link_rate, text);
  }
  if (fabric.unit_count() > 1 && !fabric.network().attachments().empty()) {
    const Link& cable = fabric.network().attachments().front().cable;
    legend.link("network", cable.link_rate,
                fmt::format("{}: {:.4g} Gb/s a cable each way", fabric.network().plan().technology,
                            cable.link_rate.gbits()));
  }
  return legend.bottom();
}

}  // namespace

Result<std::string> machine_svg(const Fabric& fabric, const LinkShares& loads) {
  if (fabric.unit_count() == 0 || fabric.unit(0).devices().empty())
    return fail("there is nothing to draw: the machine has no device");
  const Unit& unit = fabric.unit(0);
  if (!loads.empty() && fabric.host_count() > 1)
    return fail("link loads can be drawn on one host only",
                "a machine of one host, as in dgx-h100");
  Svg svg;
  const Point corner{kMargin, kTop};
  const Rect drawn = fabric.unit_count() > 1  ? draw_cluster(svg, fabric, corner)
                     : unit.parts().hosts > 1 ? draw_rack(svg, unit, corner)
                                              : draw_host(svg, unit, 0, corner, loads);
  const double width = std::max(drawn.w, 420.0);
  svg.text({kMargin, 32}, heading(fabric), "title", Anchor::start);
  svg.text({kMargin, 50}, subheading(fabric), "subtitle", Anchor::start);
  const double bottom = drawn.bottom() + 28;
  const double end = draw_legend(svg, fabric, {kMargin, bottom}, width, !loads.empty());
  return svg.document(width + 2 * kMargin, end, heading(fabric));
}

}  // namespace isleway::report
