// Memory in three dimensions.
#include "virtual/cudart/exports/boxes.hpp"

#include <cstdint>

#include "virtual/cudart/copy_rows.hpp"
#include "virtual/cudart/exports/api.hpp"
#include "virtual/cudart/fill.hpp"
#include "virtual/device/per_thread.hpp"

using namespace isleway;
using namespace isleway::vgpu;
using namespace isleway::vgpu::cudart;

namespace {

int copy_box(const char* function, const Result<Box>& box, int kind, void* stream,
             bool asynchronous) {
  if (!box) return remember(function, not_supported);
  return with_stream(function, stream, [&](Process& process, Stream& on) {
    return copy(process, on, *box, static_cast<CopyKind>(kind), asynchronous);
  });
}

int set_box(const char* function, const PitchedPointer& to, int value, const Extent& extent,
            void* stream, bool asynchronous) {
  if (extent.width > to.pitch) return remember(function, invalid_value);
  return with_stream(function, stream, [&](Process& process, Stream& on) -> int {
    for (std::size_t z = 0; z < extent.depth; ++z) {
      const Fill slice{static_cast<std::byte*>(to.address) + z * to.pitch * to.height,
                       to.pitch,
                       static_cast<std::uint32_t>(value),
                       1,
                       extent.width,
                       extent.height};
      if (const int status = set(process, on, slice, asynchronous); status != success)
        return status;
    }
    return success;
  });
}

}  // namespace

ISLEWAY_API int cudaMalloc3D(PitchedPointer* out, Extent extent) {
  if (out == nullptr) return remember(__func__, invalid_value);
  if (extent.depth != 0 && extent.height > SIZE_MAX / extent.depth)
    return remember(__func__, out_of_memory);
  void* address = nullptr;
  std::size_t pitch = 0;
  const int status = cudaMallocPitch(&address, &pitch, extent.width, extent.height * extent.depth);
  *out = {address, pitch, extent.width, extent.height};
  return status;
}
ISLEWAY_API int cudaMemset3D(PitchedPointer to, int value, Extent extent) {
  return set_box(__func__, to, value, extent, nullptr, false);
}
ISLEWAY_API int cudaMemset3DAsync(PitchedPointer to, int value, Extent extent, void* stream) {
  return set_box(__func__, to, value, extent, stream, true);
}
ISLEWAY_API int cudaMemcpy3D(const Copy3D* copy) {
  if (copy == nullptr) return remember(__func__, invalid_value);
  return copy_box(__func__, box_of(*copy), copy->kind, nullptr, false);
}
ISLEWAY_API int cudaMemcpy3DAsync(const Copy3D* copy, void* stream) {
  if (copy == nullptr) return remember(__func__, invalid_value);
  return copy_box(__func__, box_of(*copy), copy->kind, stream, true);
}
ISLEWAY_API int cudaMemcpy3DPeer(const PeerCopy3D* copy) {
  if (copy == nullptr) return remember(__func__, invalid_value);
  return copy_box(__func__, box_of(*copy), static_cast<int>(CopyKind::any), nullptr, false);
}
ISLEWAY_API int cudaMemcpy3DPeerAsync(const PeerCopy3D* copy, void* stream) {
  if (copy == nullptr) return remember(__func__, invalid_value);
  return copy_box(__func__, box_of(*copy), static_cast<int>(CopyKind::any), stream, true);
}

ISLEWAY_PER_THREAD(cudaMemset3D, _ptds);
ISLEWAY_PER_THREAD(cudaMemset3DAsync, _ptsz);
ISLEWAY_PER_THREAD(cudaMemcpy3D, _ptds);
ISLEWAY_PER_THREAD(cudaMemcpy3DAsync, _ptsz);
ISLEWAY_PER_THREAD(cudaMemcpy3DPeer, _ptds);
ISLEWAY_PER_THREAD(cudaMemcpy3DPeerAsync, _ptsz);
