// Curves drawn with braille dots, for terminals.
#pragma once

#include <string>
#include <vector>

namespace isleway::report {

/// A canvas of `columns` x `rows` characters, each of 2 x 4 dots. Dot (0, 0) is at the
/// bottom left; dots outside are dropped.
class Canvas {
 public:
  Canvas(int columns, int rows);
  int width() const { return columns_ * 2; }
  int height() const { return rows_ * 4; }
  void line(double x0, double y0, double x1, double y1);
  /// Row 0 is the top one. UTF-8, without blanks at its end.
  std::string row(int index) const;

 private:
  void dot(int x, int y);
  int columns_, rows_;
  std::vector<unsigned char> cells_;
};

}  // namespace isleway::report
