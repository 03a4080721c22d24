// Errors of many rows in a few figures.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "isleway/verify/accuracy.hpp"

namespace isleway::verify {

/// Of |predicted - measured| / measured.
struct Spread {
  std::size_t rows = 0;
  double median = 0;
  double p90 = 0;  ///< what nine rows in ten stay within
};

/// Sizes from which bandwidth rather than latency decides.
inline constexpr std::int64_t kLarge = std::int64_t{16} << 20;

/// Over the rows of at least `least` bytes.
Spread spread(std::span<const ComparedTable* const> tables, std::int64_t least = 0);

/// Tables with rows that belong together, such as those of one platform and collective.
struct Group {
  std::vector<std::string> keys;
  std::vector<const ComparedTable*> tables;
};

/// Groups by what `keys` says of a table, in order of the keys. Tables without rows are left
/// out.
std::vector<Group> group_by(
    std::span<const ComparedTable> tables,
    const std::function<std::vector<std::string>(const MeasuredTable&)>& keys);

/// The tables with rows, the one with the largest median error first.
std::vector<const ComparedTable*> worst_first(std::span<const ComparedTable> tables);

}  // namespace isleway::verify
