// The driver's memory: taken, given back, copied, set, asked about.
#include "virtual/cuda/exports/driver.hpp"
#include "virtual/cudart/copy_rows.hpp"
#include "virtual/cudart/exports/api.hpp"
#include "virtual/cudart/fill.hpp"
#include "virtual/device/per_thread.hpp"

using namespace isleway::vgpu;
using namespace isleway::vgpu::driver;

namespace {

constexpr int kAnyDirection = 4;  // cudaMemcpyDefault: found out by the addresses

int copy(void* to, const void* from, std::size_t bytes) {
  return from_runtime(cudaMemcpy(to, from, bytes, kAnyDirection));
}
int copy(void* to, const void* from, std::size_t bytes, void* stream) {
  return from_runtime(cudaMemcpyAsync(to, from, bytes, kAnyDirection, stream));
}

/// Fills with words of `width` bytes, in the order of the stream.
int fill(void* to, std::uint32_t value, unsigned width, std::size_t words, void* handle,
         bool waits) {
  return with_device([&](Process& process, int) -> int {
    Stream* stream = cudart::stream_of(process, handle);
    if (stream == nullptr) return invalid_resource_handle;
    const std::size_t bytes = words * width;
    if (bytes / width != words) return invalid_value;
    return from_runtime(
        cudart::set(process, *stream, cudart::Fill::row(to, value, width, bytes), !waits));
  });
}
int fill_rows(void* to, std::size_t pitch, std::uint32_t value, unsigned width, std::size_t words,
              std::size_t rows, void* handle, bool waits) {
  return with_device([&](Process& process, int) -> int {
    Stream* stream = cudart::stream_of(process, handle);
    if (stream == nullptr) return invalid_resource_handle;
    if (words > pitch / width && rows > 1) return invalid_value;
    const cudart::Fill box{static_cast<std::byte*>(to), pitch, value, width, words * width, rows};
    return from_runtime(cudart::set(process, *stream, box, !waits));
  });
}

/// CUpointer_attribute.
enum Attribute : int {
  kContext = 1,
  kMemoryType = 2,
  kDevicePointer = 3,
  kHostPointer = 4,
  kSyncMemops = 6,
  kBufferId = 7,
  kIsManaged = 8,
  kDeviceOrdinal = 9,
  kIsIpcCapable = 10,
  kRangeStart = 11,
  kRangeSize = 12,
  kMapped = 13,
  kHandleTypes = 14,
  kIsRdmaCapable = 15,
  kAccessFlags = 16,
};
enum MemoryType : unsigned { kHost = 1, kDevice = 2 };

template <class T>
int put(void* out, T value) {
  *static_cast<T*>(out) = value;
  return success;
}

/// That memory which was made in steps may be handed on as.
std::uint64_t handle_types(Process& process, const Block& block) {
  const auto* item = process.mapped().find(process.mapped().handle_at(block.base));
  return item == nullptr ? 0 : item->kinds;
}

int pointer_attribute(void* out, int attribute, CUdeviceptr pointer) {
  Process& process = Process::get();
  if (!process) return initialization_error;
  const auto held = process.hold();
  const Block* block = process.memory().find(address(pointer));
  if (out == nullptr || block == nullptr) return invalid_value;
  const int device = block->on_host() ? 0 : process.device_of(block->gpu);
  switch (attribute) {
    case kContext: return put(out, context_of(device));
    case kMemoryType: return put<unsigned>(out, block->on_host() ? kHost : kDevice);
    case kDevicePointer: return put(out, pointer);
    case kHostPointer: return block->on_gpu() ? invalid_value : put(out, address(pointer));
    case kSyncMemops: return put(out, 0);
    case kBufferId: return put(out, reinterpret_cast<unsigned long long>(block->base));
    case kIsManaged: return put<unsigned char>(out, block->space == Space::managed ? 1 : 0);
    case kDeviceOrdinal: return put(out, device);
    case kRangeStart: return put(out, reinterpret_cast<CUdeviceptr>(block->base));
    case kRangeSize: return put<std::size_t>(out, block->bytes);
    case kMapped: return put<unsigned char>(out, 1);
    case kIsIpcCapable: return put<unsigned char>(out, block->space == Space::device ? 1 : 0);
    case kHandleTypes: return put<std::uint64_t>(out, handle_types(process, *block));
    case kIsRdmaCapable: return put<unsigned char>(out, block->on_gpu() ? 1 : 0);
    case kAccessFlags: {
      constexpr int reads_and_writes = 3;
      return put(out, process.mapped().access(block->base, device).value_or(reads_and_writes));
    }
    default: return refuse("cuPointerGetAttribute, this attribute");
  }
}

int address_range(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr pointer) {
  Process& process = Process::get();
  if (!process) return initialization_error;
  const auto held = process.hold();
  const Block* block = process.memory().find(address(pointer));
  if (block == nullptr) return symbol_not_found;
  if (base != nullptr) *base = reinterpret_cast<CUdeviceptr>(block->base);
  if (bytes != nullptr) *bytes = block->bytes;
  return success;
}

}  // namespace

CUDA_API cuMemAlloc_v2(CUdeviceptr* out, std::size_t bytes) {
  if (bytes == 0) return invalid_value;
  return give_address(out, [&](void** memory) { return cudaMalloc(memory, bytes); });
}
CUDA_API cuMemAllocPitch_v2(CUdeviceptr* out, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned) {
  return give_address(out, [&](void** m) { return cudaMallocPitch(m, pitch, width, height); });
}
CUDA_API cuMemAllocManaged(CUdeviceptr* out, std::size_t bytes, unsigned flags) {
  return give_address(out, [&](void** m) { return cudaMallocManaged(m, bytes, flags); });
}
CUDA_API cuMemAllocAsync(CUdeviceptr* out, std::size_t bytes, void* stream) {
  return give_address(out, [&](void** m) { return cudaMallocAsync(m, bytes, stream); });
}
CUDA_API cuMemFree_v2(CUdeviceptr pointer) { return from_runtime(cudaFree(address(pointer))); }
CUDA_API cuMemFreeAsync(CUdeviceptr pointer, void* stream) {
  return from_runtime(cudaFreeAsync(address(pointer), stream));
}
CUDA_API cuMemAllocHost_v2(void** out, std::size_t bytes) {
  return from_runtime(cudaHostAlloc(out, bytes, 0));
}
CUDA_API cuMemHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  return from_runtime(cudaHostAlloc(out, bytes, flags));
}
CUDA_API cuMemFreeHost(void* memory) { return from_runtime(cudaFreeHost(memory)); }
CUDA_API cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned flags) {
  return from_runtime(cudaHostRegister(memory, bytes, flags));
}
CUDA_API cuMemHostUnregister(void* memory) { return from_runtime(cudaHostUnregister(memory)); }
CUDA_API cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* memory, unsigned flags) {
  return give_address(out, [&](void** m) { return cudaHostGetDevicePointer(m, memory, flags); });
}
CUDA_API cuMemHostGetFlags(unsigned* out, void* memory) {
  return from_runtime(cudaHostGetFlags(out, memory));
}
CUDA_API cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return from_runtime(cudaMemGetInfo(free, total));
}
CUDA_API cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr pointer) {
  return address_range(base, bytes, pointer);
}
CUDA_API cuPointerGetAttribute(void* out, int attribute, CUdeviceptr pointer) {
  return pointer_attribute(out, attribute, pointer);
}
CUDA_API cuPointerGetAttributes(unsigned count, int* attributes, void** out, CUdeviceptr pointer) {
  if (attributes == nullptr || out == nullptr) return invalid_value;
  for (unsigned i = 0; i < count; ++i)
    if (const int status = pointer_attribute(out[i], attributes[i], pointer); status != success)
      return status;
  return success;
}

// --- Copies --------------------------------------------------------------------------

CUDA_API cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(address(to), address(from), bytes);
}
CUDA_API cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, void* stream) {
  return copy(address(to), address(from), bytes, stream);
}
CUDA_API cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy(address(to), from, bytes);
}
CUDA_API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, void* stream) {
  return copy(address(to), from, bytes, stream);
}
CUDA_API cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy(to, address(from), bytes);
}
CUDA_API cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, void* stream) {
  return copy(to, address(from), bytes, stream);
}
CUDA_API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(address(to), address(from), bytes);
}
CUDA_API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, void* stream) {
  return copy(address(to), address(from), bytes, stream);
}
CUDA_API cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t bytes) {
  return from_runtime(cudaMemcpyPeer(address(to), device_of(to_context), address(from),
                                     device_of(from_context), bytes));
}
CUDA_API cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t bytes, void* stream) {
  return from_runtime(cudaMemcpyPeerAsync(address(to), device_of(to_context), address(from),
                                          device_of(from_context), bytes, stream));
}
CUDA_API cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill(address(to), value, 1, count, nullptr, true);
}
CUDA_API cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill(address(to), value, 2, count, nullptr, true);
}
CUDA_API cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill(address(to), value, 4, count, nullptr, true);
}
CUDA_API cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, void* stream) {
  return fill(address(to), value, 1, count, stream, false);
}
CUDA_API cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, void* stream) {
  return fill(address(to), value, 2, count, stream, false);
}
CUDA_API cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, void* stream) {
  return fill(address(to), value, 4, count, stream, false);
}
CUDA_API cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                         std::size_t height) {
  return fill_rows(address(to), pitch, value, 1, width, height, nullptr, true);
}
CUDA_API cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value,
                          std::size_t width, std::size_t height) {
  return fill_rows(address(to), pitch, value, 2, width, height, nullptr, true);
}
CUDA_API cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                          std::size_t height) {
  return fill_rows(address(to), pitch, value, 4, width, height, nullptr, true);
}
CUDA_API cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, void* stream) {
  return fill_rows(address(to), pitch, value, 1, width, height, stream, false);
}
CUDA_API cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, void* stream) {
  return fill_rows(address(to), pitch, value, 2, width, height, stream, false);
}
CUDA_API cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, void* stream) {
  return fill_rows(address(to), pitch, value, 4, width, height, stream, false);
}

ISLEWAY_PER_THREAD(cuMemcpy, _ptds);
ISLEWAY_PER_THREAD(cuMemcpyAsync, _ptsz);
ISLEWAY_PER_THREAD(cuMemcpyHtoD_v2, _ptds);
ISLEWAY_PER_THREAD(cuMemcpyHtoDAsync_v2, _ptsz);
ISLEWAY_PER_THREAD(cuMemcpyDtoH_v2, _ptds);
ISLEWAY_PER_THREAD(cuMemcpyDtoHAsync_v2, _ptsz);
ISLEWAY_PER_THREAD(cuMemcpyDtoD_v2, _ptds);
ISLEWAY_PER_THREAD(cuMemcpyDtoDAsync_v2, _ptsz);
ISLEWAY_PER_THREAD(cuMemcpyPeer, _ptds);
ISLEWAY_PER_THREAD(cuMemcpyPeerAsync, _ptsz);
ISLEWAY_PER_THREAD(cuMemAllocAsync, _ptsz);
ISLEWAY_PER_THREAD(cuMemFreeAsync, _ptsz);
ISLEWAY_PER_THREAD(cuMemsetD8_v2, _ptds);
ISLEWAY_PER_THREAD(cuMemsetD8Async, _ptsz);
ISLEWAY_PER_THREAD(cuMemsetD16_v2, _ptds);
ISLEWAY_PER_THREAD(cuMemsetD16Async, _ptsz);
ISLEWAY_PER_THREAD(cuMemsetD32_v2, _ptds);
ISLEWAY_PER_THREAD(cuMemsetD32Async, _ptsz);
ISLEWAY_PER_THREAD(cuMemsetD2D8_v2, _ptds);
ISLEWAY_PER_THREAD(cuMemsetD2D8Async, _ptsz);
ISLEWAY_PER_THREAD(cuMemsetD2D16_v2, _ptds);
ISLEWAY_PER_THREAD(cuMemsetD2D16Async, _ptsz);
ISLEWAY_PER_THREAD(cuMemsetD2D32_v2, _ptds);
ISLEWAY_PER_THREAD(cuMemsetD2D32Async, _ptsz);
