// The files that operators hand over: alone, in directories, in archives.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "isleway/core/error.hpp"

namespace isleway::formats {

struct GatheredFile {
  std::string name;     ///< for locations: the path, and behind an archive's the path in it
  std::string content;  ///< unpacked
};

/// All files below `inputs`, in the order given and then of their names. What is too large,
/// no text, or cannot be read inside a directory or archive becomes a notice. Error: an input
/// itself cannot be opened.
Result<std::vector<GatheredFile>> gather(const std::vector<std::filesystem::path>& inputs,
                                         Notices& notices);

/// True for bytes that an archive or a compressor made.
bool is_archive(std::string_view content);

/// Calls `take` with each file of an archive, or with the one that was compressed; archives
/// in it are opened as well. Damage becomes a notice at `name`.
void unpack(const std::string& name, std::string_view content,
            const std::function<void(GatheredFile)>& take, Notices& notices);

}  // namespace isleway::formats
