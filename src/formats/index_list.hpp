// Lists of numbers and names as users type them.
#pragma once

#include <string_view>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::formats {

/// "0,1,4" or "0-3,6": indices without repetition, in the order given. Error: what is no
/// index, or more than 4096 of them. `option` names the option for messages.
Result<std::vector<int>> parse_indices(std::string_view text, std::string_view option);

}  // namespace isleway::formats
