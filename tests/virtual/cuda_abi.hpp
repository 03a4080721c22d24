// Declarations that client programs of the virtual libraries need, as CUDA's and NCCL's public
// documentation has them. So the clients are built where there is no CUDA toolkit.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct dim3 {
  unsigned x, y, z;
};
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;
enum { cudaSuccess = 0, cudaErrorNotReady = 600 };
enum {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

int cudaGetDeviceCount(int*);
int cudaSetDevice(int);
int cudaGetDevice(int*);
int cudaDeviceSynchronize();
int cudaDeviceReset();
int cudaDeviceCanAccessPeer(int*, int, int);
int cudaDeviceEnablePeerAccess(int, unsigned);
int cudaDeviceDisablePeerAccess(int);
int cudaDeviceGetAttribute(int*, int, int);
int cudaDeviceGetPCIBusId(char*, int, int);
int cudaDeviceGetByPCIBusId(int*, const char*);
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaMallocHost(void**, std::size_t);
int cudaHostAlloc(void**, std::size_t, unsigned);
int cudaFreeHost(void*);
int cudaMallocManaged(void**, std::size_t, unsigned);
int cudaMemGetInfo(std::size_t*, std::size_t*);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpyAsync(void*, const void*, std::size_t, int, cudaStream_t);
int cudaMemcpyPeerAsync(void*, int, const void*, int, std::size_t, cudaStream_t);
int cudaMemset(void*, int, std::size_t);
int cudaMemsetAsync(void*, int, std::size_t, cudaStream_t);
int cudaStreamCreate(cudaStream_t*);
int cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
int cudaStreamDestroy(cudaStream_t);
int cudaStreamSynchronize(cudaStream_t);
int cudaStreamQuery(cudaStream_t);
int cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
int cudaStreamBeginCapture(cudaStream_t, int);
int cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
int cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long);
int cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
int cudaGraphDestroy(cudaGraph_t);
int cudaGraphExecDestroy(cudaGraphExec_t);
int cudaEventCreate(cudaEvent_t*);
int cudaEventDestroy(cudaEvent_t);
int cudaEventRecord(cudaEvent_t, cudaStream_t);
int cudaEventSynchronize(cudaEvent_t);
int cudaEventQuery(cudaEvent_t);
int cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
int cudaGetLastError();
const char* cudaGetErrorString(int);
const char* cudaGetErrorName(int);
int cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*);
void __cudaUnregisterFatBinary(void**);

using ncclComm_t = struct ncclComm*;
struct ncclUniqueId {
  char internal[128];
};
enum { ncclSuccess = 0 };
enum { ncclInt32 = 2, ncclFloat16 = 6, ncclFloat32 = 7, ncclFloat64 = 8, ncclBfloat16 = 9 };
enum { ncclSum = 0, ncclProd, ncclMax, ncclMin, ncclAvg };
int ncclGetVersion(int*);
int ncclGetUniqueId(ncclUniqueId*);
int ncclCommInitRank(ncclComm_t*, int, ncclUniqueId, int);
int ncclCommInitAll(ncclComm_t*, int, const int*);
int ncclCommSplit(ncclComm_t, int, int, ncclComm_t*, void*);
int ncclCommDestroy(ncclComm_t);
int ncclCommAbort(ncclComm_t);
int ncclCommGetAsyncError(ncclComm_t, int*);
int ncclCommCount(ncclComm_t, int*);
int ncclCommUserRank(ncclComm_t, int*);
int ncclCommCuDevice(ncclComm_t, int*);
const char* ncclGetErrorString(int);
const char* ncclGetLastError(ncclComm_t);
int ncclGroupStart();
int ncclGroupEnd();
int ncclAllReduce(const void*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclReduce(const void*, void*, std::size_t, int, int, int, ncclComm_t, cudaStream_t);
int ncclBroadcast(const void*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclAllGather(const void*, void*, std::size_t, int, ncclComm_t, cudaStream_t);
int ncclReduceScatter(const void*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclAlltoAll(const void*, void*, std::size_t, int, ncclComm_t, cudaStream_t);
int ncclGather(const void*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclScatter(const void*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclSend(const void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclRecv(void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclRedOpCreatePreMulSum(int*, void*, int, int, ncclComm_t);
int ncclRedOpDestroy(int, ncclComm_t);
}
