// Devices, their properties, and who may reach whose memory.
#include <algorithm>
#include <cstring>

#include "isleway/virtual/identity.hpp"
#include "virtual/cudart/device_prop.hpp"
#include "virtual/cudart/exports/api.hpp"
#include "virtual/device/attributes.hpp"

using namespace isleway::vgpu;
using namespace isleway::vgpu::cudart;

namespace {

void set(int (&field)[3], int a, int b, int c) {
  field[0] = a;
  field[1] = b;
  field[2] = c;
}

void fill(DeviceProp& prop, Process& process, int device) {
  const auto at = [&](int number) { return device_attribute(process, device, number).value_or(0); };
  const isleway::Fabric& machine = process.world().machine();
  const isleway::DeviceRef gpu = machine.gpu(process.gpu(device));
  std::strncpy(prop.name, device_title(process, device).c_str(), sizeof prop.name - 1);
  const isleway::vgpu::Uuid uuid = device_uuid(machine, gpu);
  std::copy(uuid.begin(), uuid.end(), prop.uuid);
  prop.total_memory = static_cast<std::size_t>(process.memory().total(process.gpu(device)).count());
  prop.shared_per_block = static_cast<std::size_t>(at(8));
  prop.registers_per_block = at(12);
  prop.pitch = static_cast<std::size_t>(at(11));
  prop.threads_per_block = at(1);
  set(prop.threads_dim, at(2), at(3), at(4));
  set(prop.grid, at(5), at(6), at(7));
  prop.constant_memory = static_cast<std::size_t>(at(9));
  prop.major = at(75);
  prop.minor = at(76);
  prop.texture_alignment = static_cast<std::size_t>(at(14));
  prop.texture_pitch_alignment = static_cast<std::size_t>(at(51));
  prop.multiprocessors = at(16);
  prop.can_map_host = at(19);
  prop.texture_1d = at(21);
  prop.texture_2d[0] = at(22);
  prop.texture_2d[1] = at(23);
  set(prop.texture_3d, at(24), at(25), at(26));
  prop.surface_alignment = 512;
  prop.concurrent_kernels = at(31);
  prop.ecc = at(32);
  prop.pci_bus = at(33);
  prop.pci_device = at(34);
  prop.pci_domain = at(50);
  prop.async_engines = at(40);
  prop.unified_addressing = at(41);
  prop.memory_bus = at(37);
  prop.l2_bytes = at(38);
  prop.threads_per_sm = at(39);
  prop.stream_priorities = at(78);
  prop.global_l1 = prop.local_l1 = 1;
  prop.shared_per_sm = static_cast<std::size_t>(at(81));
  prop.registers_per_sm = at(82);
  prop.managed = at(83);
  prop.concurrent_managed = at(89);
  prop.preemption = at(90);
  prop.registered_pointers = at(91);
  prop.cooperative = at(95);
  prop.shared_per_block_optin = static_cast<std::size_t>(at(97));
  prop.blocks_per_sm = at(106);
  prop.shared_reserved = static_cast<std::size_t>(at(111));
  prop.host_register = at(99);
  prop.memory_pools = at(115);
  prop.gpudirect = at(116);
  prop.pool_handles = static_cast<unsigned>(at(119));
  prop.ipc_events = at(125);
  prop.clusters = at(120);
  prop.function_pointers = 1;
#if ISLEWAY_CUDART == 12
  prop.clock_rate = at(13);
  prop.device_overlap = 1;
  prop.memory_clock = at(36);
  prop.single_to_double = at(87);
#endif
}

int properties(const char* function, DeviceProp* prop, int device) {
  return with_devices(function, [&](Process& process, int) -> int {
    if (prop == nullptr) return invalid_value;
    if (!is_device(process, device)) return invalid_device;
    *prop = DeviceProp{};
    fill(*prop, process, device);
    return success;
  });
}

}  // namespace

ISLEWAY_API int cudaGetDeviceCount(int* count) {
  return with_process(__func__, [&](Process& process) -> int {
    if (count == nullptr) return invalid_value;
    *count = process.device_count();
    return *count > 0 ? success : no_device;
  });
}

ISLEWAY_API int cudaSetDevice(int device) {
  return with_devices(__func__, [&](Process& process, int) -> int {
    if (!is_device(process, device)) return invalid_device;
    process.current_device() = device;
    return success;
  });
}

ISLEWAY_API int cudaGetDevice(int* device) {
  return with_devices(__func__, [&](Process&, int current) -> int {
    if (device == nullptr) return invalid_value;
    *device = current;
    return success;
  });
}

ISLEWAY_API int cudaInitDevice(int device, unsigned, unsigned) {
  return with_devices(__func__, [&](Process& process, int) -> int {
    return is_device(process, device) ? success : invalid_device;
  });
}
ISLEWAY_API int cudaSetValidDevices(int* devices, int count) {
  return with_devices(__func__, [&](Process& process, int) -> int {
    if (count < 0 || (count > 0 && devices == nullptr)) return invalid_value;
    for (int i = 0; i < count; ++i)
      if (!is_device(process, devices[i])) return invalid_device;
    return success;
  });
}
ISLEWAY_API int cudaChooseDevice(int* device, const DeviceProp*) { return cudaGetDevice(device); }

ISLEWAY_API int cudaDeviceSynchronize() {
  return with_device(__func__, [](Process& process, int device) {
    return waited(process.synchronize_device(device));
  });
}
ISLEWAY_API int cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

ISLEWAY_API int cudaDeviceReset() {
  return with_device(__func__, [](Process& process, int device) -> int {
    const int status = waited(process.synchronize_device(device));
    for (std::byte* address : process.memory().all_of(process.gpu(device)))
      process.free_device(address);
    for (int peer = 0; peer < process.device_count(); ++peer)
      process.enable_peer(device, peer, false);
    return status;
  });
}
ISLEWAY_API int cudaThreadExit() { return cudaDeviceReset(); }

ISLEWAY_API int cudaGetDeviceProperties(DeviceProp* prop, int device) {
  return properties(__func__, prop, device);
}
ISLEWAY_API int cudaGetDeviceProperties_v2(DeviceProp* prop, int device) {
  return properties(__func__, prop, device);
}

ISLEWAY_API int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return with_devices(__func__, [&](Process& process, int) -> int {
    if (value == nullptr) return invalid_value;
    if (!is_device(process, device)) return invalid_device;
    const auto found = device_attribute(process, device, attribute);
    if (!found) return invalid_value;
    *value = *found;
    return success;
  });
}

ISLEWAY_API int cudaDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  return with_devices(__func__, [&](Process& process, int) -> int {
    enum { rank = 1, access, atomics, arrays, partial_atomics };
    if (value == nullptr || attribute < rank || attribute > partial_atomics) return invalid_value;
    if (!is_device(process, from) || !is_device(process, to) || from == to) return invalid_device;
    const bool reaches = process.can_access(from, to);
    *value = attribute == rank || !reaches ? 0 : 1;
    return success;
  });
}

ISLEWAY_API int cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return with_devices(__func__, [&](Process& process, int) -> int {
    if (text == nullptr || length < 13) return invalid_value;
    if (!is_device(process, device)) return invalid_device;
    const isleway::Fabric& machine = process.world().machine();
    const std::string id = pci_address(machine, machine.gpu(process.gpu(device))).text(4);
    std::strncpy(text, id.c_str(), static_cast<std::size_t>(length));
    return success;
  });
}

ISLEWAY_API int cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return with_devices(__func__, [&](Process& process, int) -> int {
    if (device == nullptr || text == nullptr) return invalid_value;
    const auto wanted = parse_pci_address(text);
    const isleway::Fabric& machine = process.world().machine();
    for (int i = 0; wanted && i < process.device_count(); ++i) {
      if (pci_address(machine, machine.gpu(process.gpu(i))) != *wanted) continue;
      *device = i;
      return success;
    }
    return invalid_device;
  });
}

ISLEWAY_API int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return with_devices(__func__, [&](Process& process, int) -> int {
    if (can == nullptr) return invalid_value;
    if (!is_device(process, device) || !is_device(process, peer)) return invalid_device;
    *can = process.can_access(device, peer) ? 1 : 0;
    return success;
  });
}

ISLEWAY_API int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    if (flags != 0) return invalid_value;
    if (!is_device(process, peer)) return invalid_device;
    if (!process.can_access(device, peer))
      return peer == device ? invalid_device : peer_access_unsupported;
    if (process.peer_enabled(device, peer)) return peer_access_already_enabled;
    process.enable_peer(device, peer, true);
    return success;
  });
}

ISLEWAY_API int cudaDeviceDisablePeerAccess(int peer) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    if (!is_device(process, peer)) return invalid_device;
    if (!process.peer_enabled(device, peer)) return peer_access_not_enabled;
    process.enable_peer(device, peer, false);
    return success;
  });
}

// Settings that change nothing here.
ISLEWAY_API int cudaSetDeviceFlags(unsigned) { return success; }
ISLEWAY_API int cudaGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return remember(__func__, invalid_value);
  *flags = 8;  // host memory can be mapped
  return success;
}
ISLEWAY_API int cudaDeviceSetCacheConfig(int) { return success; }
ISLEWAY_API int cudaDeviceGetCacheConfig(int* config) {
  if (config == nullptr) return remember(__func__, invalid_value);
  *config = 0;
  return success;
}
ISLEWAY_API int cudaDeviceSetSharedMemConfig(int) { return success; }
ISLEWAY_API int cudaDeviceGetSharedMemConfig(int* config) {
  return cudaDeviceGetCacheConfig(config);
}
ISLEWAY_API int cudaDeviceSetLimit(int limit, std::size_t) {
  constexpr int limits = 7;
  return remember(__func__, limit >= 0 && limit < limits ? success : unsupported_limit);
}
ISLEWAY_API int cudaDeviceGetLimit(std::size_t* value, int limit) {
  constexpr std::size_t values[] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};
  if (value == nullptr) return remember(__func__, invalid_value);
  if (limit < 0 || limit >= 7) return remember(__func__, unsupported_limit);
  *value = values[limit];
  return success;
}
ISLEWAY_API int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return success;
}
ISLEWAY_API int cudaDeviceFlushGPUDirectRDMAWrites(int, int) { return success; }
ISLEWAY_API int cudaCtxResetPersistingL2Cache() { return success; }
