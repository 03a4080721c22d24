// The driver's memory: taken, given back, copied, set, asked about.
#include "virtual/cuda/exports/driver.hpp"
#include "virtual/device/process.hpp"

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

/// Fills with words of `width` bytes. The runtime sets bytes, which is all that words of equal
/// bytes need; others are not to be had.
int fill(void* to, std::uint32_t value, int width, std::size_t words, void* stream, bool waits) {
  for (int i = 1; i < width; ++i)
    if ((value >> (8 * i) & 0xff) != (value & 0xff)) return refuse("cuMemset with unequal bytes");
  const auto byte = static_cast<int>(value & 0xff);
  const std::size_t bytes = words * static_cast<std::size_t>(width);
  return from_runtime(waits ? cudaMemset(to, byte, bytes)
                            : cudaMemsetAsync(to, byte, bytes, stream));
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
  kRangeStart = 11,
  kRangeSize = 12,
  kMapped = 13,
};
enum MemoryType : unsigned { kHost = 1, kDevice = 2 };

template <class T>
int put(void* out, T value) {
  *static_cast<T*>(out) = value;
  return success;
}

int pointer_attribute(void* out, int attribute, CUdeviceptr pointer) {
  Process& process = Process::get();
  if (!process) return not_initialized;
  const auto held = process.hold();
  const Block* block = process.memory().find(address(pointer));
  if (out == nullptr || block == nullptr) return invalid_value;
  const int device = block->on_host() ? 0 : process.device_of(block->gpu);
  switch (attribute) {
    case kContext: return put(out, context_of(device));
    case kMemoryType: return put<unsigned>(out, block->on_host() ? kHost : kDevice);
    case kDevicePointer: return put(out, pointer);
    case kHostPointer:
      return block->space == Space::device ? invalid_value : put(out, address(pointer));
    case kSyncMemops: return put(out, 0);
    case kBufferId: return put(out, reinterpret_cast<unsigned long long>(block->base));
    case kIsManaged: return put<unsigned char>(out, block->space == Space::managed ? 1 : 0);
    case kDeviceOrdinal: return put(out, device);
    case kRangeStart: return put(out, reinterpret_cast<CUdeviceptr>(block->base));
    case kRangeSize: return put<std::size_t>(out, block->bytes);
    case kMapped: return put<unsigned char>(out, 1);
    default: return refuse("cuPointerGetAttribute, this attribute");
  }
}

int address_range(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr pointer) {
  Process& process = Process::get();
  if (!process) return not_initialized;
  const auto held = process.hold();
  const Block* block = process.memory().find(address(pointer));
  if (block == nullptr) return not_found;
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
  return from_runtime(cudaMemset2D(address(to), pitch, value, width, height));
}
CUDA_API cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, void* stream) {
  return from_runtime(cudaMemset2DAsync(address(to), pitch, value, width, height, stream));
}
