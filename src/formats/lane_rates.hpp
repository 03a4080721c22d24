// InfiniBand's generations by name, and what one of their lanes carries.
#pragma once

#include <optional>
#include <string_view>

namespace isleway::formats {

/// Gbit/s on the wire, as iblinkinfo prints them ("NDR": 106.25); nothing for another name.
std::optional<double> signal_lane_rate(std::string_view generation);

/// Gbit/s of data, as ibstat counts them ("NDR": 100).
std::optional<double> nominal_lane_rate(std::string_view generation);

}  // namespace isleway::formats
