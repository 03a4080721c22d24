// A client that goes on while the machine breaks: once a second of its time it copies from GPU 0
// to GPU 1 and reduces over all, and says how long that took or what it was told.
//   virtual-faults SECONDS [GPUS]
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cuda_abi.hpp"

namespace {

constexpr std::size_t kBytes = std::size_t{256} << 20;

struct Gpu {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  void* data = nullptr;
};

/// Empty: all went well.
const char* told(int status) { return status == cudaSuccess ? nullptr : cudaGetErrorName(status); }

float ms_between(cudaEvent_t from, cudaEvent_t to) {
  float ms = 0;
  cudaEventElapsedTime(&ms, from, to);
  return ms;
}

const char* set_up(std::vector<Gpu>& gpus) {
  std::vector<ncclComm_t> comms(gpus.size());
  if (const int status = ncclCommInitAll(comms.data(), static_cast<int>(gpus.size()), nullptr))
    return ncclGetErrorString(status);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].comm = comms[i];
    cudaSetDevice(static_cast<int>(i));
    cudaStreamCreateWithFlags(&gpus[i].stream, 1);
    if (const char* why = told(cudaMalloc(&gpus[i].data, kBytes))) return why;
    if (i == 0) cudaDeviceEnablePeerAccess(1, 0);
  }
  return nullptr;
}

/// Says so, and returns true, where something went wrong.
bool second(int number, std::vector<Gpu>& gpus) {
  cudaEvent_t from, copied;
  cudaSetDevice(0);
  cudaEventCreate(&from);
  cudaEventCreate(&copied);
  cudaEventRecord(from, gpus[0].stream);
  int status = cudaMemcpyPeerAsync(gpus[1].data, 1, gpus[0].data, 0, kBytes, gpus[0].stream);
  cudaEventRecord(copied, gpus[0].stream);
  if (status == cudaSuccess) status = cudaStreamSynchronize(gpus[0].stream);
  std::printf("%d s: ", number);
  if (const char* why = told(status)) std::printf("copy %s, ", why);
  else
    std::printf("copy %.1f GB/s, ", static_cast<double>(kBytes) / ms_between(from, copied) * 1e-6);

  cudaEvent_t reduced;
  cudaEventCreate(&reduced);
  cudaEventRecord(from, gpus[0].stream);
  ncclGroupStart();
  for (const Gpu& gpu : gpus)
    ncclAllReduce(gpu.data, gpu.data, kBytes / 4, ncclFloat32, ncclSum, gpu.comm, gpu.stream);
  const int ended = ncclGroupEnd();
  cudaEventRecord(reduced, gpus[0].stream);
  std::printf("all-reduce ");
  if (ended != ncclSuccess) std::printf("%s", ncclGetErrorString(ended));
  for (const Gpu& gpu : gpus)
    if (status == cudaSuccess && ended == ncclSuccess) status = cudaStreamSynchronize(gpu.stream);
  int error = 0;
  ncclCommGetAsyncError(gpus[0].comm, &error);
  if (error != ncclSuccess && ended == ncclSuccess) std::printf("%s", ncclGetErrorString(error));
  if (status == cudaSuccess && ended == ncclSuccess)
    std::printf("%.2f ms", static_cast<double>(ms_between(from, reduced)));
  std::printf("\n");
  return status != cudaSuccess || ended != ncclSuccess;
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 1;
  int count = 0;
  if (const char* why = told(cudaGetDeviceCount(&count))) {
    std::printf("no devices: %s\n", why);
    return 1;
  }
  std::vector<Gpu> gpus(static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : count));
  if (const char* why = set_up(gpus)) {
    std::printf("set up: %s\n", why);
    return 1;
  }
  for (int number = 0; number < seconds; ++number) {
    const bool broken = second(number, gpus);
    if (broken) {
      for (std::size_t i = 0; i < gpus.size(); ++i) {
        cudaSetDevice(static_cast<int>(i));
        if (const char* why = told(cudaMemset(gpus[i].data, 0, 4)))
          std::printf("GPU %zu: %s\n", i, why);
      }
      for (const Gpu& gpu : gpus) ncclCommAbort(gpu.comm);
      return 1;
    }
    sleep(1);
  }
  return 0;
}
