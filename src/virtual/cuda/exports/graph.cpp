// Captures and graphs, pools, and what other processes open: the runtime's.
#include "virtual/cuda/exports/driver.hpp"
#include "virtual/device/per_thread.hpp"

using namespace isleway::vgpu::driver;
using isleway::vgpu::cudart::IpcHandle;

CUDA_API cuStreamBeginCapture_v2(void* stream, int mode) {
  return from_runtime(cudaStreamBeginCapture(stream, mode));
}
CUDA_API cuStreamEndCapture(void* stream, void** graph) {
  return from_runtime(cudaStreamEndCapture(stream, graph));
}
CUDA_API cuStreamGetCaptureInfo_v2(void* stream, int* status, std::uint64_t* id, void** graph,
                                   void* const** ends, std::size_t* count) {
  unsigned long long number = 0;
  const int result =
      from_runtime(cudaStreamGetCaptureInfo(stream, status, &number, graph, ends, nullptr, count));
  if (id != nullptr) *id = number;
  return result;
}
CUDA_API cuStreamGetCaptureInfo_v3(void* stream, int* status, std::uint64_t* id, void** graph,
                                   void* const** ends, const void** edges, std::size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return cuStreamGetCaptureInfo_v2(stream, status, id, graph, ends, count);
}
CUDA_API cuStreamUpdateCaptureDependencies(void* stream, void** nodes, std::size_t count,
                                           unsigned flags) {
  return from_runtime(cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags));
}
CUDA_API cuStreamUpdateCaptureDependencies_v2(void* stream, void** nodes, const void* edges,
                                              std::size_t count, unsigned flags) {
  return from_runtime(cudaStreamUpdateCaptureDependencies(stream, nodes, edges, count, flags));
}
CUDA_API cuThreadExchangeStreamCaptureMode(int* mode) {
  return from_runtime(cudaThreadExchangeStreamCaptureMode(mode));
}
CUDA_API cuStreamAttachMemAsync(void* stream, CUdeviceptr pointer, std::size_t bytes,
                                unsigned flags) {
  return from_runtime(cudaStreamAttachMemAsync(stream, address(pointer), bytes, flags));
}
CUDA_API cuStreamCopyAttributes(void* to, void* from) {
  return from_runtime(cudaStreamCopyAttributes(to, from));
}
CUDA_API cuStreamGetAttribute(void* stream, int which, void* value) {
  return from_runtime(cudaStreamGetAttribute(stream, which, value));
}
CUDA_API cuStreamSetAttribute(void* stream, int which, const void* value) {
  return from_runtime(cudaStreamSetAttribute(stream, which, value));
}

CUDA_API cuGraphCreate(void** graph, unsigned flags) {
  return from_runtime(cudaGraphCreate(graph, flags));
}
CUDA_API cuGraphDestroy(void* graph) { return from_runtime(cudaGraphDestroy(graph)); }
CUDA_API cuGraphClone(void** copy, void* graph) {
  return from_runtime(cudaGraphClone(copy, graph));
}
CUDA_API cuGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  return from_runtime(cudaGraphGetNodes(graph, nodes, count));
}
CUDA_API cuGraphGetRootNodes(void* graph, void** nodes, std::size_t* count) {
  return from_runtime(cudaGraphGetRootNodes(graph, nodes, count));
}
CUDA_API cuGraphNodeGetType(void* node, int* type) {
  return from_runtime(cudaGraphNodeGetType(node, type));
}
CUDA_API cuGraphAddEmptyNode(void** node, void* graph, void* const* after, std::size_t count) {
  return from_runtime(cudaGraphAddEmptyNode(node, graph, after, count));
}
CUDA_API cuGraphAddHostNode(void** node, void* graph, void* const* after, std::size_t count,
                            const void* parameters) {
  return from_runtime(cudaGraphAddHostNode(node, graph, after, count, parameters));
}
CUDA_API cuGraphAddEventRecordNode(void** node, void* graph, void* const* after, std::size_t count,
                                   void* event) {
  return from_runtime(cudaGraphAddEventRecordNode(node, graph, after, count, event));
}
CUDA_API cuGraphAddEventWaitNode(void** node, void* graph, void* const* after, std::size_t count,
                                 void* event) {
  return from_runtime(cudaGraphAddEventWaitNode(node, graph, after, count, event));
}
CUDA_API cuGraphAddChildGraphNode(void** node, void* graph, void* const* after, std::size_t count,
                                  void* child) {
  return from_runtime(cudaGraphAddChildGraphNode(node, graph, after, count, child));
}
CUDA_API cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  return from_runtime(cudaGraphInstantiate(executable, graph, flags));
}
CUDA_API cuGraphInstantiateWithParams(void** executable, void* graph, void*) {
  return from_runtime(cudaGraphInstantiate(executable, graph, 0));
}
CUDA_API cuGraphInstantiate_v2(void** executable, void* graph, void**, char*, std::size_t) {
  return from_runtime(cudaGraphInstantiate(executable, graph, 0));
}
CUDA_API cuGraphExecDestroy(void* executable) {
  return from_runtime(cudaGraphExecDestroy(executable));
}
CUDA_API cuGraphUpload(void* executable, void* stream) {
  return from_runtime(cudaGraphUpload(executable, stream));
}
CUDA_API cuGraphLaunch(void* executable, void* stream) {
  return from_runtime(cudaGraphLaunch(executable, stream));
}
CUDA_API cuUserObjectCreate(void** object, void* data, void (*destroy)(void*), unsigned references,
                            unsigned flags) {
  return from_runtime(cudaUserObjectCreate(object, data, destroy, references, flags));
}
CUDA_API cuUserObjectRetain(void* object, unsigned count) {
  return from_runtime(cudaUserObjectRetain(object, count));
}
CUDA_API cuUserObjectRelease(void* object, unsigned count) {
  return from_runtime(cudaUserObjectRelease(object, count));
}
CUDA_API cuGraphRetainUserObject(void* graph, void* object, unsigned count, unsigned flags) {
  return from_runtime(cudaGraphRetainUserObject(graph, object, count, flags));
}
CUDA_API cuGraphReleaseUserObject(void* graph, void* object, unsigned count) {
  return from_runtime(cudaGraphReleaseUserObject(graph, object, count));
}

CUDA_API cuDeviceGetDefaultMemPool(void** pool, CUdevice device) {
  return from_runtime(cudaDeviceGetDefaultMemPool(pool, device));
}
CUDA_API cuDeviceGetMemPool(void** pool, CUdevice device) {
  return from_runtime(cudaDeviceGetMemPool(pool, device));
}
CUDA_API cuDeviceSetMemPool(CUdevice device, void* pool) {
  return from_runtime(cudaDeviceSetMemPool(device, pool));
}
CUDA_API cuMemPoolCreate(void** pool, const void* properties) {
  return from_runtime(cudaMemPoolCreate(pool, properties));
}
CUDA_API cuMemPoolDestroy(void* pool) { return from_runtime(cudaMemPoolDestroy(pool)); }
CUDA_API cuMemPoolTrimTo(void* pool, std::size_t keep) {
  return from_runtime(cudaMemPoolTrimTo(pool, keep));
}
CUDA_API cuMemPoolGetAttribute(void* pool, int which, void* value) {
  return from_runtime(cudaMemPoolGetAttribute(pool, which, value));
}
CUDA_API cuMemPoolSetAttribute(void* pool, int which, void* value) {
  return from_runtime(cudaMemPoolSetAttribute(pool, which, value));
}
CUDA_API cuMemPoolGetAccess(int* flags, void* pool, void* location) {
  return from_runtime(cudaMemPoolGetAccess(flags, pool, location));
}
CUDA_API cuMemPoolSetAccess(void* pool, const void* accesses, std::size_t count) {
  return from_runtime(cudaMemPoolSetAccess(pool, accesses, count));
}
CUDA_API cuMemAllocFromPoolAsync(CUdeviceptr* out, std::size_t bytes, void* pool, void* stream) {
  return give_address(
      out, [&](void** memory) { return cudaMallocFromPoolAsync(memory, bytes, pool, stream); });
}

CUDA_API cuIpcGetMemHandle(IpcHandle* handle, CUdeviceptr pointer) {
  return from_runtime(cudaIpcGetMemHandle(handle, address(pointer)));
}
CUDA_API cuIpcOpenMemHandle_v2(CUdeviceptr* out, IpcHandle handle, unsigned flags) {
  return give_address(out, [&](void** m) { return cudaIpcOpenMemHandle(m, handle, flags); });
}
CUDA_API cuIpcOpenMemHandle(CUdeviceptr* out, IpcHandle handle, unsigned flags) {
  return cuIpcOpenMemHandle_v2(out, handle, flags);
}
CUDA_API cuIpcCloseMemHandle(CUdeviceptr pointer) {
  return from_runtime(cudaIpcCloseMemHandle(address(pointer)));
}
CUDA_API cuIpcGetEventHandle(IpcHandle* handle, void* event) {
  return from_runtime(cudaIpcGetEventHandle(handle, event));
}
CUDA_API cuIpcOpenEventHandle(void** event, IpcHandle handle) {
  return from_runtime(cudaIpcOpenEventHandle(event, handle));
}

ISLEWAY_PER_THREAD(cuStreamBeginCapture_v2, _ptsz);
ISLEWAY_PER_THREAD(cuStreamEndCapture, _ptsz);
ISLEWAY_PER_THREAD(cuStreamGetCaptureInfo_v2, _ptsz);
ISLEWAY_PER_THREAD(cuStreamGetCaptureInfo_v3, _ptsz);
ISLEWAY_PER_THREAD(cuStreamUpdateCaptureDependencies, _ptsz);
ISLEWAY_PER_THREAD(cuStreamUpdateCaptureDependencies_v2, _ptsz);
ISLEWAY_PER_THREAD(cuStreamAttachMemAsync, _ptsz);
ISLEWAY_PER_THREAD(cuStreamCopyAttributes, _ptsz);
ISLEWAY_PER_THREAD(cuStreamGetAttribute, _ptsz);
ISLEWAY_PER_THREAD(cuStreamSetAttribute, _ptsz);
ISLEWAY_PER_THREAD(cuGraphInstantiateWithParams, _ptsz);
ISLEWAY_PER_THREAD(cuGraphUpload, _ptsz);
ISLEWAY_PER_THREAD(cuGraphLaunch, _ptsz);
ISLEWAY_PER_THREAD(cuMemAllocFromPoolAsync, _ptsz);
