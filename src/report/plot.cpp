#include "report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isleway/core.hpp"
#include "isleway/report/bench.hpp"
#include "report/chart.hpp"

namespace isleway::report {
namespace {

constexpr int kColumns = 64, kRows = 12;

std::vector<const nccl::BenchRow*> drawable(const BenchRun& run) {
  std::vector<const nccl::BenchRow*> rows;
  for (const nccl::BenchRow& row : run.rows)
    if (row.size.bytes > 0) rows.push_back(&row);
  return rows;
}

}  // namespace

Canvas::Canvas(int columns, int rows)
    : columns_(columns), rows_(rows), cells_(static_cast<std::size_t>(columns * rows)) {}

void Canvas::dot(int x, int y) {
  if (x < 0 || y < 0 || x >= width() || y >= height()) return;
  // Bits of a braille cell: 1-3 down the left column, 4-6 down the right, 7 and 8 below.
  constexpr unsigned char kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  const int from_top = height() - 1 - y;
  cells_[static_cast<std::size_t>(from_top / 4 * columns_ + x / 2)] |= kBits[from_top % 4][x % 2];
}

void Canvas::line(double x0, double y0, double x1, double y1) {
  const int steps = static_cast<int>(std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0))));
  for (int i = 0; i <= steps; ++i) {
    const double t = steps == 0 ? 0 : double(i) / steps;
    dot(static_cast<int>(std::lround(x0 + t * (x1 - x0))),
        static_cast<int>(std::lround(y0 + t * (y1 - y0))));
  }
}

std::string Canvas::row(int index) const {
  std::string text;
  std::size_t end = 0;
  for (int column = 0; column < columns_; ++column) {
    const unsigned cell = cells_[static_cast<std::size_t>(index * columns_ + column)];
    // U+2800 + cell in UTF-8.
    text += {'\xE2', static_cast<char>(0xA0 | cell >> 6), static_cast<char>(0x80 | (cell & 0x3F))};
    if (cell != 0) end = text.size();
  }
  text.resize(end);
  return text;
}

std::string busbw_plot(const BenchRun& run) {
  const auto rows = drawable(run);
  if (rows.size() < 2) return {};
  double most = 0;
  for (const auto* row : rows) most = std::max(most, row->busbw_GBs);
  if (most <= 0) return {};
  const double top = round_up(most);
  const auto log_size = [](const nccl::BenchRow* row) {
    return std::log2(static_cast<double>(row->size.bytes));
  };
  const double left = log_size(rows.front()), right = log_size(rows.back());
  if (right <= left) return {};

  Canvas canvas(kColumns, kRows);
  const auto x = [&](const nccl::BenchRow* row) {
    return (log_size(row) - left) / (right - left) * (canvas.width() - 1);
  };
  const auto y = [&](const nccl::BenchRow* row) {
    return row->busbw_GBs / top * (canvas.height() - 1);
  };
  for (std::size_t i = 1; i < rows.size(); ++i)
    canvas.line(x(rows[i - 1]), y(rows[i - 1]), x(rows[i]), y(rows[i]));

  std::string text = fmt::format("# {} busbw (GB/s) over size, {}, engine {}\n",
                                 name_of(run.collective), run.machine, run.engine);
  for (int row = 0; row < kRows; ++row) {
    const std::string label = row == 0 ? fmt::format("{:g}", top) : row == kRows - 1 ? "0" : "";
    text += fmt::format("# {:>7} |{}\n", label, canvas.row(row));
  }
  const std::string first = size_text(Bytes(rows.front()->size.bytes));
  const std::string last = size_text(Bytes(rows.back()->size.bytes));
  text += fmt::format("# {:>7} +{}\n", "", std::string(kColumns, '-'));
  return text + fmt::format("# {:>7}  {}{:>{}}\n", "", first, last, kColumns - first.size());
}

std::string busbw_svg(std::span<const BenchRun> runs) {
  if (runs.empty()) return {};
  const BenchRun& first = runs.front();
  const auto varies = [&](auto part) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const BenchRun& run) { return part(run) != part(first); });
  };
  const bool types = varies([](const BenchRun& run) { return std::string(run.type.name); });
  const bool reductions = varies([](const BenchRun& run) { return run.reduction; });
  const bool roots = varies([](const BenchRun& run) { return run.root; });
  const bool engines = varies([](const BenchRun& run) { return run.engine; });
  std::vector<Curve> curves;
  for (const BenchRun& run : runs) {
    Curve curve{name_of(run.collective), {}, false};
    if (types) curve.label += fmt::format(" {}", run.type.name);
    if (reductions) curve.label += " " + run.reduction;
    if (roots) curve.label += fmt::format(" root {}", run.root);
    if (engines) curve.label += ", " + run.engine;
    for (const auto* row : drawable(run))
      curve.points.emplace_back(row->size.bytes, row->busbw_GBs);
    curves.push_back(std::move(curve));
  }
  const std::string engine = engines ? "" : fmt::format(" ({})", first.engine);
  return chart_svg(
      {fmt::format("Bus bandwidth, {}", first.machine),
       fmt::format("{} ranks, NCCL {}, simulated{}", first.ranks, first.nccl_version, engine),
       "GB/s"},
      curves);
}

}  // namespace isleway::report
