#include "report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isleway/core.hpp"
#include "report/picture/svg.hpp"

namespace isleway::report {
namespace {

constexpr double kWidth = 760, kHeight = 440;
constexpr Rect kPlot{64, 64, 676, 300};
constexpr std::size_t kColours = 6;  // in the style sheet
constexpr int kLines = 5;            // across the plot

/// The style of the curve with number `index`.
std::string style(std::size_t index, const Curve& curve) {
  const std::size_t colour = curve.colour < 0 ? index : static_cast<std::size_t>(curve.colour);
  return fmt::format("c{}{}", colour % kColours, curve.dashed ? " dash" : "");
}

/// Where a size and a value are in the picture.
class Axes {
 public:
  explicit Axes(std::span<const Curve> curves) {
    double first = HUGE_VAL, last = -HUGE_VAL, most = 0;
    for (const Curve& curve : curves)
      for (const auto& [bytes, value] : curve.points) {
        if (bytes <= 0) continue;
        first = std::min(first, std::log2(static_cast<double>(bytes)));
        last = std::max(last, std::log2(static_cast<double>(bytes)));
        most = std::max(most, value);
      }
    left_ = first;
    right_ = last;
    top_ = most > 0 ? round_up(most) : 0;
  }
  bool are_useful() const { return right_ > left_ && top_ > 0; }
  double top() const { return top_; }
  int first_power() const { return static_cast<int>(std::ceil(left_)); }
  int last_power() const { return static_cast<int>(std::floor(right_)); }

  double x(double power) const { return kPlot.x + (power - left_) / (right_ - left_) * kPlot.w; }
  double y(double value) const { return kPlot.bottom() - value / top_ * kPlot.h; }
  Point at(const std::pair<std::int64_t, double>& point) const {
    return {x(std::log2(static_cast<double>(point.first))), y(point.second)};
  }

 private:
  double left_ = 0, right_ = 0, top_ = 0;
};

void draw_axes(Svg& svg, const Axes& axes, const std::string& unit) {
  for (int i = 0; i <= kLines; ++i) {
    const double value = axes.top() * i / kLines;
    svg.line({kPlot.x, axes.y(value)}, {kPlot.right(), axes.y(value)}, "grid", 1);
    svg.text({kPlot.x - 8, axes.y(value) + 4}, fmt::format("{:g}", value), "small", Anchor::end);
  }
  // About ten labels, whatever the range.
  const int step = std::max(1, (axes.last_power() - axes.first_power()) / 10);
  for (int power = axes.first_power(); power <= axes.last_power(); power += step) {
    const double x = axes.x(power);
    svg.line({x, kPlot.y}, {x, kPlot.bottom()}, "grid", 1);
    svg.text({x, kPlot.bottom() + 16}, size_text(Bytes(std::int64_t{1} << power)), "small");
  }
  svg.text({kPlot.x - 8, kPlot.y - 10}, unit, "small", Anchor::end);
}

void draw_legend(Svg& svg, std::span<const Curve> curves) {
  double x = kPlot.x;
  double y = kPlot.bottom() + 40;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const double width = 40 + 6.2 * static_cast<double>(curves[i].label.size());
    if (x > kPlot.x && x + width > kPlot.right()) {
      x = kPlot.x;
      y += 16;
    }
    svg.line({x, y - 4}, {x + 20, y - 4}, style(i, curves[i]), 2.5);
    svg.text({x + 26, y}, curves[i].label, "", Anchor::start);
    x += width;
  }
}

}  // namespace

double round_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0})
    if (step * power >= value) return step * power;
  return 10 * power;
}

std::string chart_svg(const ChartText& text, std::span<const Curve> curves) {
  const Axes axes(curves);
  if (!axes.are_useful()) return {};
  Svg svg;
  svg.text({kPlot.x, 28}, text.title, "title", Anchor::start);
  svg.text({kPlot.x, 46}, text.subtitle, "subtitle", Anchor::start);
  draw_axes(svg, axes, text.unit);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    std::vector<Point> points;
    for (const auto& point : curves[i].points)
      if (point.first > 0) points.push_back(axes.at(point));
    svg.polyline(points, style(i, curves[i]), 2.5);
  }
  draw_legend(svg, curves);
  return svg.document(kWidth, kHeight, text.title);
}

}  // namespace isleway::report
