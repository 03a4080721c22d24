// The driver's interface over the runtime's: both have the same devices, streams, events and
// memory, and mostly the same numbers for what goes wrong. libcuda.so.1 calls libcudart.so.13.
#pragma once

#include <cstddef>
#include <cstdint>

#include "virtual/cudart/abi.hpp"

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
int cudaDeviceGetLimit(std::size_t*, int);
int cudaDeviceSetLimit(int, std::size_t);
int cudaDeviceGetCacheConfig(int*);
int cudaDeviceSetCacheConfig(int);
int cudaDeviceGetSharedMemConfig(int*);
int cudaDeviceSetSharedMemConfig(int);
int cudaCtxResetPersistingL2Cache();
int cudaDeviceFlushGPUDirectRDMAWrites(int, int);
int cudaDeviceGetDefaultMemPool(void**, int);
int cudaDeviceGetMemPool(void**, int);
int cudaDeviceSetMemPool(int, void*);
int cudaMemPoolCreate(void**, const void*);
int cudaMemPoolDestroy(void*);
int cudaMemPoolTrimTo(void*, std::size_t);
int cudaMemPoolGetAttribute(void*, int, void*);
int cudaMemPoolSetAttribute(void*, int, void*);
int cudaMemPoolGetAccess(int*, void*, void*);
int cudaMemPoolSetAccess(void*, const void*, std::size_t);
int cudaMallocFromPoolAsync(void**, std::size_t, void*, void*);
int cudaStreamAttachMemAsync(void*, void*, std::size_t, unsigned);
int cudaStreamCopyAttributes(void*, void*);
int cudaStreamGetAttribute(void*, int, void*);
int cudaStreamSetAttribute(void*, int, const void*);
int cudaStreamBeginCapture(void*, int);
int cudaStreamEndCapture(void*, void**);
int cudaStreamGetCaptureInfo(void*, int*, unsigned long long*, void**, void* const**, const void**,
                             std::size_t*);
int cudaStreamUpdateCaptureDependencies(void*, void**, const void*, std::size_t, unsigned);
int cudaThreadExchangeStreamCaptureMode(int*);
int cudaGraphCreate(void**, unsigned);
int cudaGraphDestroy(void*);
int cudaGraphClone(void**, void*);
int cudaGraphGetNodes(void*, void**, std::size_t*);
int cudaGraphGetRootNodes(void*, void**, std::size_t*);
int cudaGraphNodeGetType(void*, int*);
int cudaGraphAddEmptyNode(void**, void*, void* const*, std::size_t);
int cudaGraphAddHostNode(void**, void*, void* const*, std::size_t, const void*);
int cudaGraphAddEventRecordNode(void**, void*, void* const*, std::size_t, void*);
int cudaGraphAddEventWaitNode(void**, void*, void* const*, std::size_t, void*);
int cudaGraphAddChildGraphNode(void**, void*, void* const*, std::size_t, void*);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphExecDestroy(void*);
int cudaGraphUpload(void*, void*);
int cudaGraphLaunch(void*, void*);
int cudaUserObjectCreate(void**, void*, void (*)(void*), unsigned, unsigned);
int cudaUserObjectRetain(void*, unsigned);
int cudaUserObjectRelease(void*, unsigned);
int cudaGraphRetainUserObject(void*, void*, unsigned, unsigned);
int cudaGraphReleaseUserObject(void*, void*, unsigned);
int cudaIpcGetMemHandle(isleway::vgpu::cudart::IpcHandle*, void*);
int cudaIpcOpenMemHandle(void**, isleway::vgpu::cudart::IpcHandle, unsigned);
int cudaIpcCloseMemHandle(void*);
int cudaIpcGetEventHandle(isleway::vgpu::cudart::IpcHandle*, void*);
int cudaIpcOpenEventHandle(void**, isleway::vgpu::cudart::IpcHandle);
}

namespace isleway::vgpu::driver {

/// CUresult has mostly the runtime's numbers.
using enum cudart::Status;

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

/// Runs `body(process, device)` on the current device with the process's lock held, as long as the
/// device works.
template <class Body>
int with_device(Body body) {
  if (!initialised()) return initialization_error;
  Process& process = Process::get();
  const auto held = process.hold();
  const int device = process.current_device();
  if (const int dead = cudart::status_of(process.trouble(device)); dead != success) return dead;
  return body(process, device);
}

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
