// Curves over size as a picture.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace isleway::report {

struct Curve {
  std::string label;
  std::vector<std::pair<std::int64_t, double>> points;  ///< (bytes, value), by bytes
  bool dashed = false;  ///< what is not the main thing: an estimate, a limit
  int colour = -1;      ///< that of the curve with this number; -1: of its own number
};

struct ChartText {
  std::string title, subtitle, unit;  ///< "GB/s"
};

/// Size on a logarithmic axis, values from 0 on a linear one; follows the reader's light or
/// dark theme. Empty where no curve has two points to join.
std::string chart_svg(const ChartText& text, std::span<const Curve> curves);

/// The least of 1, 2, 5 x 10^n that is not below `value`: where an axis ends.
double round_up(double value);

}  // namespace isleway::report
