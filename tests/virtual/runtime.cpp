// A client that uses the runtime as programs do, and says what it found. The parts:
//   virtual-runtime devices | memory | copies | streams | graphs | kernels | clock
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cuda_abi.hpp"

namespace {

void check(int status, const char* what) {
  if (status == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorName(status));
  std::exit(1);
}
#define CUDA(call) check(call, #call)

constexpr std::size_t kMiB = std::size_t{1} << 20;

void devices() {
  int count = 0;
  CUDA(cudaGetDeviceCount(&count));
  for (int i = 0; i < count; ++i) {
    char id[32];
    CUDA(cudaDeviceGetPCIBusId(id, sizeof id, i));
    int back = -1, major = 0, sms = 0, peers = 0;
    CUDA(cudaDeviceGetByPCIBusId(&back, id));
    CUDA(cudaDeviceGetAttribute(&major, 75, i));
    CUDA(cudaDeviceGetAttribute(&sms, 16, i));
    for (int j = 0; j < count; ++j) {
      int can = 0;
      CUDA(cudaDeviceCanAccessPeer(&can, i, j));
      peers += can;
    }
    std::printf("device %d at %s (%d): compute %d.x, %d SMs, %d peers\n", i, id, back, major, sms,
                peers);
  }
  std::printf("device %d: %s\n", count, cudaGetErrorName(cudaSetDevice(count)));
  const char* first = cudaGetErrorName(cudaGetLastError());
  std::printf("last error: %s, then %s\n", first, cudaGetErrorName(cudaGetLastError()));
}

void memory() {
  std::size_t free = 0, total = 0, now = 0;
  CUDA(cudaMemGetInfo(&free, &total));
  void* most = nullptr;
  CUDA(cudaMalloc(&most, free / 2));
  CUDA(cudaMemGetInfo(&now, &total));
  std::printf("half of the memory taken: %s\n", free - now == free / 2 ? "counted" : "not counted");
  void* more = nullptr;
  std::printf("as much again and more: %s\n", cudaGetErrorName(cudaMalloc(&more, free / 2 + kMiB)));
  CUDA(cudaFree(most));
  CUDA(cudaMemGetInfo(&now, &total));
  std::printf("given back: %s\n", now == free ? "all" : "not all");
  std::printf("given back twice: %s\n", cudaGetErrorName(cudaFree(most)));
  cudaGetLastError();
  int* managed = nullptr;
  CUDA(cudaMallocManaged(reinterpret_cast<void**>(&managed), 4096, 1));
  CUDA(cudaMemset(managed, 1, 4096));
  std::printf("managed memory holds %#x\n", static_cast<unsigned>(managed[7]));
  CUDA(cudaFree(managed));
}

double gigabytes_per_second(int from, int to, bool peers) {
  constexpr std::size_t bytes = 256 * kMiB;
  void *source = nullptr, *target = nullptr;
  CUDA(cudaSetDevice(from));
  if (peers) CUDA(cudaDeviceEnablePeerAccess(to, 0));
  CUDA(cudaMalloc(&source, bytes));
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  cudaEvent_t begin, end;
  CUDA(cudaEventCreate(&begin));
  CUDA(cudaEventCreate(&end));
  CUDA(cudaSetDevice(to));
  CUDA(cudaMalloc(&target, bytes));
  CUDA(cudaSetDevice(from));
  CUDA(cudaEventRecord(begin, stream));
  CUDA(cudaMemcpyPeerAsync(target, to, source, from, bytes, stream));
  CUDA(cudaEventRecord(end, stream));
  CUDA(cudaStreamSynchronize(stream));
  float ms = 0;
  CUDA(cudaEventElapsedTime(&ms, begin, end));
  if (peers) CUDA(cudaDeviceDisablePeerAccess(to));
  CUDA(cudaFree(source));
  CUDA(cudaFree(target));
  return static_cast<double>(bytes) / ms * 1e-6;
}

void copies() {
  std::printf("GPU 0 to GPU 1: %.1f GB/s, without peer access %.1f GB/s\n",
              gigabytes_per_second(0, 1, true), gigabytes_per_second(0, 1, false));
  // Round all devices and back to the host.
  int count = 0;
  CUDA(cudaGetDeviceCount(&count));
  std::vector<unsigned> data(kMiB), back(kMiB);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned>(i * 2654435761u);
  const std::size_t bytes = data.size() * sizeof data[0];
  std::vector<void*> buffers(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    CUDA(cudaSetDevice(i));
    CUDA(cudaMalloc(&buffers[static_cast<std::size_t>(i)], bytes));
    const void* from =
        i == 0 ? static_cast<const void*>(data.data()) : buffers[static_cast<std::size_t>(i) - 1];
    CUDA(cudaMemcpy(buffers[static_cast<std::size_t>(i)], from, bytes, cudaMemcpyDefault));
  }
  CUDA(cudaMemcpy(back.data(), buffers.back(), bytes, cudaMemcpyDeviceToHost));
  std::printf("round all devices: %s\n", data == back ? "the same bytes" : "other bytes");
  std::printf("from the host as if from a device: %s\n",
              cudaGetErrorName(cudaMemcpy(buffers[0], data.data(), bytes, cudaMemcpyDeviceToHost)));
}

void streams() {
  cudaStream_t a, b;
  CUDA(cudaStreamCreateWithFlags(&a, 1));
  CUDA(cudaStreamCreateWithFlags(&b, 1));
  char *device = nullptr, *other = nullptr;
  char* host = nullptr;
  constexpr std::size_t bytes = 64 * kMiB;
  CUDA(cudaMalloc(reinterpret_cast<void**>(&device), bytes));
  CUDA(cudaMalloc(reinterpret_cast<void**>(&other), bytes));
  CUDA(cudaHostAlloc(reinterpret_cast<void**>(&host), bytes, 0));
  cudaEvent_t done;
  CUDA(cudaEventCreate(&done));
  CUDA(cudaMemsetAsync(device, 5, bytes, a));
  CUDA(cudaEventRecord(done, a));
  std::printf("just launched: %s\n", cudaGetErrorName(cudaStreamQuery(a)));
  CUDA(cudaStreamWaitEvent(b, done, 0));
  CUDA(cudaMemcpyAsync(other, device, bytes, cudaMemcpyDeviceToDevice, b));
  CUDA(cudaMemcpyAsync(host, other, bytes, cudaMemcpyDeviceToHost, b));
  CUDA(cudaStreamSynchronize(b));
  std::printf("after waiting for the other stream: %d, first stream %s\n", host[bytes - 1],
              cudaGetErrorName(cudaStreamQuery(a)));
  CUDA(cudaMemset(device, 9, bytes));  // the default stream
  CUDA(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
  std::printf("by the default stream: %d\n", host[0]);
  int polls = 0;
  CUDA(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, a));
  while (cudaStreamQuery(a) == cudaErrorNotReady) ++polls;
  std::printf("asked %d times until a copy was done\n", polls);
  std::printf("a stream that is none: %s\n",
              cudaGetErrorName(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(&polls))));
}

void graphs() {
  cudaStream_t stream;
  CUDA(cudaStreamCreateWithFlags(&stream, 1));
  unsigned *from = nullptr, *to = nullptr;
  CUDA(cudaMalloc(reinterpret_cast<void**>(&from), 4096));
  CUDA(cudaMalloc(reinterpret_cast<void**>(&to), 4096));
  CUDA(cudaStreamBeginCapture(stream, 0));
  CUDA(cudaMemcpyAsync(to, from, 4096, cudaMemcpyDeviceToDevice, stream));
  CUDA(cudaMemsetAsync(from, 0, 4096, stream));
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable;
  CUDA(cudaGraphInstantiate(&executable, graph, 0));
  unsigned words[2] = {7, 8};
  CUDA(cudaMemcpy(from, words, sizeof words, cudaMemcpyHostToDevice));
  unsigned got[2];
  for (int launch = 1; launch <= 2; ++launch) {
    CUDA(cudaGraphLaunch(executable, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost));
    std::printf("launch %d: %u %u\n", launch, got[0], got[1]);
  }
  CUDA(cudaGraphExecDestroy(executable));
  CUDA(cudaGraphDestroy(graph));
}

/// What nvcc's host code does for a kernel of this name.
void launch(const char* name) {
  static char stub;
  void** binary = __cudaRegisterFatBinary(nullptr);
  __cudaRegisterFunction(binary, &stub, const_cast<char*>(name), name, -1, nullptr, nullptr,
                         nullptr, nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(binary);
  void* none[1] = {nullptr};
  CUDA(cudaLaunchKernel(&stub, {1, 1, 1}, {32, 1, 1}, none, 0, nullptr));
  CUDA(cudaDeviceSynchronize());
  std::printf("launched %s\n", name);
}

void clocks() {
  using std::chrono::steady_clock;
  const auto begin = steady_clock::now();
  std::this_thread::sleep_for(std::chrono::hours(1));
  const auto slept = steady_clock::now();
  std::printf("slept %.6f s\n", std::chrono::duration<double>(slept - begin).count());
  void* memory = nullptr;
  CUDA(cudaMalloc(&memory, 1024 * kMiB));
  CUDA(cudaMemset(memory, 0, 1024 * kMiB));
  CUDA(cudaDeviceSynchronize());
  std::printf("set a GiB in %.3f ms\n",
              std::chrono::duration<double, std::milli>(steady_clock::now() - slept).count());
  const std::time_t day = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[64];
  std::strftime(text, sizeof text, "%F %T", std::gmtime(&day));
  std::printf("it is %s\n", text);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "devices";
  if (part == "devices") devices();
  if (part == "memory") memory();
  if (part == "copies") copies();
  if (part == "streams") streams();
  if (part == "graphs") graphs();
  if (part == "kernels") launch(argc > 2 ? argv[2] : "_Z5mineXPf");
  if (part == "clock") clocks();
  return 0;
}
