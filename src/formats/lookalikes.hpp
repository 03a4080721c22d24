// Texts that people hand over in place of a topology, and what to say to them.
#pragma once

#include <string_view>

namespace isleway::formats {

struct Lookalike {
  const char* what;  ///< "is the output of `nvidia-smi`", to stand after the file's name
  const char* hint;  ///< what to run instead
};

/// What `text` looks like, or null. For texts that no reader recognises.
const Lookalike* find_lookalike(std::string_view text);

/// What bytes that are no text look like, or null when `data` is text.
const Lookalike* find_binary(std::string_view data);

}  // namespace isleway::formats
