// Kernels: how compiled programs register them, and how they are launched.
#include <dlfcn.h>

#include <cstring>
#include <vector>

#include "virtual/cudart/exports/api.hpp"
#include "virtual/device/attributes.hpp"
#include "virtual/device/per_thread.hpp"

using namespace isleway::vgpu;
using namespace isleway::vgpu::cudart;

namespace {

struct Configuration {
  Dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
};

/// Between <<<...>>> and the stub that it calls.
std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

int launch(const char* function, const void* stub, const Dim3& grid, const Dim3& block,
           void** arguments, void* handle) {
  return with_stream(function, handle, [&](Process& process, Stream& stream) -> int {
    const std::string* name = kernel_table().find(stub);
    if (name == nullptr) return invalid_device_function;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x * block.y * block.z == 0 ||
        std::uint64_t{block.x} * block.y * block.z > 1024)
      return invalid_configuration;
    process.clock().work(process.costs().enqueue);
    return launch_kernel(process, {*name, grid, block, arguments, stream.device}, stream);
  });
}

int known(const char* function, const void* stub) {
  return remember(function,
                  kernel_table().find(stub) != nullptr ? success : invalid_device_function);
}

}  // namespace

// What nvcc's host code calls before main, and after it.
ISLEWAY_API void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
ISLEWAY_API void __cudaRegisterFatBinaryEnd(void**) {}
ISLEWAY_API void __cudaUnregisterFatBinary(void**) {}
ISLEWAY_API char __cudaInitModule(void**) { return 1; }
ISLEWAY_API void __cudaRegisterFunction(void**, const char* stub, char* device_name,
                                        const char* name, int, void*, void*, void*, void*, int*) {
  kernel_table().add(stub, device_name != nullptr ? device_name : name);
}
ISLEWAY_API void __cudaRegisterVar(void**, char* host, char*, const char* name, int,
                                   std::size_t bytes, int, int) {
  kernel_table().add_variable(host, name, bytes);
}
ISLEWAY_API void __cudaRegisterManagedVar(void**, void** host, char*, const char* name, int,
                                          std::size_t bytes, int, int) {
  Process& process = Process::get();
  if (!process || process.device_count() == 0) return;
  const auto held = process.hold();
  *host = process.memory().take_host(bytes, Space::managed, process.gpu(0));
  kernel_table().add_variable(*host, name, bytes);
}

ISLEWAY_API unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared,
                                                 void* stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}
ISLEWAY_API int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared,
                                           void* stream) {
  if (configurations().empty()) return remember(__func__, missing_configuration);
  const Configuration top = configurations().back();
  configurations().pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<void**>(stream) = top.stream;
  return success;
}

// Since CUDA 13 stubs ask for a kernel's handle once: here the stub itself.
ISLEWAY_API int __cudaGetKernel(const void** kernel, const void* stub) {
  *kernel = stub;
  return known(__func__, stub);
}
ISLEWAY_API int __cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                   std::size_t, void* stream) {
  return launch("cudaLaunchKernel", kernel, grid, block, arguments, stream);
}
ISLEWAY_API int cudaLaunchKernel(const void* stub, Dim3 grid, Dim3 block, void** arguments,
                                 std::size_t, void* stream) {
  return launch(__func__, stub, grid, block, arguments, stream);
}
ISLEWAY_API int cudaLaunchCooperativeKernel(const void* stub, Dim3 grid, Dim3 block,
                                            void** arguments, std::size_t, void* stream) {
  return launch(__func__, stub, grid, block, arguments, stream);
}

namespace {
struct LaunchConfig {
  Dim3 grid, block;
  std::size_t shared;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};
}  // namespace

ISLEWAY_API int cudaLaunchKernelExC(const LaunchConfig* config, const void* stub,
                                    void** arguments) {
  if (config == nullptr) return remember(__func__, invalid_value);
  return launch(__func__, stub, config->grid, config->block, arguments, config->stream);
}

namespace {
struct FunctionAttributes {
  std::size_t shared, constant, local;
  int threads, registers, ptx_version, binary_version, cache, dynamic_shared, carveout, cluster_set,
      cluster_width, cluster_height, cluster_depth, cluster_policy, cluster_nonportable;
  int reserved[16];
};
}  // namespace

ISLEWAY_API int cudaFuncGetAttributes(FunctionAttributes* attributes, const void* stub) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    if (attributes == nullptr) return invalid_value;
    if (kernel_table().find(stub) == nullptr) return invalid_device_function;
    *attributes = {};
    attributes->threads = 1024;
    attributes->registers = 32;
    attributes->dynamic_shared = device_attribute(process, device, 8).value_or(0);
    attributes->ptx_version = attributes->binary_version =
        device_attribute(process, device, 75).value_or(0) * 10 +
        device_attribute(process, device, 76).value_or(0);
    return success;
  });
}
ISLEWAY_API int cudaFuncSetAttribute(const void* stub, int, int) { return known(__func__, stub); }
ISLEWAY_API int cudaFuncSetCacheConfig(const void* stub, int) { return known(__func__, stub); }
ISLEWAY_API int cudaFuncSetSharedMemConfig(const void* stub, int) { return known(__func__, stub); }
ISLEWAY_API int cudaGetFuncBySymbol(const void** function, const void* stub) {
  if (function == nullptr) return remember(__func__, invalid_value);
  *function = stub;
  return known(__func__, stub);
}
ISLEWAY_API int cudaGetKernel(const void** kernel, const void* stub) {
  return cudaGetFuncBySymbol(kernel, stub);
}
ISLEWAY_API int cudaFuncGetName(const char** name, const void* stub) {
  const std::string* found = kernel_table().find(stub);
  if (name == nullptr || found == nullptr) return remember(__func__, invalid_value);
  *name = found->c_str();
  return success;
}

ISLEWAY_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* stub, int threads, std::size_t shared, unsigned) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    if (blocks == nullptr || threads < 1) return invalid_value;
    if (kernel_table().find(stub) == nullptr) return invalid_device_function;
    *blocks = blocks_per_multiprocessor(process, device, threads, shared);
    return success;
  });
}
ISLEWAY_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* stub,
                                                              int threads, std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, threads, shared, 0);
}
ISLEWAY_API int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* stub,
                                                          int blocks, int) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    if (bytes == nullptr || blocks < 1) return invalid_value;
    if (kernel_table().find(stub) == nullptr) return invalid_device_function;
    *bytes = static_cast<std::size_t>(device_attribute(process, device, 81).value_or(0) / blocks);
    return success;
  });
}
ISLEWAY_API int cudaOccupancyMaxActiveClusters(int* clusters, const void* stub,
                                               const LaunchConfig*) {
  return with_device(__func__, [&](Process& process, int device) -> int {
    if (clusters == nullptr) return invalid_value;
    if (kernel_table().find(stub) == nullptr) return invalid_device_function;
    *clusters = device_attribute(process, device, 16).value_or(1);
    return success;
  });
}
ISLEWAY_API int cudaOccupancyMaxPotentialClusterSize(int* size, const void* stub,
                                                     const LaunchConfig*) {
  if (size == nullptr) return remember(__func__, invalid_value);
  *size = 8;
  return known(__func__, stub);
}

// The driver's functions, where its virtual library is there.
ISLEWAY_API int cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                                 unsigned long long, int* result) {
  if (symbol == nullptr || function == nullptr) return remember(__func__, invalid_value);
  // Where the runtime works, the driver has been initialised.
  static void* driver = [] {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return library;
    if (auto* init = reinterpret_cast<int (*)(unsigned)>(::dlsym(library, "cuInit"))) init(0);
    return library;
  }();
  *function = nullptr;
  for (const char* suffix : {"_v3", "_v2", ""})
    if (*function == nullptr && driver != nullptr)
      *function = ::dlsym(driver, (std::string(symbol) + suffix).c_str());
  constexpr int found = 0, missing = 1;
  if (result != nullptr) *result = *function != nullptr ? found : missing;
  return *function != nullptr || result != nullptr ? success : remember(__func__, symbol_not_found);
}
ISLEWAY_API int cudaGetDriverEntryPoint(const char* symbol, void** function,
                                        unsigned long long flags, int* result) {
  return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, result);
}
ISLEWAY_API int cudaGetExportTable(const void** table, const void*) {
  if (table != nullptr) *table = nullptr;
  return remember(__func__, not_supported);
}

ISLEWAY_PER_THREAD(cudaLaunchKernel, _ptsz);
ISLEWAY_PER_THREAD(cudaLaunchKernelExC, _ptsz);
ISLEWAY_PER_THREAD(cudaLaunchCooperativeKernel, _ptsz);
ISLEWAY_PER_THREAD(__cudaLaunchKernel, _ptsz);
