// Copies of boxes of bytes between any two places, put into streams.
#pragma once

#include "virtual/cudart/abi.hpp"

namespace isleway::vgpu::cudart {

/// A side of a copy: rows `pitch` bytes apart, in slices `slice` bytes apart.
struct Side {
  std::byte* first = nullptr;
  std::size_t pitch = 0, slice = 0;
};

/// A box of bytes; one row for plain copies.
struct Box {
  Side to, from;
  std::size_t width = 0, height = 1, depth = 1;

  static Box row(void* to, const void* from, std::size_t bytes);
  static Box rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                  std::size_t width, std::size_t height);
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
  std::size_t bytes() const { return width * height * depth; }
};

/// The work of one copy. Error: there is no way between the two.
Result<Work> copy_work(Process& process, const Box& box);

/// Puts the copy into the stream, and waits for it where it is not `asynchronous`. A Status.
int copy(Process& process, Stream& stream, const Box& box, CopyKind kind, bool asynchronous);

}  // namespace isleway::vgpu::cudart
