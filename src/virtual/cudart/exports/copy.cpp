// Copies and fills.
#include "virtual/cudart/copy_rows.hpp"
#include "virtual/cudart/exports/api.hpp"
#include "virtual/cudart/fill.hpp"
#include "virtual/device/per_thread.hpp"

using namespace isleway;
using namespace isleway::vgpu;
using namespace isleway::vgpu::cudart;

namespace {

int copy(const char* function, const Box& box, CopyKind kind, void* handle, bool asynchronous) {
  return with_stream(function, handle, [&](Process& process, Stream& stream) {
    return cudart::copy(process, stream, box, kind, asynchronous);
  });
}

int set(const char* function, void* to, std::size_t pitch, int value, std::size_t width,
        std::size_t height, void* handle, bool asynchronous) {
  const Fill fill{
      static_cast<std::byte*>(to), pitch, static_cast<std::uint32_t>(value), 1, width, height};
  return with_stream(function, handle, [&](Process& process, Stream& stream) {
    return cudart::set(process, stream, fill, asynchronous);
  });
}

/// The memory behind a __device__ variable, on the current device.
std::byte* symbol(Process& process, int device, const void* host, std::size_t* bytes) {
  KernelTable::Variable* variable = kernel_table().variable(host);
  if (variable == nullptr) return nullptr;
  if (bytes != nullptr) *bytes = variable->bytes;
  auto& memory = variable->memory[device];
  if (memory == nullptr)
    memory = process.memory().take_device(process.gpu(device), variable->bytes);
  return memory;
}

int copy_symbol(const char* function, const void* host, void* other, std::size_t bytes,
                std::size_t offset, int kind, void* stream, bool to_symbol, bool asynchronous) {
  std::byte* memory = nullptr;
  std::size_t size = 0;
  const int found = with_device(function, [&](Process& process, int device) -> int {
    memory = symbol(process, device, host, &size);
    if (memory == nullptr) return invalid_symbol;
    return offset > size || bytes > size - offset ? invalid_value : success;
  });
  if (found != success) return found;
  const Box box =
      to_symbol ? Box::row(memory + offset, other, bytes) : Box::row(other, memory + offset, bytes);
  return copy(function, box, static_cast<CopyKind>(kind), stream, asynchronous);
}

}  // namespace

ISLEWAY_API int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return copy(__func__, Box::row(to, from, bytes), static_cast<CopyKind>(kind), nullptr, false);
}
ISLEWAY_API int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind,
                                void* stream) {
  return copy(__func__, Box::row(to, from, bytes), static_cast<CopyKind>(kind), stream, true);
}
ISLEWAY_API int cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return copy(__func__, Box::row(to, from, bytes), CopyKind::any, nullptr, false);
}
ISLEWAY_API int cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                    std::size_t bytes, void* stream) {
  const int known = with_device(__func__, [&](Process& process, int) -> int {
    return is_device(process, to_device) && is_device(process, from_device) ? success
                                                                            : invalid_device;
  });
  if (known != success) return known;
  return copy(__func__, Box::row(to, from, bytes), CopyKind::any, stream, true);
}
ISLEWAY_API int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                             std::size_t from_pitch, std::size_t width, std::size_t height,
                             int kind) {
  if (width > to_pitch || width > from_pitch) return remember(__func__, invalid_pitch);
  return copy(__func__, Box::rows(to, to_pitch, from, from_pitch, width, height),
              static_cast<CopyKind>(kind), nullptr, false);
}
ISLEWAY_API int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                  std::size_t from_pitch, std::size_t width, std::size_t height,
                                  int kind, void* stream) {
  if (width > to_pitch || width > from_pitch) return remember(__func__, invalid_pitch);
  return copy(__func__, Box::rows(to, to_pitch, from, from_pitch, width, height),
              static_cast<CopyKind>(kind), stream, true);
}
ISLEWAY_API int cudaMemcpyBatchAsync(void* const* to, const void* const* from,
                                     const std::size_t* bytes, std::size_t count, void*,
                                     std::size_t*, std::size_t,
#if ISLEWAY_CUDART == 12
                                     std::size_t*,
#endif
                                     void* stream) {
  if (count == 0 || to == nullptr || from == nullptr || bytes == nullptr)
    return remember(__func__, invalid_value);
  for (std::size_t i = 0; i < count; ++i)
    if (const int status =
            copy(__func__, Box::row(to[i], from[i], bytes[i]), CopyKind::any, stream, true);
        status != success)
      return status;
  return success;
}

ISLEWAY_API int cudaMemset(void* to, int value, std::size_t bytes) {
  return set(__func__, to, bytes, value, bytes, 1, nullptr, false);
}
ISLEWAY_API int cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
  return set(__func__, to, bytes, value, bytes, 1, stream, true);
}
ISLEWAY_API int cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                             std::size_t height) {
  return set(__func__, to, pitch, value, width, height, nullptr, false);
}
ISLEWAY_API int cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                  std::size_t height, void* stream) {
  return set(__func__, to, pitch, value, width, height, stream, true);
}

ISLEWAY_API int cudaGetSymbolAddress(void** address, const void* host) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    if (address == nullptr) return invalid_value;
    *address = symbol(process, device, host, nullptr);
    return *address == nullptr ? invalid_symbol : success;
  });
}
ISLEWAY_API int cudaGetSymbolSize(std::size_t* bytes, const void* host) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    if (bytes == nullptr) return invalid_value;
    return symbol(process, device, host, bytes) == nullptr ? invalid_symbol : success;
  });
}
ISLEWAY_API int cudaMemcpyToSymbol(const void* host, const void* from, std::size_t bytes,
                                   std::size_t offset, int kind) {
  return copy_symbol(__func__, host, const_cast<void*>(from), bytes, offset, kind, nullptr, true,
                     false);
}
ISLEWAY_API int cudaMemcpyFromSymbol(void* to, const void* host, std::size_t bytes,
                                     std::size_t offset, int kind) {
  return copy_symbol(__func__, host, to, bytes, offset, kind, nullptr, false, false);
}
ISLEWAY_API int cudaMemcpyToSymbolAsync(const void* host, const void* from, std::size_t bytes,
                                        std::size_t offset, int kind, void* stream) {
  return copy_symbol(__func__, host, const_cast<void*>(from), bytes, offset, kind, stream, true,
                     true);
}
ISLEWAY_API int cudaMemcpyFromSymbolAsync(void* to, const void* host, std::size_t bytes,
                                          std::size_t offset, int kind, void* stream) {
  return copy_symbol(__func__, host, to, bytes, offset, kind, stream, false, true);
}

ISLEWAY_PER_THREAD(cudaMemcpy, _ptds);
ISLEWAY_PER_THREAD(cudaMemcpyAsync, _ptsz);
ISLEWAY_PER_THREAD(cudaMemcpy2D, _ptds);
ISLEWAY_PER_THREAD(cudaMemcpy2DAsync, _ptsz);
ISLEWAY_PER_THREAD(cudaMemcpyBatchAsync, _ptsz);
ISLEWAY_PER_THREAD(cudaMemset, _ptds);
ISLEWAY_PER_THREAD(cudaMemsetAsync, _ptsz);
ISLEWAY_PER_THREAD(cudaMemset2D, _ptds);
ISLEWAY_PER_THREAD(cudaMemset2DAsync, _ptsz);
ISLEWAY_PER_THREAD(cudaMemcpyToSymbol, _ptds);
ISLEWAY_PER_THREAD(cudaMemcpyFromSymbol, _ptds);
ISLEWAY_PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz);
ISLEWAY_PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz);
