// The figures of accuracy reports, as texts for their columns.
#pragma once

#include <string>

#include "isleway/report/accuracy.hpp"

namespace isleway::report {

/// Groups by kind of machine and collective.
std::vector<verify::Group> by_platform_and_collective(
    std::span<const verify::ComparedTable> tables);

/// Every table that has rows, as one group.
verify::Group all_tables(std::span<const verify::ComparedTable> tables);

/// Those of releases of NCCL whose choices the model knows.
verify::Group known_releases(std::span<const verify::ComparedTable> tables);

/// Tables, rows, then median and p90 in percent for large sizes and for all; "" where there
/// are no rows.
std::vector<std::string> figures(const verify::Group& group);

/// In GB/s, of a row of the table that took `time`.
double busbw(const verify::MeasuredTable& table, std::int64_t bytes, Time time);

/// The median of a table's errors, "12%", and of its signed errors, "-12%".
std::string median_error(const verify::ComparedTable& table);
std::string bias(const verify::ComparedTable& table);

}  // namespace isleway::report
