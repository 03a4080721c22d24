// The driver itself, devices and contexts.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "isleway/virtual/identity.hpp"
#include "isleway/virtual/launch.hpp"
#include "virtual/cuda/exports/driver.hpp"
#include "virtual/device/attributes.hpp"

using namespace isleway::vgpu;
using namespace isleway::vgpu::driver;

extern "C" int cudaGetLastError();

namespace {

constexpr int kVersion = 13000;
constexpr int kMostDevices = 1024;

std::atomic<bool>& init_called() {
  static std::atomic<bool> called{false};
  return called;
}

std::array<CUctx_st, kMostDevices>& contexts() {
  static std::array<CUctx_st, kMostDevices> all = [] {
    std::array<CUctx_st, kMostDevices> made{};
    for (int i = 0; i < kMostDevices; ++i) made[static_cast<std::size_t>(i)].device = i;
    return made;
  }();
  return all;
}

/// Contexts that the thread has pushed; the runtime's current device is that of the last.
std::vector<CUcontext>& stack() {
  thread_local std::vector<CUcontext> pushed;
  return pushed;
}

int make_current(CUcontext context) {
  if (context == nullptr) return success;
  const CUdevice device = device_of(context);
  return device < 0 ? invalid_context : from_runtime(cudaSetDevice(device));
}

int push(CUcontext context) {
  const int status = context == nullptr ? invalid_context : make_current(context);
  if (status == success) stack().push_back(context);
  return status;
}

int pop(CUcontext* context) {
  if (stack().empty()) return invalid_context;
  if (context != nullptr) *context = stack().back();
  stack().pop_back();
  return stack().empty() ? success : make_current(stack().back());
}

int make_context(CUcontext* out, CUdevice device) {
  if (out == nullptr) return invalid_value;
  if (const int status = check_device(device); status != success) return status;
  *out = context_of(device);
  return push(*out);
}

int current_device(CUdevice* out) {
  if (out == nullptr) return invalid_value;
  if (stack().empty()) return invalid_context;
  *out = stack().back()->device;
  return success;
}

/// Runs `body(process)` for a device that there is.
template <class Body>
int on_device(CUdevice device, const void* out, Body body) {
  if (out == nullptr) return invalid_value;
  if (const int status = check_device(device); status != success) return status;
  Process& process = Process::get();
  const auto held = process.hold();
  return body(process);
}

int uuid(unsigned char* out, CUdevice device) {
  return on_device(device, out, [&](Process& process) {
    const isleway::Fabric& machine = process.world().machine();
    const Uuid id = device_uuid(machine, machine.gpu(process.gpu(device)));
    std::copy(id.begin(), id.end(), out);
    return int{success};
  });
}

/// The newest form of a function, as its plain name means it.
void* find(const char* symbol) {
  void* self = nullptr;
  Dl_info own;
  if (::dladdr(reinterpret_cast<void*>(&find), &own) != 0)
    self = ::dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (self == nullptr) return nullptr;
  void* found = nullptr;
  for (const char* suffix : {"_v3", "_v2", ""})
    if (found == nullptr) found = ::dlsym(self, (std::string(symbol) + suffix).c_str());
  ::dlclose(self);
  return found;
}

int proc_address(const char* symbol, void** out, int* status) {
  enum { there = 0, nowhere = 1 };
  if (symbol == nullptr || out == nullptr) return invalid_value;
  *out = std::strncmp(symbol, "cu", 2) == 0 ? find(symbol) : nullptr;
  if (status != nullptr) *status = *out != nullptr ? there : nowhere;
  return *out != nullptr ? success : symbol_not_found;
}

int describe(int status, const char** out, const char* (*what)(int)) {
  if (out == nullptr) return invalid_value;
  *out = cudart::driver_status_name(status) == nullptr ? nullptr : what(status);
  return *out == nullptr ? invalid_value : success;
}

}  // namespace

namespace isleway::vgpu::driver {

int from_runtime(int status) {
  // What a call of the driver's comes to is not the runtime's last error.
  if (status != success && status != not_ready) cudaGetLastError();
  switch (status) {
    case 17:  // an address that is none of the device's
    case 21:  // a wrong direction
    case 9: return invalid_value;
    default: return status;
  }
}

int refuse(const char* function) {
  if (std::getenv("ISLEWAY_DEBUG") != nullptr)
    std::fprintf(stderr, "isleway: %s is not supported\n", function);
  return not_supported;
}

bool initialised() { return init_called(); }

int check_device(CUdevice device) {
  if (!initialised()) return initialization_error;
  int count = 0;
  if (const int status = from_runtime(cudaGetDeviceCount(&count)); status != success) return status;
  return device >= 0 && device < std::min(count, kMostDevices) ? success : invalid_device;
}

CUcontext context_of(CUdevice device) {
  return device >= 0 && device < kMostDevices ? &contexts()[static_cast<std::size_t>(device)]
                                              : nullptr;
}

CUdevice device_of(CUcontext context) {
  const auto& all = contexts();
  return context >= all.data() && context < all.data() + all.size() ? context->device : -1;
}

}  // namespace isleway::vgpu::driver

CUDA_API cuInit(unsigned flags) {
  if (flags != 0) return invalid_value;
  int count = 0;
  const int status = from_runtime(cudaGetDeviceCount(&count));
  init_called() = status == success;
  return status == initialization_error ? int{no_device} : status;
}
CUDA_API cuDriverGetVersion(int* out) {
  if (out == nullptr) return invalid_value;
  *out = kVersion;
  return success;
}
CUDA_API cuGetErrorName(int status, const char** out) {
  return describe(status, out, cudart::driver_status_name);
}
CUDA_API cuGetErrorString(int status, const char** out) {
  return describe(status, out, cudart::status_text);
}
CUDA_API cuGetProcAddress(const char* symbol, void** out, int, std::uint64_t) {
  return proc_address(symbol, out, nullptr);
}
CUDA_API cuGetProcAddress_v2(const char* symbol, void** out, int, std::uint64_t, int* status) {
  return proc_address(symbol, out, status);
}

CUDA_API cuGetExportTable(const void** out, const void*) {
  // Which only a runtime inside the program itself asks for; `isleway run` sees those that it
  // starts, and not those that a launcher starts.
  static const bool told = [] {
    const bool inside = has_static_cudart("/proc/self/exe");
    if (inside)
      std::fprintf(stderr, "isleway: %s\n", static_cudart_error("the program").text().c_str());
    return inside;
  }();
  (void)told;
  if (out != nullptr) *out = nullptr;
  return refuse("cuGetExportTable");
}

CUDA_API cuDeviceGet(CUdevice* out, int ordinal) {
  if (out == nullptr) return invalid_value;
  const int status = check_device(ordinal);
  if (status == success) *out = ordinal;
  return status;
}
CUDA_API cuDeviceGetCount(int* out) {
  return initialised() ? from_runtime(cudaGetDeviceCount(out)) : int{initialization_error};
}
CUDA_API cuDeviceGetName(char* out, int length, CUdevice device) {
  return on_device(device, out, [&](Process& process) {
    if (length <= 0) return int{invalid_value};
    std::snprintf(out, static_cast<std::size_t>(length), "%s",
                  device_title(process, device).c_str());
    return int{success};
  });
}
CUDA_API cuDeviceGetUuid(unsigned char* out, CUdevice device) { return uuid(out, device); }
CUDA_API cuDeviceGetUuid_v2(unsigned char* out, CUdevice device) { return uuid(out, device); }
CUDA_API cuDeviceTotalMem_v2(std::size_t* out, CUdevice device) {
  return on_device(device, out, [&](Process& process) {
    *out = static_cast<std::size_t>(process.memory().total(process.gpu(device)).count());
    return int{success};
  });
}
CUDA_API cuDeviceTotalMem(std::size_t* out, CUdevice device) {
  return cuDeviceTotalMem_v2(out, device);
}
CUDA_API cuDeviceGetAttribute(int* out, int attribute, CUdevice device) {
  const int status = check_device(device);
  return status == success ? from_runtime(cudaDeviceGetAttribute(out, attribute, device)) : status;
}
CUDA_API cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  constexpr int major_at = 75, minor_at = 76;
  const int status = cuDeviceGetAttribute(major, major_at, device);
  return status == success ? cuDeviceGetAttribute(minor, minor_at, device) : status;
}
CUDA_API cuDeviceGetP2PAttribute(int* out, int attribute, CUdevice from, CUdevice to) {
  return from_runtime(cudaDeviceGetP2PAttribute(out, attribute, from, to));
}
CUDA_API cuDeviceGetPCIBusId(char* out, int length, CUdevice device) {
  return from_runtime(cudaDeviceGetPCIBusId(out, length, device));
}
CUDA_API cuDeviceGetByPCIBusId(CUdevice* out, const char* text) {
  return from_runtime(cudaDeviceGetByPCIBusId(out, text));
}
CUDA_API cuDeviceCanAccessPeer(int* out, CUdevice device, CUdevice peer) {
  return from_runtime(cudaDeviceCanAccessPeer(out, device, peer));
}

CUDA_API cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  if (out == nullptr) return invalid_value;
  const int status = check_device(device);
  if (status == success) *out = context_of(device);
  return status;
}
CUDA_API cuDevicePrimaryCtxRelease_v2(CUdevice device) { return check_device(device); }
CUDA_API cuDevicePrimaryCtxRelease(CUdevice device) { return check_device(device); }
CUDA_API cuDevicePrimaryCtxReset_v2(CUdevice device) {
  const int status = check_device(device);
  if (status != success) return status;
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(device);
  const int reset = from_runtime(cudaDeviceReset());
  cudaSetDevice(before);
  return reset;
}
CUDA_API cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }
CUDA_API cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned) { return check_device(device); }
CUDA_API cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned) { return check_device(device); }
CUDA_API cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (flags == nullptr || active == nullptr) return invalid_value;
  *flags = 0;
  *active = 1;
  return check_device(device);
}
CUDA_API cuCtxCreate_v2(CUcontext* out, unsigned, CUdevice device) {
  return make_context(out, device);
}
CUDA_API cuCtxCreate(CUcontext* out, unsigned, CUdevice device) {
  return make_context(out, device);
}
CUDA_API cuCtxCreate_v4(CUcontext* out, void*, unsigned, CUdevice device) {
  return make_context(out, device);
}
CUDA_API cuCtxDestroy_v2(CUcontext context) {
  if (device_of(context) < 0) return invalid_context;
  std::erase(stack(), context);
  return success;
}
CUDA_API cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }
CUDA_API cuCtxPushCurrent_v2(CUcontext context) { return push(context); }
CUDA_API cuCtxPushCurrent(CUcontext context) { return push(context); }
CUDA_API cuCtxPopCurrent_v2(CUcontext* context) { return pop(context); }
CUDA_API cuCtxPopCurrent(CUcontext* context) { return pop(context); }
CUDA_API cuCtxSetCurrent(CUcontext context) {
  const int status = make_current(context);
  if (status != success) return status;
  if (!stack().empty()) stack().pop_back();
  if (context != nullptr) stack().push_back(context);
  return success;
}
CUDA_API cuCtxGetCurrent(CUcontext* out) {
  if (out == nullptr) return invalid_value;
  *out = stack().empty() ? nullptr : stack().back();
  return success;
}
CUDA_API cuCtxGetDevice(CUdevice* out) { return current_device(out); }
CUDA_API cuCtxSynchronize() { return from_runtime(cudaDeviceSynchronize()); }
CUDA_API cuCtxGetApiVersion(CUcontext, unsigned* out) {
  if (out == nullptr) return invalid_value;
  *out = 3020;  // what every driver since CUDA 3.2 says
  return success;
}
CUDA_API cuCtxGetFlags(unsigned* out) {
  if (out == nullptr) return invalid_value;
  *out = 0;
  return success;
}
CUDA_API cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return from_runtime(cudaDeviceGetStreamPriorityRange(least, greatest));
}
CUDA_API cuCtxGetDevice_v2(CUdevice* out, CUcontext context) {
  if (out == nullptr) return invalid_value;
  if (context == nullptr) return current_device(out);
  *out = device_of(context);
  return *out < 0 ? invalid_context : success;
}
CUDA_API cuCtxSynchronize_v2(CUcontext context) {
  if (context == nullptr) return cuCtxSynchronize();
  const int pushed = push(context);
  if (pushed != success) return pushed;
  const int status = cuCtxSynchronize();
  pop(nullptr);
  return status;
}
CUDA_API cuCtxGetId(CUcontext context, unsigned long long* out) {
  if (out == nullptr) return invalid_value;
  if (context == nullptr && !stack().empty()) context = stack().back();
  const CUdevice device = device_of(context);
  *out = static_cast<unsigned long long>(device) + 1;
  return device < 0 ? invalid_context : success;
}
CUDA_API cuCtxSetFlags(unsigned) { return stack().empty() ? invalid_context : success; }
CUDA_API cuCtxGetLimit(std::size_t* out, int limit) {
  return from_runtime(cudaDeviceGetLimit(out, limit));
}
CUDA_API cuCtxSetLimit(int limit, std::size_t value) {
  return from_runtime(cudaDeviceSetLimit(limit, value));
}
CUDA_API cuCtxGetCacheConfig(int* out) { return from_runtime(cudaDeviceGetCacheConfig(out)); }
CUDA_API cuCtxSetCacheConfig(int config) { return from_runtime(cudaDeviceSetCacheConfig(config)); }
CUDA_API cuCtxGetSharedMemConfig(int* out) {
  return from_runtime(cudaDeviceGetSharedMemConfig(out));
}
CUDA_API cuCtxSetSharedMemConfig(int config) {
  return from_runtime(cudaDeviceSetSharedMemConfig(config));
}
CUDA_API cuCtxResetPersistingL2Cache() { return from_runtime(cudaCtxResetPersistingL2Cache()); }
CUDA_API cuFlushGPUDirectRDMAWrites(int target, int scope) {
  return from_runtime(cudaDeviceFlushGPUDirectRDMAWrites(target, scope));
}
CUDA_API cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  const CUdevice device = device_of(peer);
  return device < 0 ? invalid_context : from_runtime(cudaDeviceEnablePeerAccess(device, flags));
}
CUDA_API cuCtxDisablePeerAccess(CUcontext peer) {
  const CUdevice device = device_of(peer);
  return device < 0 ? invalid_context : from_runtime(cudaDeviceDisablePeerAccess(device));
}
CUDA_API cuProfilerStart() { return from_runtime(cudaProfilerStart()); }
CUDA_API cuProfilerStop() { return from_runtime(cudaProfilerStop()); }
