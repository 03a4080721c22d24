// Sets of CPUs or NUMA nodes as tools list them.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace isleway::check {

/// Ranges, by their start.
using CpuList = std::vector<std::pair<int, int>>;

/// "0-55,112-167". Nothing when it is no such list.
std::optional<CpuList> parse_cpu_list(std::string_view text);
bool overlap(const CpuList& a, const CpuList& b);
int size_of(const CpuList& list);

}  // namespace isleway::check
