#include "isleway/verify/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace isleway::verify {
namespace {

/// The smallest value that `share` of the values do not exceed; `values` are sorted.
double quantile(const std::vector<double>& values, double share) {
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return values[std::min(rank, values.size() - 1)];
}

}  // namespace

Spread spread(std::span<const ComparedTable* const> tables, std::int64_t least) {
  std::vector<double> errors;
  for (const ComparedTable* table : tables)
    for (const ComparedRow& row : table->rows)
      if (row.bytes >= least) errors.push_back(std::abs(row.error()));
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  return {errors.size(), quantile(errors, 0.5), quantile(errors, 0.9)};
}

std::vector<Group> group_by(
    std::span<const ComparedTable> tables,
    const std::function<std::vector<std::string>(const MeasuredTable&)>& keys) {
  std::map<std::vector<std::string>, Group> groups;
  for (const ComparedTable& table : tables) {
    if (table.rows.empty()) continue;
    const auto key = keys(*table.table);
    Group& group = groups[key];
    group.keys = key;
    group.tables.push_back(&table);
  }
  std::vector<Group> sorted;
  for (auto& [key, group] : groups) sorted.push_back(std::move(group));
  return sorted;
}

std::vector<const ComparedTable*> worst_first(std::span<const ComparedTable> tables) {
  std::vector<std::pair<double, const ComparedTable*>> by_median;
  for (const ComparedTable& table : tables) {
    const ComparedTable* const one[] = {&table};
    if (!table.rows.empty()) by_median.emplace_back(spread(one).median, &table);
  }
  std::stable_sort(by_median.begin(), by_median.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const ComparedTable*> worst;
  for (const auto& [median, table] : by_median) worst.push_back(table);
  return worst;
}

}  // namespace isleway::verify
