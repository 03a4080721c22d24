// Bytes of a file as text: UTF-8, whatever a shell wrote.
#pragma once

#include <string>
#include <string_view>

#include "isleway/core/error.hpp"

namespace isleway::formats {

/// The content as valid UTF-8: UTF-16 (PowerShell's redirections) is converted, single NUL
/// bytes (logs after a crash) are dropped, bytes that are no UTF-8 become '?'. Error: no text.
Result<std::string> to_text(std::string_view content, const std::string& file);

}  // namespace isleway::formats
