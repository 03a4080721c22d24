// Memory made, given addresses and mapped in steps; handles for other processes; multicast.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "virtual/cuda/exports/driver.hpp"
#include "virtual/device/attributes.hpp"

using namespace isleway::vgpu;
using namespace isleway::vgpu::driver;
using Handle = MappedMemory::Handle;

namespace {

/// CUmemLocation.
struct Location {
  int type, id;
};
enum LocationType : int { kOnDevice = 1 };

/// CUmemAllocationProp.
struct Properties {
  int type, handle_types;
  Location location;
  void* windows;
  struct {
    unsigned char compression, rdma;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};
constexpr int kPinned = 1;

/// CUmemAllocationHandleType.
enum HandleType : unsigned { kNoHandle = 0, kFileDescriptor = 1, kFabric = 8 };

/// CUmemAccessDesc.
struct Access {
  Location location;
  int flags;
};

/// CUmulticastObjectProp.
struct MulticastProperties {
  unsigned devices;
  std::size_t size;
  unsigned long long handle_types, flags;
};

constexpr int kFabricAttribute = 128, kMulticastAttribute = 132;

bool whole_pages(std::uint64_t bytes) { return bytes > 0 && bytes % Memory::kPage == 0; }

bool has(Process& process, int device, int attribute) {
  return device_attribute(process, device, attribute).value_or(0) != 0;
}

/// Of the memory or object that is to be made on `device`.
int check_handle_types(Process& process, int device, unsigned long long types) {
  if ((types & ~(kFileDescriptor | kFabric)) != 0) return not_supported;
  return (types & kFabric) != 0 && !has(process, device, kFabricAttribute) ? not_supported
                                                                           : success;
}

int check(Process& process, const Properties* properties) {
  if (properties == nullptr || properties->type != kPinned) return invalid_value;
  if (properties->location.type != kOnDevice) return not_supported;
  const int device = properties->location.id;
  if (device < 0 || device >= process.device_count()) return invalid_device;
  return check_handle_types(process, device, static_cast<unsigned>(properties->handle_types));
}

int from_outcome(MappedMemory::Outcome outcome) {
  switch (outcome) {
    case MappedMemory::Outcome::done: return success;
    case MappedMemory::Outcome::owner_gone: return map_failed;
    case MappedMemory::Outcome::no_such_range:
    case MappedMemory::Outcome::in_use: return invalid_value;
  }
  return unknown;
}
int from_bind(MappedMemory::Bind bind) {
  switch (bind) {
    case MappedMemory::Bind::done: return success;
    case MappedMemory::Bind::devices_missing: return illegal_state;
    case MappedMemory::Bind::no_room: return out_of_memory;
    case MappedMemory::Bind::no_multicast:
    case MappedMemory::Bind::full:
    case MappedMemory::Bind::out_of_range: return invalid_value;
  }
  return unknown;
}

std::byte* bytes_at(CUdeviceptr pointer) { return static_cast<std::byte*>(address(pointer)); }

/// A file that holds nothing but what another process needs to find the memory.
int file_of(const SharedHandle& shared, int* out) {
  const int file = ::memfd_create("isleway-handle", MFD_CLOEXEC);
  if (file < 0) return unknown;
  if (::pwrite(file, &shared, sizeof shared, 0) != sizeof shared) {
    ::close(file);
    return unknown;
  }
  *out = file;
  return success;
}

/// GPUs of one NVLink domain know one another's handles.
bool same_domain(Process& process, const SharedHandle& shared) {
  if (shared.object != 0 || process.device_count() == 0) return true;
  const isleway::Fabric& machine = process.world().machine();
  return shared.memory.gpu < machine.gpu_count() &&
         machine.gpu(shared.memory.gpu).unit == machine.gpu(process.gpu(0)).unit;
}

}  // namespace

CUDA_API cuMemGetAllocationGranularity(std::size_t* out, const Properties* properties, int) {
  return with_device([&](Process& process, int) -> int {
    if (out == nullptr) return invalid_value;
    *out = Memory::kPage;
    return check(process, properties);
  });
}
CUDA_API cuMemCreate(Handle* out, std::size_t bytes, const Properties* properties,
                     unsigned long long flags) {
  return with_device([&](Process& process, int) -> int {
    if (out == nullptr || flags != 0 || !whole_pages(bytes)) return invalid_value;
    if (const int status = check(process, properties); status != success) return status;
    process.clock().work(process.costs().allocate);
    *out = process.mapped().create(process.gpu(properties->location.id), bytes,
                                   static_cast<unsigned>(properties->handle_types));
    return *out == 0 ? out_of_memory : success;
  });
}
CUDA_API cuMemRelease(Handle handle) {
  return with_device([&](Process& process, int) -> int {
    return process.mapped().release(handle) ? success : invalid_value;
  });
}
CUDA_API cuMemRetainAllocationHandle(Handle* out, void* pointer) {
  return with_device([&](Process& process, int) -> int {
    if (out == nullptr) return invalid_value;
    *out = process.mapped().handle_at(static_cast<std::byte*>(pointer));
    if (*out == 0) return invalid_value;
    process.mapped().retain(*out);
    return success;
  });
}
CUDA_API cuMemGetAllocationPropertiesFromHandle(Properties* out, Handle handle) {
  return with_device([&](Process& process, int) -> int {
    const MappedMemory::Item* item = process.mapped().find(handle);
    if (out == nullptr || item == nullptr || item->object != 0) return invalid_value;
    *out = Properties{};
    out->type = kPinned;
    out->handle_types = static_cast<int>(item->kinds);
    out->location = {kOnDevice, process.device_of(item->memory.gpu)};
    return success;
  });
}

CUDA_API cuMemAddressReserve(CUdeviceptr* out, std::size_t bytes, std::size_t alignment,
                             CUdeviceptr wish, unsigned long long flags) {
  return with_device([&](Process& process, int) -> int {
    const bool power_of_two = (alignment & (alignment - 1)) == 0;
    if (out == nullptr || flags != 0 || !power_of_two || !whole_pages(bytes)) return invalid_value;
    std::byte* base = process.mapped().reserve(bytes, alignment, bytes_at(wish));
    *out = reinterpret_cast<CUdeviceptr>(base);
    return base == nullptr ? out_of_memory : success;
  });
}
CUDA_API cuMemAddressFree(CUdeviceptr pointer, std::size_t bytes) {
  return with_device([&](Process& process, int) -> int {
    return process.mapped().unreserve(bytes_at(pointer), bytes) ? success : invalid_value;
  });
}
CUDA_API cuMemMap(CUdeviceptr pointer, std::size_t bytes, std::size_t offset, Handle handle,
                  unsigned long long flags) {
  return with_device([&](Process& process, int) -> int {
    const bool aligned = pointer % Memory::kPage == 0 && offset % Memory::kPage == 0;
    if (flags != 0 || !aligned || !whole_pages(bytes) || process.mapped().find(handle) == nullptr)
      return invalid_value;
    return from_outcome(process.mapped().map(bytes_at(pointer), bytes, offset, handle));
  });
}
CUDA_API cuMemUnmap(CUdeviceptr pointer, std::size_t bytes) {
  return with_device([&](Process& process, int) -> int {
    // What is still to be done with the memory is done first.
    for (int device = 0; device < process.device_count(); ++device)
      if (const std::string why = process.synchronize_device(device); !why.empty())
        return cudart::waited(why);
    return process.mapped().unmap(bytes_at(pointer), bytes) ? success : invalid_value;
  });
}
CUDA_API cuMemSetAccess(CUdeviceptr pointer, std::size_t bytes, const Access* accesses,
                        std::size_t count) {
  return with_device([&](Process& process, int) -> int {
    if (accesses == nullptr || count == 0) return invalid_value;
    for (std::size_t i = 0; i < count; ++i) {
      const Access& access = accesses[i];
      const bool known = access.flags == 0 || access.flags == 1 || access.flags == 3;
      if (access.location.type != kOnDevice || !known) return invalid_value;
      const int device = access.location.id;
      if (device < 0 || device >= process.device_count()) return invalid_device;
      const Block* block = process.memory().find(address(pointer));
      if (block == nullptr) return invalid_value;
      if (block->space == Space::mapped && !process.can_reach(process.gpu(device), block->gpu))
        return invalid_device;
      if (!process.mapped().set_access(bytes_at(pointer), bytes, device, access.flags))
        return invalid_value;
    }
    return success;
  });
}
CUDA_API cuMemGetAccess(unsigned long long* out, const Location* location, CUdeviceptr pointer) {
  return with_device([&](Process& process, int) -> int {
    if (out == nullptr || location == nullptr || location->type != kOnDevice) return invalid_value;
    const auto access = process.mapped().access(bytes_at(pointer), location->id);
    if (!access) return invalid_value;
    *out = static_cast<unsigned long long>(*access);
    return success;
  });
}

CUDA_API cuMemExportToShareableHandle(void* out, Handle handle, unsigned type,
                                      unsigned long long flags) {
  return with_device([&](Process& process, int) -> int {
    const MappedMemory::Item* item = process.mapped().find(handle);
    if (out == nullptr || flags != 0 || item == nullptr) return invalid_value;
    if ((item->kinds & type) == 0) return invalid_value;
    const SharedHandle shared = process.mapped().share(handle);
    if (type == kFileDescriptor) return file_of(shared, static_cast<int*>(out));
    static_assert(sizeof shared <= 64, "a fabric handle has no more");
    std::memset(out, 0, 64);
    std::memcpy(out, &shared, sizeof shared);
    return success;
  });
}
CUDA_API cuMemImportFromShareableHandle(Handle* out, void* from, unsigned type) {
  return with_device([&](Process& process, int) -> int {
    if (out == nullptr) return invalid_value;
    SharedHandle shared;
    if (type == kFileDescriptor) {
      const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(from));
      if (::pread(file, &shared, sizeof shared, 0) != sizeof shared) return invalid_value;
    } else if (type == kFabric) {
      if (from == nullptr) return invalid_value;
      std::memcpy(&shared, from, sizeof shared);
      if (!same_domain(process, shared)) return not_permitted;
    } else {
      return not_supported;
    }
    *out = process.mapped().import(shared, type);
    return *out == 0 ? invalid_value : success;
  });
}

CUDA_API cuMulticastGetGranularity(std::size_t* out, const MulticastProperties* properties, int) {
  return with_device([&](Process& process, int device) -> int {
    if (out == nullptr || properties == nullptr || properties->devices == 0) return invalid_value;
    *out = Memory::kPage;
    return has(process, device, kMulticastAttribute) ? success : not_supported;
  });
}
CUDA_API cuMulticastCreate(Handle* out, const MulticastProperties* properties) {
  return with_device([&](Process& process, int device) -> int {
    if (out == nullptr || properties == nullptr || properties->flags != 0 ||
        !whole_pages(properties->size))
      return invalid_value;
    const auto devices = static_cast<std::uint32_t>(properties->devices);
    if (devices == 0 || devices > process.world().machine().gpu_count()) return invalid_value;
    if (!has(process, device, kMulticastAttribute)) return not_supported;
    const int status = check_handle_types(process, device, properties->handle_types);
    if (status != success) return status;
    *out = process.mapped().create_multicast(devices, properties->size,
                                             static_cast<unsigned>(properties->handle_types));
    return *out == 0 ? out_of_memory : success;
  });
}
CUDA_API cuMulticastAddDevice(Handle object, CUdevice device) {
  return with_device([&](Process& process, int) -> int {
    if (device < 0 || device >= process.device_count()) return invalid_device;
    if (!has(process, device, kMulticastAttribute)) return not_supported;
    return from_bind(process.mapped().add_device(object, process.gpu(device)));
  });
}
CUDA_API cuMulticastBindMem(Handle object, std::size_t at, Handle memory, std::size_t offset,
                            std::size_t bytes, unsigned long long flags) {
  return with_device([&](Process& process, int) -> int {
    if (flags != 0 || !whole_pages(bytes)) return invalid_value;
    return from_bind(process.mapped().bind(object, at, memory, offset, bytes));
  });
}
CUDA_API cuMulticastBindAddr(Handle object, std::size_t at, CUdeviceptr pointer, std::size_t bytes,
                             unsigned long long flags) {
  return with_device([&](Process& process, int) -> int {
    const Handle memory = process.mapped().handle_at(bytes_at(pointer));
    if (flags != 0 || memory == 0 || !whole_pages(bytes)) return invalid_value;
    const std::uint64_t offset = process.mapped().offset_of(bytes_at(pointer));
    return from_bind(process.mapped().bind(object, at, memory, offset, bytes));
  });
}
CUDA_API cuMulticastUnbind(Handle object, CUdevice device, std::size_t at, std::size_t bytes) {
  return with_device([&](Process& process, int) -> int {
    if (device < 0 || device >= process.device_count()) return invalid_device;
    return process.mapped().unbind(object, process.gpu(device), at, bytes) ? success
                                                                           : invalid_value;
  });
}
