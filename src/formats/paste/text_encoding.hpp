// Bytes of a file as text: UTF-8, whatever a shell wrote.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "isleway/core/error.hpp"

namespace isleway::formats {

/// The content as valid UTF-8: UTF-16 (PowerShell's redirections) is converted, single NUL
/// bytes (logs after a crash) are dropped, bytes that are no UTF-8 become '?'. Error: no text.
Result<std::string> to_text(std::string_view content, const std::string& file);

/// What a JSON string or a program's literal holds ("a\tb\nc"), as it was printed; nothing
/// where `text` has few such line ends.
std::optional<std::string> without_escapes(std::string_view text);

/// At most so many bytes from the start, and no part of a character at the end.
std::string_view start_of(std::string_view text, std::size_t most);

}  // namespace isleway::formats
