#include "check/cpu_list.hpp"

#include <algorithm>

#include "isleway/core.hpp"

namespace isleway::check {
namespace {
constexpr std::int64_t kMost = 1 << 20;
}

std::optional<CpuList> parse_cpu_list(std::string_view text) {
  CpuList list;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view range = trim(part);
    const auto dash = range.find('-');
    const auto first = parse_int(range.substr(0, dash));
    const auto last = dash == range.npos ? first : parse_int(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > kMost) return {};
    list.emplace_back(static_cast<int>(*first), static_cast<int>(*last));
  }
  std::sort(list.begin(), list.end());
  return list;
}

bool overlap(const CpuList& a, const CpuList& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& x) {
    return std::any_of(b.begin(), b.end(),
                       [&](const auto& y) { return x.first <= y.second && y.first <= x.second; });
  });
}

int size_of(const CpuList& list) {
  int size = 0;
  for (const auto& [first, last] : list) size += last - first + 1;
  return size;
}

}  // namespace isleway::check
