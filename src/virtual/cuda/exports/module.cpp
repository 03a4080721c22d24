// Modules, libraries and their functions: device code is not read, functions are names.
#include <cstring>
#include <fstream>
#include <list>
#include <memory>

#include "virtual/cuda/exports/driver.hpp"
#include "virtual/cudart/exports/api.hpp"
#include "virtual/device/attributes.hpp"
#include "virtual/device/per_thread.hpp"

using namespace isleway::vgpu;
using namespace isleway::vgpu::driver;

namespace {

struct Module;

/// CUfunction and CUkernel point to one.
struct Function {
  Module* module;
  std::string name;
};
/// CUmodule and CUlibrary point to one.
struct Module {
  std::string text;  ///< of PTX, where it is that
  std::list<Function> functions;
};

/// With the process's lock held.
std::list<std::unique_ptr<Module>>& modules() {
  static auto& all = *new std::list<std::unique_ptr<Module>>;
  return all;
}
Module* find(const void* handle) {
  for (const auto& module : modules())
    if (module.get() == handle) return module.get();
  return nullptr;
}
/// Null: neither of a module nor, as cudaGetFuncBySymbol gives them, of the program itself.
const std::string* name_of(const void* function) {
  for (const auto& module : modules())
    for (const Function& own : module->functions)
      if (&own == function) return &own.name;
  return cudart::kernel_table().find(function);
}

/// Whether it begins as device code does: PTX, an ELF file, a fat binary or nvcc's wrapper of one.
bool is_image(const void* image) {
  constexpr std::uint32_t fat_binary = 0xba55ed50, wrapper = 0x466243b1, elf = 0x464c457f;
  std::uint32_t first;
  std::memcpy(&first, image, sizeof first);
  if (first == fat_binary || first == wrapper || first == elf) return true;
  return std::strstr(static_cast<const char*>(image), ".version") != nullptr;
}

int load(void** out, const void* image) {
  return with_device([&](Process&, int) -> int {
    if (out == nullptr || image == nullptr) return invalid_value;
    if (!is_image(image)) return invalid_image;
    auto module = std::make_unique<Module>();
    const auto* text = static_cast<const char*>(image);
    if (std::strncmp(text, "//", 2) == 0 || std::strncmp(text, ".version", 8) == 0)
      module->text = text;
    *out = module.get();
    modules().push_back(std::move(module));
    return success;
  });
}

int load_file(void** out, const char* name) {
  if (name == nullptr) return invalid_value;
  std::ifstream file(name, std::ios::binary);
  if (!file) return file_not_found;
  std::string image((std::istreambuf_iterator<char>(file)), {});
  image.append(4, '\0');
  return load(out, image.c_str());
}

int unload(const void* handle) {
  return with_device([&](Process&, int) -> int {
    return modules().remove_if([&](const auto& own) { return own.get() == handle; }) > 0
               ? success
               : invalid_resource_handle;
  });
}

/// PTX says which functions there are; of other code every name is taken for one.
int function(void** out, const void* handle, const char* name) {
  return with_device([&](Process&, int) -> int {
    Module* module = find(handle);
    if (out == nullptr || name == nullptr) return invalid_value;
    if (module == nullptr) return invalid_resource_handle;
    if (!module->text.empty() && module->text.find(name) == std::string::npos)
      return symbol_not_found;
    for (Function& known : module->functions)
      if (known.name == name) {
        *out = &known;
        return success;
      }
    module->functions.push_back({module, name});
    *out = &module->functions.back();
    return success;
  });
}

int launch(const void* function, cudart::Dim3 grid, cudart::Dim3 block, void* handle,
           void** arguments) {
  return with_device([&](Process& process, int) -> int {
    Stream* stream = cudart::stream_of(process, handle);
    const std::string* name = name_of(function);
    if (stream == nullptr || name == nullptr) return invalid_resource_handle;
    if (std::uint64_t{grid.x} * grid.y * grid.z == 0 ||
        std::uint64_t{block.x} * block.y * block.z == 0)
      return invalid_value;
    process.clock().work(process.costs().enqueue);
    return cudart::launch_kernel(process, {*name, grid, block, arguments, stream->device}, *stream);
  });
}

/// CUlaunchConfig.
struct LaunchConfig {
  cudart::Dim3 grid, block;
  unsigned shared;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

int attribute(int* out, int which, const void* function) {
  return with_device([&](Process& process, int device) -> int {
    enum { threads, shared, constants, local, registers, ptx, binary, cache, dynamic, count = 16 };
    if (out == nullptr || which < 0 || which >= count) return invalid_value;
    if (name_of(function) == nullptr) return invalid_resource_handle;
    const auto at = [&](int number) {
      return device_attribute(process, device, number).value_or(0);
    };
    *out = 0;
    if (which == threads) *out = at(1);
    if (which == registers) *out = 32;
    if (which == ptx || which == binary) *out = at(75) * 10 + at(76);
    if (which == dynamic) *out = at(8);
    return success;
  });
}

int known(const void* function) {
  return with_device([&](Process&, int) -> int {
    return name_of(function) == nullptr ? invalid_resource_handle : success;
  });
}

int give_name(const char** out, const void* function) {
  return with_device([&](Process&, int) -> int {
    const std::string* name = name_of(function);
    if (out == nullptr || name == nullptr) return invalid_value;
    *out = name->c_str();
    return success;
  });
}

int give_module(void** out, const void* function) {
  return with_device([&](Process&, int) -> int {
    if (out == nullptr) return invalid_value;
    for (const auto& module : modules())
      for (const Function& own : module->functions)
        if (&own == function) {
          *out = module.get();
          return success;
        }
    return invalid_resource_handle;
  });
}

}  // namespace

CUDA_API cuModuleLoad(void** out, const char* file) { return load_file(out, file); }
CUDA_API cuModuleLoadData(void** out, const void* image) { return load(out, image); }
CUDA_API cuModuleLoadDataEx(void** out, const void* image, unsigned, int*, void**) {
  return load(out, image);
}
CUDA_API cuModuleLoadFatBinary(void** out, const void* image) { return load(out, image); }
CUDA_API cuModuleUnload(void* module) { return unload(module); }
CUDA_API cuModuleGetFunction(void** out, void* module, const char* name) {
  return function(out, module, name);
}
CUDA_API cuModuleGetLoadingMode(int* out) {
  if (out == nullptr) return invalid_value;
  constexpr int lazy = 2;
  *out = lazy;
  return success;
}
CUDA_API cuLibraryLoadData(void** out, const void* image, int*, void**, unsigned, int*, void**,
                           unsigned) {
  return load(out, image);
}
CUDA_API cuLibraryLoadFromFile(void** out, const char* file, int*, void**, unsigned, int*, void**,
                               unsigned) {
  return load_file(out, file);
}
CUDA_API cuLibraryUnload(void* library) { return unload(library); }
CUDA_API cuLibraryGetKernel(void** out, void* library, const char* name) {
  return function(out, library, name);
}
CUDA_API cuLibraryGetModule(void** out, void* library) {
  return with_device([&](Process&, int) -> int {
    if (out == nullptr || find(library) == nullptr) return invalid_value;
    *out = library;
    return success;
  });
}
CUDA_API cuKernelGetFunction(void** out, void* kernel) {
  if (out == nullptr) return invalid_value;
  *out = kernel;
  return known(kernel);
}
CUDA_API cuKernelGetLibrary(void** out, void* kernel) { return give_module(out, kernel); }
CUDA_API cuKernelGetName(const char** out, void* kernel) { return give_name(out, kernel); }
CUDA_API cuKernelGetAttribute(int* out, int which, void* kernel, CUdevice) {
  return attribute(out, which, kernel);
}
CUDA_API cuKernelSetAttribute(int, int, void* kernel, CUdevice) { return known(kernel); }
CUDA_API cuKernelSetCacheConfig(void* kernel, int, CUdevice) { return known(kernel); }
CUDA_API cuFuncGetName(const char** out, void* function) { return give_name(out, function); }
CUDA_API cuFuncGetModule(void** out, void* function) { return give_module(out, function); }
CUDA_API cuFuncGetAttribute(int* out, int which, void* function) {
  return attribute(out, which, function);
}
CUDA_API cuFuncSetAttribute(void* function, int, int) { return known(function); }
CUDA_API cuFuncSetCacheConfig(void* function, int) { return known(function); }
CUDA_API cuFuncSetSharedMemConfig(void* function, int) { return known(function); }
CUDA_API cuFuncLoad(void* function) { return known(function); }
CUDA_API cuFuncIsLoaded(int* out, void* function) {
  if (out == nullptr) return invalid_value;
  *out = 1;
  return known(function);
}

CUDA_API cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned,
                        void* stream, void** arguments, void** packed) {
  // How arguments are packed is known to the device code alone.
  if (packed != nullptr) return refuse("cuLaunchKernel with packed arguments");
  return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, stream, arguments);
}
CUDA_API cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned, void* stream, void** arguments) {
  return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, stream, arguments);
}
CUDA_API cuLaunchKernelEx(const LaunchConfig* config, void* function, void** arguments,
                          void** packed) {
  if (config == nullptr) return invalid_value;
  if (packed != nullptr) return refuse("cuLaunchKernelEx with packed arguments");
  return launch(function, config->grid, config->block, config->stream, arguments);
}

CUDA_API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, void* function, int threads,
                                                              std::size_t shared, unsigned) {
  return with_device([&](Process& process, int device) -> int {
    if (out == nullptr || threads < 1) return invalid_value;
    if (name_of(function) == nullptr) return invalid_resource_handle;
    *out = cudart::blocks_per_multiprocessor(process, device, threads, shared);
    return success;
  });
}
CUDA_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, void* function, int threads,
                                                     std::size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, function, threads, shared, 0);
}

ISLEWAY_PER_THREAD(cuLaunchKernel, _ptsz);
ISLEWAY_PER_THREAD(cuLaunchKernelEx, _ptsz);
ISLEWAY_PER_THREAD(cuLaunchCooperativeKernel, _ptsz);
