// Memory: taken, given back, asked about, handed to other processes.
#include <unistd.h>

#include <cstring>

#include "virtual/cudart/exports/api.hpp"
#include "virtual/device/per_thread.hpp"

using namespace isleway::vgpu;
using namespace isleway::vgpu::cudart;

namespace {

constexpr std::uint64_t kPitch = 512;

int take(const char* function, void** address, std::size_t bytes) {
  return with_device(function, [&](Process& process, int device) -> int {
    if (address == nullptr) return invalid_value;
    *address = nullptr;
    if (bytes == 0) return success;
    *address = process.memory().take_device(process.gpu(device), bytes);
    process.clock().work(process.costs().allocate);
    return *address == nullptr ? out_of_memory : success;
  });
}

int take_host(const char* function, void** address, std::size_t bytes, Space space) {
  return with_device(function, [&](Process& process, int device) -> int {
    if (address == nullptr) return invalid_value;
    *address = nullptr;
    if (bytes == 0) return space == Space::managed ? invalid_value : success;
    *address = process.memory().take_host(bytes, space, process.gpu(device));
    process.clock().work(process.costs().allocate);
    return *address == nullptr ? out_of_memory : success;
  });
}

/// Freeing waits for all work of the device, as the real one does.
int give_back(const char* function, void* address, bool host) {
  return with_device(function, [&](Process& process, int) -> int {
    if (address == nullptr) return success;
    const Block* block = process.memory().find(address);
    const bool fits = block != nullptr && block->base == address &&
                      (host ? block->space == Space::pinned
                            : block->space == Space::device || block->space == Space::managed);
    if (!fits) return host ? invalid_value : invalid_device_pointer;
    if (block->space == Space::device)
      if (const int device = process.device_of(block->gpu); device >= 0)
        if (const int status = waited(process.synchronize_device(device)); status != success)
          return status;
    if (block->space == Space::device) {
      process.free_device(address);
      return success;
    }
    process.settle(block->base, block->bytes);
    process.memory().give_back(address);
    return success;
  });
}

}  // namespace

ISLEWAY_API int cudaMalloc(void** address, std::size_t bytes) {
  return take(__func__, address, bytes);
}
ISLEWAY_API int cudaFree(void* address) { return give_back(__func__, address, false); }

ISLEWAY_API int cudaMallocPitch(void** address, std::size_t* pitch, std::size_t width,
                                std::size_t height) {
  if (pitch == nullptr) return remember(__func__, invalid_value);
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  if (height != 0 && *pitch > SIZE_MAX / height) return remember(__func__, out_of_memory);
  return take(__func__, address, *pitch * height);
}

ISLEWAY_API int cudaMallocHost(void** address, std::size_t bytes) {
  return take_host(__func__, address, bytes, Space::pinned);
}
ISLEWAY_API int cudaHostAlloc(void** address, std::size_t bytes, unsigned) {
  return take_host(__func__, address, bytes, Space::pinned);
}
ISLEWAY_API int cudaMallocManaged(void** address, std::size_t bytes, unsigned) {
  return take_host(__func__, address, bytes, Space::managed);
}
ISLEWAY_API int cudaFreeHost(void* address) { return give_back(__func__, address, true); }

ISLEWAY_API int cudaHostRegister(void* address, std::size_t bytes, unsigned) {
  return with_device(__func__, [&](Process& process, int) -> int {
    if (address == nullptr || bytes == 0) return invalid_value;
    return process.memory().register_host(address, bytes) ? success
                                                          : host_memory_already_registered;
  });
}
ISLEWAY_API int cudaHostUnregister(void* address) {
  return with_device(__func__, [&](Process& process, int) -> int {
    const Block* block = process.memory().find(address);
    if (block == nullptr || block->base != address || block->space != Space::registered)
      return host_memory_not_registered;
    process.memory().give_back(address);
    return success;
  });
}
ISLEWAY_API int cudaHostGetDevicePointer(void** device_address, void* address, unsigned) {
  return with_device(__func__, [&](Process& process, int) -> int {
    if (device_address == nullptr) return invalid_value;
    const Block* block = process.memory().find(address);
    if (block == nullptr || !block->on_host()) return invalid_value;
    *device_address = address;
    return success;
  });
}
ISLEWAY_API int cudaHostGetFlags(unsigned* flags, void* address) {
  return with_device(__func__, [&](Process& process, int) -> int {
    const Block* block = process.memory().find(address);
    if (flags == nullptr || block == nullptr || !block->on_host()) return invalid_value;
    constexpr unsigned mapped = 2;
    *flags = mapped;
    return success;
  });
}

ISLEWAY_API int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    if (free == nullptr || total == nullptr) return invalid_value;
    const isleway::GpuId gpu = process.gpu(device);
    const isleway::Bytes all = process.memory().total(gpu);
    *total = static_cast<std::size_t>(all.count());
    *free = static_cast<std::size_t>((all - process.memory().used(gpu)).count());
    return success;
  });
}

namespace {
struct PointerAttributes {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
#if ISLEWAY_CUDART == 13
  long reserved[8];
#endif
};
}  // namespace

ISLEWAY_API int cudaPointerGetAttributes(PointerAttributes* attributes, const void* address) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    if (attributes == nullptr) return invalid_value;
    enum { unregistered, host, on_device, managed };
    auto* plain = const_cast<void*>(address);
    *attributes = PointerAttributes{};
    const Block* block = process.memory().find(address);
    if (block == nullptr) {
      attributes->type = unregistered;
      attributes->device = -2;
      attributes->host_pointer = plain;
      return success;
    }
    const int of = process.device_of(block->gpu);
    attributes->device = block->on_host() ? device : of;
    attributes->device_pointer = plain;
    attributes->type = block->on_host()                 ? host
                       : block->space == Space::managed ? managed
                                                        : on_device;
    if (attributes->type != on_device) attributes->host_pointer = plain;
    return success;
  });
}

// Between processes. A handle names the process, its file, and where in it the memory is.
ISLEWAY_API int cudaIpcGetMemHandle(IpcHandle* handle, void* address) {
  return with_device(__func__, [&](Process& process, int) -> int {
    if (handle == nullptr) return invalid_value;
    const auto shared = process.memory().share(address);
    if (!shared) return invalid_value;
    process.data().settle_all();
    process.memory().mark_exported(address);
    static_assert(sizeof *shared <= sizeof *handle);
    *handle = IpcHandle{};
    std::memcpy(handle->bytes, &*shared, sizeof *shared);
    return success;
  });
}
ISLEWAY_API int cudaIpcOpenMemHandle(void** address, IpcHandle handle, unsigned) {
  return with_device(__func__, [&](Process& process, int) -> int {
    if (address == nullptr) return invalid_value;
    SharedBlock shared;
    std::memcpy(&shared, handle.bytes, sizeof shared);
    if (shared.pid == ::getpid()) return invalid_context;  // it has the memory already
    *address = process.memory().open(shared);
    return *address == nullptr ? map_failed : success;
  });
}
ISLEWAY_API int cudaIpcCloseMemHandle(void* address) {
  return with_device(__func__, [&](Process& process, int) -> int {
    const Block* block = process.memory().find(address);
    if (block == nullptr || block->space != Space::peer) return invalid_value;
    process.memory().give_back(block->base);
    return success;
  });
}

// Pools: memory of the device, as any other.
namespace {
struct Pool {
  int device = 0;
};
Pool* default_pool(int device) {
  static Pool pools[128];
  pools[device % 128].device = device;
  return &pools[device % 128];
}
int pool_of(const char* function, Pool** pool, int device) {
  return with_device(function, [&](Process& process, int) -> int {
    if (pool == nullptr) return invalid_value;
    if (!is_device(process, device)) return invalid_device;
    *pool = default_pool(device);
    return success;
  });
}
}  // namespace

ISLEWAY_API int cudaDeviceGetDefaultMemPool(Pool** pool, int device) {
  return pool_of(__func__, pool, device);
}
ISLEWAY_API int cudaDeviceGetMemPool(Pool** pool, int device) {
  return pool_of(__func__, pool, device);
}
ISLEWAY_API int cudaDeviceSetMemPool(int device, Pool*) {
  return with_device(__func__, [&](Process& process, int) -> int {
    return is_device(process, device) ? success : invalid_device;
  });
}
ISLEWAY_API int cudaMemPoolCreate(Pool** pool, const void* properties) {
  return with_device(__func__, [&](Process& process, int) -> int {
    if (pool == nullptr || properties == nullptr) return invalid_value;
    // Allocation type, handle types, then where: its kind and number.
    const int device = static_cast<const int*>(properties)[3];
    if (!is_device(process, device)) return invalid_device;
    *pool = new Pool{device};
    return success;
  });
}
ISLEWAY_API int cudaMemPoolDestroy(Pool* pool) {
  if (pool == nullptr) return remember(__func__, invalid_value);
  if (pool != default_pool(pool->device)) delete pool;
  return success;
}
ISLEWAY_API int cudaMemPoolSetAttribute(Pool* pool, int, void* value) {
  return remember(__func__, pool == nullptr || value == nullptr ? invalid_value : success);
}
ISLEWAY_API int cudaMemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  return with_device(__func__, [&](Process& process, int) -> int {
    if (pool == nullptr || value == nullptr) return invalid_value;
    constexpr int first_counter = 5;
    if (attribute < first_counter) *static_cast<int*>(value) = 1;
    else
      *static_cast<std::uint64_t*>(value) =
          static_cast<std::uint64_t>(process.memory().used(process.gpu(pool->device)).count());
    return success;
  });
}
ISLEWAY_API int cudaMemPoolTrimTo(Pool* pool, std::size_t) {
  return remember(__func__, pool == nullptr ? invalid_value : success);
}
ISLEWAY_API int cudaMemPoolSetAccess(Pool* pool, const void*, std::size_t) {
  return remember(__func__, pool == nullptr ? invalid_value : success);
}
ISLEWAY_API int cudaMemPoolGetAccess(int* flags, Pool* pool, void*) {
  if (flags == nullptr || pool == nullptr) return remember(__func__, invalid_value);
  *flags = 3;  // to read and write
  return success;
}
ISLEWAY_API int cudaMallocAsync(void** address, std::size_t bytes, void* stream) {
  return with_stream(__func__, stream, [&](Process& process, Stream& on) -> int {
    if (address == nullptr) return invalid_value;
    *address = bytes == 0 ? nullptr : process.memory().take_device(process.gpu(on.device), bytes);
    return *address == nullptr && bytes > 0 ? out_of_memory : success;
  });
}
ISLEWAY_API int cudaMallocFromPoolAsync(void** address, std::size_t bytes, Pool* pool,
                                        void* stream) {
  if (pool == nullptr) return remember(__func__, invalid_value);
  return cudaMallocAsync(address, bytes, stream);
}
ISLEWAY_API int cudaFreeAsync(void* address, void* stream) {
  return with_stream(__func__, stream, [&](Process& process, Stream& on) -> int {
    const Block* block = process.memory().find(address);
    if (block == nullptr || block->base != address || block->space != Space::device)
      return invalid_value;
    put_or_record(process, on, GraphNode::Kind::empty, [address](Process& p, Stream& s) {
      Work work;
      work.effect = [address, &p] { p.free_device(address); };
      p.put(s, std::move(work));
    });
    return success;
  });
}

// Managed memory is host memory here: advice moves nothing.
#if ISLEWAY_CUDART == 13
namespace {
struct Location {
  int kind, id;
};
}  // namespace
ISLEWAY_API int cudaMemAdvise(const void* address, std::size_t, int, Location) {
  return remember(__func__, address == nullptr ? invalid_value : success);
}
ISLEWAY_API int cudaMemPrefetchAsync(const void* address, std::size_t, Location, unsigned, void*) {
  return remember(__func__, address == nullptr ? invalid_value : success);
}
#else
ISLEWAY_API int cudaMemAdvise(const void* address, std::size_t, int, int) {
  return remember(__func__, address == nullptr ? invalid_value : success);
}
ISLEWAY_API int cudaMemPrefetchAsync(const void* address, std::size_t, int, void*) {
  return remember(__func__, address == nullptr ? invalid_value : success);
}
#endif

ISLEWAY_PER_THREAD(cudaMallocAsync, _ptsz);
ISLEWAY_PER_THREAD(cudaMallocFromPoolAsync, _ptsz);
ISLEWAY_PER_THREAD(cudaFreeAsync, _ptsz);
ISLEWAY_PER_THREAD(cudaMemPrefetchAsync, _ptsz);
