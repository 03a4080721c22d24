#include <fmt/format.h>

#include "isleway/core.hpp"
#include "report/accuracy_rows.hpp"
#include "report/chart.hpp"

namespace isleway::report {
namespace {

/// Tables of fewer rows make no curve.
constexpr std::size_t kLeastRows = 3;

/// "H100 + network", "all_reduce" -> "h100-network-all-reduce.svg".
std::string file_name(const verify::Group& group) {
  std::string name;
  for (const char c : to_lower(group.keys[0] + " " + group.keys[1])) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain) name += c;
    else if (!name.empty() && name.back() != '-') name += '-';
  }
  return name + ".svg";
}

std::vector<Curve> curves_of(const verify::Group& group) {
  std::vector<Curve> curves;
  for (const verify::ComparedTable* compared : group.tables) {
    if (compared->rows.size() < kLeastRows) continue;
    const verify::MeasuredTable& table = *compared->table;
    const int colour = static_cast<int>(curves.size() / 2);
    Curve measured{fmt::format("{} GPUs, {}", table.ranks, table.site), {}, false, colour};
    Curve predicted{"simulated", {}, true, colour};
    for (const verify::ComparedRow& row : compared->rows) {
      measured.points.emplace_back(row.bytes, busbw(table, row.bytes, row.measured));
      predicted.points.emplace_back(row.bytes, busbw(table, row.bytes, row.predicted));
    }
    curves.push_back(std::move(measured));
    curves.push_back(std::move(predicted));
  }
  return curves;
}

}  // namespace

std::vector<Picture> accuracy_pictures(std::span<const verify::ComparedTable> tables) {
  std::vector<Picture> pictures;
  for (const verify::Group& group : by_platform_and_collective(tables)) {
    const std::vector<Curve> curves = curves_of(group);
    const std::string title = group.keys[0] + ", " + group.keys[1];
    std::string svg =
        chart_svg({title, "bus bandwidth: measured (full) and simulated (dashed)", "GB/s"}, curves);
    if (!svg.empty()) pictures.push_back({file_name(group), title, std::move(svg)});
  }
  return pictures;
}

}  // namespace isleway::report
