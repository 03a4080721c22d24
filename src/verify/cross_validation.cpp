#include "isleway/verify/cross_validation.hpp"

#include <set>

namespace isleway::verify {

std::vector<LeftOut> cross_validate(
    Calibration& calibration, const std::function<std::string(const MeasuredTable&)>& group_of) {
  std::set<std::string> groups;
  for (const MeasuredTable* table : calibration.tables())
    if (calibrates(*table)) groups.insert(group_of(*table));
  std::vector<LeftOut> all;
  for (const std::string& group : groups) {
    const auto is_left_out = [&](const MeasuredTable& table) {
      return calibrates(table) && group_of(table) == group;
    };
    const Factors factors = calibration.improve({}, [&](const MeasuredTable& table) {
      return calibrates(table) && group_of(table) != group;
    });
    all.push_back(
        {group, calibration.compare({}, is_left_out), calibration.compare(factors, is_left_out)});
  }
  return all;
}

}  // namespace isleway::verify
