// How programs describe boxes of memory.
#pragma once

#include "virtual/cudart/copy_rows.hpp"

extern "C" int cudaMallocPitch(void** address, std::size_t* pitch, std::size_t width,
                               std::size_t height);

namespace isleway::vgpu::cudart {

struct Extent {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct PitchedPointer {
  void* address;
  std::size_t pitch, width, height;
};
/// cudaMemcpy3DParms.
struct Copy3D {
  void* from_array;
  Position from_position;
  PitchedPointer from;
  void* to_array;
  Position to_position;
  PitchedPointer to;
  Extent extent;
  int kind;
};
/// cudaMemcpy3DPeerParms.
struct PeerCopy3D {
  void* from_array;
  Position from_position;
  PitchedPointer from;
  int from_device;
  void* to_array;
  Position to_position;
  PitchedPointer to;
  int to_device;
  Extent extent;
};

inline Side side_of(const PitchedPointer& pointer, const Position& at) {
  const std::size_t slice = pointer.pitch * pointer.height;
  return {static_cast<std::byte*>(pointer.address) + at.z * slice + at.y * pointer.pitch + at.x,
          pointer.pitch, slice};
}
/// Error: arrays, which have no memory here.
template <class Copy>
Result<Box> box_of(const Copy& copy) {
  if (copy.from_array != nullptr || copy.to_array != nullptr) return fail("arrays are not there");
  return Box{side_of(copy.to, copy.to_position), side_of(copy.from, copy.from_position),
             copy.extent.width, copy.extent.height, copy.extent.depth};
}

}  // namespace isleway::vgpu::cudart
