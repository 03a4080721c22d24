// The driver's streams and events: the runtime's.
#include "virtual/cuda/exports/driver.hpp"
#include "virtual/device/per_thread.hpp"

using namespace isleway::vgpu::driver;

namespace {

int give_context(CUcontext* out, void* stream) {
  if (out == nullptr) return invalid_value;
  int device = 0;
  const int status = from_runtime(cudaStreamGetDevice(stream, &device));
  if (status == success) *out = context_of(device);
  return status;
}

}  // namespace

CUDA_API cuStreamCreate(void** out, unsigned flags) {
  return from_runtime(cudaStreamCreateWithFlags(out, flags));
}
CUDA_API cuStreamCreateWithPriority(void** out, unsigned flags, int priority) {
  return from_runtime(cudaStreamCreateWithPriority(out, flags, priority));
}
CUDA_API cuStreamDestroy_v2(void* stream) { return from_runtime(cudaStreamDestroy(stream)); }
CUDA_API cuStreamDestroy(void* stream) { return from_runtime(cudaStreamDestroy(stream)); }
CUDA_API cuStreamSynchronize(void* stream) { return from_runtime(cudaStreamSynchronize(stream)); }
CUDA_API cuStreamQuery(void* stream) { return from_runtime(cudaStreamQuery(stream)); }
CUDA_API cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return from_runtime(cudaStreamWaitEvent(stream, event, flags));
}
CUDA_API cuStreamGetFlags(void* stream, unsigned* out) {
  return from_runtime(cudaStreamGetFlags(stream, out));
}
CUDA_API cuStreamGetPriority(void* stream, int* out) {
  return from_runtime(cudaStreamGetPriority(stream, out));
}
CUDA_API cuStreamGetId(void* stream, unsigned long long* out) {
  return from_runtime(cudaStreamGetId(stream, out));
}
CUDA_API cuStreamGetDevice(void* stream, CUdevice* out) {
  return from_runtime(cudaStreamGetDevice(stream, out));
}
CUDA_API cuStreamGetCtx(void* stream, CUcontext* out) { return give_context(out, stream); }
CUDA_API cuStreamIsCapturing(void* stream, int* out) {
  return from_runtime(cudaStreamIsCapturing(stream, out));
}
CUDA_API cuStreamAddCallback(void* stream, void (*callback)(void*, int, void*), void* data,
                             unsigned flags) {
  return from_runtime(cudaStreamAddCallback(stream, callback, data, flags));
}
CUDA_API cuLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  return from_runtime(cudaLaunchHostFunc(stream, function, data));
}
CUDA_API cuEventCreate(void** out, unsigned flags) {
  return from_runtime(cudaEventCreateWithFlags(out, flags));
}
CUDA_API cuEventDestroy_v2(void* event) { return from_runtime(cudaEventDestroy(event)); }
CUDA_API cuEventDestroy(void* event) { return from_runtime(cudaEventDestroy(event)); }
CUDA_API cuEventRecord(void* event, void* stream) {
  return from_runtime(cudaEventRecord(event, stream));
}
CUDA_API cuEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return from_runtime(cudaEventRecordWithFlags(event, stream, flags));
}
CUDA_API cuEventQuery(void* event) { return from_runtime(cudaEventQuery(event)); }
CUDA_API cuEventSynchronize(void* event) { return from_runtime(cudaEventSynchronize(event)); }
CUDA_API cuEventElapsedTime(float* out, void* from, void* to) {
  return from_runtime(cudaEventElapsedTime(out, from, to));
}
CUDA_API cuEventElapsedTime_v2(float* out, void* from, void* to) {
  return from_runtime(cudaEventElapsedTime(out, from, to));
}

ISLEWAY_PER_THREAD(cuStreamSynchronize, _ptsz);
ISLEWAY_PER_THREAD(cuStreamQuery, _ptsz);
ISLEWAY_PER_THREAD(cuStreamWaitEvent, _ptsz);
ISLEWAY_PER_THREAD(cuStreamGetFlags, _ptsz);
ISLEWAY_PER_THREAD(cuStreamGetPriority, _ptsz);
ISLEWAY_PER_THREAD(cuStreamGetId, _ptsz);
ISLEWAY_PER_THREAD(cuStreamGetDevice, _ptsz);
ISLEWAY_PER_THREAD(cuStreamGetCtx, _ptsz);
ISLEWAY_PER_THREAD(cuStreamIsCapturing, _ptsz);
ISLEWAY_PER_THREAD(cuStreamAddCallback, _ptsz);
ISLEWAY_PER_THREAD(cuLaunchHostFunc, _ptsz);
ISLEWAY_PER_THREAD(cuEventRecord, _ptsz);
ISLEWAY_PER_THREAD(cuEventRecordWithFlags, _ptsz);
