// Port counters have one name each, in the spelling of sysfs.
#pragma once

#include <string>
#include <string_view>

namespace isleway::formats {

/// "ib.symbol_error" for perfquery's "SymbolErrorCounter" and for sysfs's "symbol_error".
std::string counter_signal(std::string_view printed);

}  // namespace isleway::formats
