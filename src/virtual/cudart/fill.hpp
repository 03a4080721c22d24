// Memory that is set to one value, repeated.
#pragma once

#include "virtual/cudart/abi.hpp"

namespace isleway::vgpu::cudart {

/// Rows `pitch` bytes apart. `element` bytes of `value` are repeated: 1, 2 or 4.
struct Fill {
  std::byte* to = nullptr;
  std::size_t pitch = 0;
  std::uint32_t value = 0;
  unsigned element = 1;
  std::size_t width = 0;  ///< of a row, in bytes
  std::size_t height = 1;

  static Fill row(void* to, std::uint32_t value, unsigned element, std::size_t bytes) {
    return {static_cast<std::byte*>(to), bytes, value, element, bytes, 1};
  }
};

/// A Status: whether all of it is memory that a GPU can set.
int check(Process& process, const Fill& fill);
Work fill_work(Process& process, int device, const Fill& fill);

/// Puts it into the stream. A Status.
int set(Process& process, Stream& stream, const Fill& fill, bool asynchronous);

}  // namespace isleway::vgpu::cudart
