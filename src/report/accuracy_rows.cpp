#include "report/accuracy_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isleway::report {
namespace {

std::string percent(double share) { return fmt::format("{:.0f}", 100 * share); }

}  // namespace

std::vector<verify::Group> by_platform_and_collective(
    std::span<const verify::ComparedTable> tables) {
  return verify::group_by(tables, [](const verify::MeasuredTable& table) {
    return std::vector<std::string>{table.platform, name_of(table.collective)};
  });
}

verify::Group all_tables(std::span<const verify::ComparedTable> tables) {
  verify::Group all;
  for (const verify::ComparedTable& table : tables)
    if (!table.rows.empty()) all.tables.push_back(&table);
  return all;
}

verify::Group known_releases(std::span<const verify::ComparedTable> tables) {
  verify::Group known = all_tables(tables);
  std::erase_if(known.tables, [](const verify::ComparedTable* table) {
    return !verify::is_known_release(*table->table);
  });
  return known;
}

std::vector<std::string> figures(const verify::Group& group) {
  const verify::Spread large = spread(group.tables, verify::kLarge), all = spread(group.tables);
  const auto text = [](const verify::Spread& s, double value) {
    return s.rows == 0 ? std::string() : percent(value);
  };
  return {std::to_string(group.tables.size()),
          std::to_string(all.rows),
          text(large, large.median),
          text(large, large.p90),
          text(all, all.median),
          text(all, all.p90)};
}

double busbw(const verify::MeasuredTable& table, std::int64_t bytes, Time time) {
  return rate_of(Bytes(bytes), time).GBs() * bus_factor(table.collective, table.ranks);
}

std::string median_error(const verify::ComparedTable& table) {
  const verify::ComparedTable* const one[] = {&table};
  return percent(spread(one).median) + "%";
}

std::string bias(const verify::ComparedTable& table) {
  std::vector<double> errors;
  for (const verify::ComparedRow& row : table.rows) errors.push_back(row.error());
  std::sort(errors.begin(), errors.end());
  return errors.empty() ? std::string() : fmt::format("{:+.0f}%", 100 * errors[errors.size() / 2]);
}

}  // namespace isleway::report
