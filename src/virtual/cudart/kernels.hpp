// Kernels that programs register, and those whose work is done here, by name.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "virtual/cudart/abi.hpp"

namespace isleway::vgpu::cudart {

/// A launch as the runtime is given it. `arguments` are valid during the call only.
struct Launch {
  std::string_view name;  ///< mangled
  Dim3 grid, block;
  void** arguments = nullptr;
  int device = 0;

  template <class T>
  T argument(int i) const {
    return *static_cast<const T*>(arguments[i]);
  }
};

/// What a known kernel does. Makes its work anew for every launch of a graph.
using KernelWork = std::function<Work(Process& process, Stream& stream)>;

/// Nothing for names that are not known.
std::optional<KernelWork> known_kernel(const Launch& launch);
/// Fill and check of nccl-tests.
std::optional<KernelWork> nccl_tests_kernel(const Launch& launch);
/// CUDA's samples and nvbandwidth.
std::optional<KernelWork> copy_kernel(const Launch& launch);

/// "int main::kernel<float>(float*)" for messages.
std::string readable(std::string_view mangled);

/// By the addresses of their host stubs.
class KernelTable {
 public:
  void add(const void* stub, std::string name) { names_[stub] = std::move(name); }
  void add_variable(const void* host, std::string name, std::size_t bytes) {
    variables_[host] = {std::move(name), bytes, {}};
  }
  const std::string* find(const void* stub) const {
    const auto found = names_.find(stub);
    return found == names_.end() ? nullptr : &found->second;
  }
  struct Variable {
    std::string name;
    std::size_t bytes = 0;
    std::map<int, std::byte*> memory;  ///< by device, once asked for
  };
  Variable* variable(const void* host) {
    const auto found = variables_.find(host);
    return found == variables_.end() ? nullptr : &found->second;
  }
  /// Launches of kernels that are not known, and were left out.
  std::map<std::string, std::uint64_t>& skipped() { return skipped_; }

 private:
  std::map<const void*, std::string> names_;
  std::map<const void*, Variable> variables_;
  std::map<std::string, std::uint64_t> skipped_;
};
KernelTable& kernel_table();

/// Blocks of so many threads, with so many bytes of shared memory each, that fit at once.
int blocks_per_multiprocessor(Process& process, int device, int threads, std::size_t shared);

/// A kernel that is not known ends the program, unless the run skips such kernels.
KernelWork work_of_kernel(Process& process, const Launch& launch);
/// Puts it into the stream. A Status.
int launch_kernel(Process& process, const Launch& launch, Stream& stream);

}  // namespace isleway::vgpu::cudart
