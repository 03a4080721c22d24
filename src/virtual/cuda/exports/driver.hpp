// The driver's interface over the runtime's: both have the same devices, streams, events and
// memory, and mostly the same numbers for what goes wrong. libcuda.so.1 calls libcudart.so.13.
#pragma once

#include <cstddef>
#include <cstdint>

#define CUDA_API extern "C" __attribute__((visibility("default"))) int

using CUdevice = int;
using CUdeviceptr = unsigned long long;
struct CUctx_st {
  CUdevice device = 0;
};
using CUcontext = CUctx_st*;

// The runtime's functions that are called, as its interface has them.
extern "C" {
int cudaGetDeviceCount(int*);
int cudaSetDevice(int);
int cudaGetDevice(int*);
int cudaDeviceSynchronize();
int cudaDeviceGetAttribute(int*, int, int);
int cudaDeviceGetP2PAttribute(int*, int, int, int);
int cudaDeviceGetPCIBusId(char*, int, int);
int cudaDeviceGetByPCIBusId(int*, const char*);
int cudaDeviceCanAccessPeer(int*, int, int);
int cudaDeviceEnablePeerAccess(int, unsigned);
int cudaDeviceDisablePeerAccess(int);
int cudaDeviceReset();
int cudaDeviceGetStreamPriorityRange(int*, int*);
int cudaMalloc(void**, std::size_t);
int cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
int cudaMallocManaged(void**, std::size_t, unsigned);
int cudaMallocAsync(void**, std::size_t, void*);
int cudaFree(void*);
int cudaFreeAsync(void*, void*);
int cudaHostAlloc(void**, std::size_t, unsigned);
int cudaFreeHost(void*);
int cudaHostRegister(void*, std::size_t, unsigned);
int cudaHostUnregister(void*);
int cudaHostGetDevicePointer(void**, void*, unsigned);
int cudaHostGetFlags(unsigned*, void*);
int cudaMemGetInfo(std::size_t*, std::size_t*);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpyAsync(void*, const void*, std::size_t, int, void*);
int cudaMemcpyPeer(void*, int, const void*, int, std::size_t);
int cudaMemcpyPeerAsync(void*, int, const void*, int, std::size_t, void*);
int cudaMemset(void*, int, std::size_t);
int cudaMemsetAsync(void*, int, std::size_t, void*);
int cudaMemset2D(void*, std::size_t, int, std::size_t, std::size_t);
int cudaMemset2DAsync(void*, std::size_t, int, std::size_t, std::size_t, void*);
int cudaStreamCreateWithFlags(void**, unsigned);
int cudaStreamCreateWithPriority(void**, unsigned, int);
int cudaStreamDestroy(void*);
int cudaStreamSynchronize(void*);
int cudaStreamQuery(void*);
int cudaStreamWaitEvent(void*, void*, unsigned);
int cudaStreamGetFlags(void*, unsigned*);
int cudaStreamGetPriority(void*, int*);
int cudaStreamGetId(void*, unsigned long long*);
int cudaStreamGetDevice(void*, int*);
int cudaStreamIsCapturing(void*, int*);
int cudaLaunchHostFunc(void*, void (*)(void*), void*);
int cudaStreamAddCallback(void*, void (*)(void*, int, void*), void*, unsigned);
int cudaEventCreateWithFlags(void**, unsigned);
int cudaEventDestroy(void*);
int cudaEventRecord(void*, void*);
int cudaEventRecordWithFlags(void*, void*, unsigned);
int cudaEventQuery(void*);
int cudaEventSynchronize(void*);
int cudaEventElapsedTime(float*, void*, void*);
int cudaProfilerStart();
int cudaProfilerStop();
}

namespace isleway::vgpu::driver {

/// CUresult.
enum Result : int {
  success = 0,
  invalid_value = 1,
  not_initialized = 3,
  no_device = 100,
  invalid_device = 101,
  invalid_context = 201,
  not_found = 500,
  not_supported = 801,
  unknown = 999,
};

/// As the driver would say it: mostly the same number.
int from_runtime(int status);
/// not_supported; with ISLEWAY_DEBUG, a line that names the function.
int refuse(const char* function);

/// cuInit has been called, and there are devices.
bool initialised();
/// Where `device` is none: invalid_device.
int check_device(CUdevice device);
/// A device has one context, its primary one; null when there is no such device.
CUcontext context_of(CUdevice device);
/// The device of a context; -1 for what is none.
CUdevice device_of(CUcontext context);

inline void* address(CUdeviceptr pointer) { return reinterpret_cast<void*>(pointer); }
/// What a runtime call that gives an address gives the driver's caller.
template <class Call>
int give_address(CUdeviceptr* out, Call call) {
  if (out == nullptr) return invalid_value;
  void* memory = nullptr;
  const int status = from_runtime(call(&memory));
  if (status == success) *out = reinterpret_cast<CUdeviceptr>(memory);
  return status;
}

}  // namespace isleway::vgpu::driver
