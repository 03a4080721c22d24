// Whole files in and out.
#pragma once

#include <filesystem>
#include <string>

#include "isleway/core/error.hpp"

namespace isleway {

/// The file's bytes, or why not. "-" reads standard input. Refuses more than `limit`
/// bytes, since an input that large is a mistake rather than a topology.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t limit = std::size_t{256} << 20);

/// Writes through a temporary file beside the target and renames it, so that a failure
/// leaves the old file as it was and never a partial one.
Result<void> write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace isleway
