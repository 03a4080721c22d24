// Small helpers on text that every reader needs. No allocation unless a copy is returned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isleway {

/// Without white space at both ends (space, tab, CR, LF, VT, FF).
std::string_view trim(std::string_view text);

/// Pieces between runs of white space; never empty pieces.
std::vector<std::string_view> split_words(std::string_view text);

/// Pieces between single separators; keeps empty pieces.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Lines without their line ends (LF, CRLF or lone CR). The last line may lack its end.
std::vector<std::string_view> split_lines(std::string_view text);

/// A copy without terminal escape sequences (ESC [ ... letter, also when ESC was lost on
/// the way through a web page), other control characters, and a UTF-8 byte order mark.
std::string strip_terminal_codes(std::string_view text);

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);
bool equal_ignoring_case(std::string_view a, std::string_view b);
std::string to_lower(std::string_view text);

/// The whole text as a number, or nothing. No locale, no partial reads.
std::optional<std::int64_t> parse_int(std::string_view text, int base = 10);
std::optional<double> parse_double(std::string_view text);

/// The candidate that `text` most likely meant (edit distance of at most a third of its
/// length), or empty. For "did you mean".
std::string closest(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace isleway
