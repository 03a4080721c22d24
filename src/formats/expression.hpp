// "dgx-h100*16+topo.xml*2": machines by name or by file, and how many of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::formats {

struct MachineTerm {
  std::string name;
  std::uint32_t count = 1;
  bool is_file = false;
};

/// Names that exist as files are files (and "-"), so a path may hold '+' and '*' too.
/// Error: a count that is no number from 1 to 1,000,000; an empty name.
Result<std::vector<MachineTerm>> parse_expression(std::string_view text);

}  // namespace isleway::formats
