#include "report/picture/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isleway/core/markup.hpp"

namespace isleway::report {
namespace {

constexpr const char* kStyle = R"(
text { font-family: Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #1f2933; font-size: 11px; }
.title { font-size: 17px; font-weight: bold; }
.subtitle { font-size: 12px; fill: #52606d; }
.name { font-weight: bold; }
.small { font-size: 9px; fill: #52606d; }
.count { font-size: 9px; fill: #2f6b12; }
.alarm { font-size: 9px; fill: #c81e1e; font-weight: bold; }
.page { fill: #ffffff; }
.patch { fill: #ffffff; opacity: 0.85; }
.island { fill: #f3f8ee; stroke: #8fbf6a; stroke-dasharray: 6 3; }
.card { fill: #fafbfc; stroke: #cbd2d9; }
.gpu { fill: #dcefcb; stroke: #4c8f22; }
.nvswitch { fill: #cdeae6; stroke: #1b7f74; }
.cpu { fill: #dde6f4; stroke: #3d65a5; }
.pcie_switch { fill: #e9ecef; stroke: #7b8794; }
.nic { fill: #fde8cf; stroke: #c26a0b; }
.net { fill: #fbe3ea; stroke: #b3375f; }
.l { fill: none; }
.nvlink, .xgmi { stroke: #5b9e2d; }
.c2c { stroke: #1b7f74; }
.pcie { stroke: #8993a1; }
.smp { stroke: #3d65a5; }
.network { stroke: #c26a0b; }
.bad { stroke: #c81e1e; stroke-dasharray: 4 2; }
.load0 { stroke: #cbd2d9; }
.load1 { stroke: #5b8fd6; }
.load2 { stroke: #5b9e2d; }
.load3 { stroke: #e08a00; }
.load4 { stroke: #d0211c; }
.grid { stroke: #e4e7eb; }
.dash { stroke-dasharray: 6 4; }
.c0 { stroke: #3d65a5; }
.c1 { stroke: #c26a0b; }
.c2 { stroke: #5b9e2d; }
.c3 { stroke: #b3375f; }
.c4 { stroke: #1b7f74; }
.c5 { stroke: #7b5ea7; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e7eb; }
  .subtitle, .small { fill: #9aa5b1; }
  .count { fill: #a6d97f; }
  .alarm { fill: #ff8a80; }
  .page { fill: #0f1419; }
  .patch { fill: #0f1419; }
  .island { fill: #141f12; stroke: #4c7a2e; }
  .card { fill: #171d24; stroke: #3e4c59; }
  .gpu { fill: #24401a; stroke: #8ccf5a; }
  .nvswitch { fill: #123a37; stroke: #4fc4b6; }
  .cpu { fill: #1c2c47; stroke: #86abe6; }
  .pcie_switch { fill: #2a323b; stroke: #9aa5b1; }
  .nic { fill: #452c0d; stroke: #f0a650; }
  .net { fill: #45182a; stroke: #ee86a8; }
  .nvlink, .xgmi { stroke: #7cc24a; }
  .c2c { stroke: #4fc4b6; }
  .pcie { stroke: #7b8794; }
  .smp { stroke: #86abe6; }
  .network { stroke: #f0a650; }
  .bad { stroke: #ff6b6b; }
  .grid { stroke: #323f4b; }
  .c0 { stroke: #86abe6; }
  .c1 { stroke: #f0a650; }
  .c2 { stroke: #7cc24a; }
  .c3 { stroke: #ee86a8; }
  .c4 { stroke: #4fc4b6; }
  .c5 { stroke: #b79be0; }
}
)";

/// A coordinate with at most one decimal.
std::string number(double value) {
  const double tenths = std::round(value * 10);
  return std::fmod(tenths, 10) == 0 ? fmt::format("{:.0f}", tenths / 10)
                                    : fmt::format("{:.1f}", tenths / 10);
}

/// XML has no control characters.
std::string escape(std::string_view from) {
  std::string text(from);
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  return escape_markup(text);
}

}  // namespace

void Svg::rect(const Rect& r, std::string_view style, double radius) {
  body_ += fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="{}"/>)", style,
                       number(r.x), number(r.y), number(r.w), number(r.h), number(radius)) +
           "\n";
}

void Svg::line(Point from, Point to, std::string_view style, double width) {
  body_ += fmt::format(R"(<line class="l {}" x1="{}" y1="{}" x2="{}" y2="{}" stroke-width="{}"/>)",
                       style, number(from.x), number(from.y), number(to.x), number(to.y),
                       number(width)) +
           "\n";
}

void Svg::polyline(std::span<const Point> points, std::string_view style, double width) {
  std::string list;
  for (const Point& point : points)
    list += fmt::format("{}{},{}", list.empty() ? "" : " ", number(point.x), number(point.y));
  body_ += fmt::format(R"(<polyline class="l {}" points="{}" stroke-width="{}"/>)", style, list,
                       number(width)) +
           "\n";
}

void Svg::arc(Point from, Point to, double height, std::string_view style, double width) {
  // The apex of a cubic lies at three quarters of its control points' height.
  const double lift = height / 0.75;
  body_ +=
      fmt::format(R"(<path class="l {}" d="M{} {}C{} {} {} {} {} {}" stroke-width="{}"/>)", style,
                  number(from.x), number(from.y), number(from.x), number(from.y - lift),
                  number(to.x), number(to.y - lift), number(to.x), number(to.y), number(width)) +
      "\n";
}

void Svg::text(Point at, std::string_view text, std::string_view style, Anchor anchor) {
  const char* where = anchor == Anchor::start    ? "start"
                      : anchor == Anchor::middle ? "middle"
                                                 : "end";
  body_ += fmt::format(R"(<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>)", style,
                       number(at.x), number(at.y), where, escape(text)) +
           "\n";
}

void Svg::label(Point at, std::string_view text, std::string_view style, std::string_view patch) {
  const double width = 5.4 * static_cast<double>(text.size()) + 4;
  rect({at.x - width / 2, at.y - 8, width, 11}, patch, 2);
  this->text(at, text, style);
}

std::string Svg::document(double width, double height, std::string_view title) const {
  return fmt::format(
             R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">)"
             "\n<title>{2}</title>\n<style>{3}</style>\n"
             R"(<rect class="page" width="{0}" height="{1}" rx="8"/>)"
             "\n",
             number(width), number(height), escape(title), kStyle) +
         body_ + "</svg>\n";
}

double stroke_width(double GBs) { return std::clamp(0.8 + 0.22 * std::sqrt(GBs), 1.0, 9.0); }

}  // namespace isleway::report
