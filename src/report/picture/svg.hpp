// Writes SVG: shapes with classes, whose colours follow the reader's light or dark theme.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace isleway::report {

struct Point {
  double x = 0, y = 0;
};

struct Rect {
  double x = 0, y = 0, w = 0, h = 0;
  double right() const { return x + w; }
  double bottom() const { return y + h; }
  double middle_x() const { return x + w / 2; }
  double middle_y() const { return y + h / 2; }
};

enum class Anchor { start, middle, end };

/// Shapes are drawn in the order in which they are added.
class Svg {
 public:
  void rect(const Rect& rect, std::string_view style, double radius = 4);
  void line(Point from, Point to, std::string_view style, double width);
  void polyline(std::span<const Point> points, std::string_view style, double width);
  /// An arc that rises by `height` above its ends.
  void arc(Point from, Point to, double height, std::string_view style, double width);
  void text(Point at, std::string_view text, std::string_view style,
            Anchor anchor = Anchor::middle);
  /// Text on a patch of the background, so that lines below do not disturb it.
  void label(Point at, std::string_view text, std::string_view style,
             std::string_view patch = "patch");

  /// The document; `title` is for screen readers and tooltips.
  std::string document(double width, double height, std::string_view title) const;

 private:
  std::string body_;
};

/// Stroke width for a rate in GB/s: grows with its square root, so that a PCIe lane and a
/// rack's NVLink fabric can stand in one picture.
double stroke_width(double GBs);

}  // namespace isleway::report
