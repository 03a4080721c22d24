// What the functions of libnvidia-ml.so.1 share. NVML hands its clients no handle of the
// library, so that there is one state a process, reached by Library::of_process.
#pragma once

#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <vector>

#include "isleway/virtual/abi/nvml/link.hpp"
#include "isleway/virtual/nvml/driver.hpp"
#include "isleway/virtual/nvml/monitor.hpp"

#define NVML_API extern "C" __attribute__((visibility("default"))) nvmlReturn_t

struct nvmlDevice_st {
  int index = 0;
};

namespace isleway::vgpu::nvml {

/// What clients set and ask back; nothing of it changes the simulation.
struct Settings {
  nvmlEnableState_t persistence = NVML_FEATURE_ENABLED;
  nvmlEnableState_t accounting = NVML_FEATURE_DISABLED;
  nvmlComputeMode_t compute_mode = NVML_COMPUTEMODE_DEFAULT;
  nvmlEnableState_t ecc_pending = NVML_FEATURE_ENABLED;
  unsigned power_limit_mw = 0;  ///< 0: the board's own
  unsigned sm_clock = 0, memory_clock = 0;
};

class Library {
 public:
  static Library& of_process();

  /// Counted, as nvmlInit is.
  nvmlReturn_t start();
  nvmlReturn_t stop();
  bool started() const { return users_ > 0; }

  std::mutex& mutex() { return mutex_; }
  Monitor& monitor() { return *monitor_; }
  const Node& node() { return monitor_->node(); }
  Time now() { return monitor_->world().now(); }
  /// Lets the run know how far this process's time has come, so that what is due is seen.
  void look_at_clock();

  /// Stays the same for the life of the process.
  nvmlDevice_t handle(int index) { return &handles_[static_cast<std::size_t>(index)]; }
  /// -1 for what is no handle of ours.
  int index_of(nvmlDevice_t device) const;
  Settings& settings(const Gpu& gpu) { return settings_[static_cast<std::size_t>(gpu.index)]; }

 private:
  std::mutex mutex_;
  int users_ = 0;
  std::unique_ptr<Monitor> monitor_;
  std::vector<nvmlDevice_st> handles_;
  std::vector<Settings> settings_;
};

/// Runs `answer(library)` when there has been an nvmlInit.
template <class Answer>
nvmlReturn_t ask(Answer answer) {
  Library& library = Library::of_process();
  const std::lock_guard lock(library.mutex());
  if (!library.started()) return NVML_ERROR_UNINITIALIZED;
  try {
    library.look_at_clock();
    return answer(library);
  } catch (const std::bad_alloc&) {
    return NVML_ERROR_MEMORY;
  }
}

/// Runs `answer(library, gpu)` for a GPU that is there.
template <class Answer>
nvmlReturn_t ask(nvmlDevice_t device, Answer answer) {
  return ask([&](Library& library) {
    const int index = library.index_of(device);
    if (index < 0) return NVML_ERROR_INVALID_ARGUMENT;
    const Gpu& gpu = library.node().gpus()[static_cast<std::size_t>(index)];
    return gpu.lost ? NVML_ERROR_GPU_IS_LOST : answer(library, gpu);
  });
}

/// The same for two GPUs: `answer(library, a, b)`.
template <class Answer>
nvmlReturn_t ask(nvmlDevice_t a, nvmlDevice_t b, Answer answer) {
  return ask(a, [&](Library& library, const Gpu& from) {
    const int index = library.index_of(b);
    if (index < 0) return NVML_ERROR_INVALID_ARGUMENT;
    return answer(library, from, library.node().gpus()[static_cast<std::size_t>(index)]);
  });
}

/// Answers with one value.
template <class T, class Value>
nvmlReturn_t tell(nvmlDevice_t device, T* out, Value value) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *out = static_cast<T>(value(library, gpu));
    return NVML_SUCCESS;
  });
}

/// Answers with a text; `length` is the room for it, with its final zero.
template <class Text>
nvmlReturn_t tell_text(nvmlDevice_t device, char* out, unsigned length, Text text);
nvmlReturn_t copy_text(std::string_view text, char* out, unsigned length);

template <class Text>
nvmlReturn_t tell_text(nvmlDevice_t device, char* out, unsigned length, Text text) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    return copy_text(text(library, gpu), out, length);
  });
}

/// Lists: `count` comes in as the room and goes out as the number there is.
template <class T, class List>
nvmlReturn_t copy_list(const List& list, unsigned* count, T* out) {
  if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const unsigned room = *count;
  *count = static_cast<unsigned>(list.size());
  if (room < list.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  if (out == nullptr) return list.empty() ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
  for (std::size_t i = 0; i < list.size(); ++i) out[i] = list[i];
  return NVML_SUCCESS;
}

/// Structures that begin with a word of their size and version.
template <class T>
nvmlReturn_t check_version(const T* structure, unsigned version) {
  if (structure == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return structure->version == NVML_STRUCT_VERSION(T, version)
             ? NVML_SUCCESS
             : NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
}

/// Fills such a structure by `fill(library, gpu, structure)`.
template <class T, class Fill>
nvmlReturn_t tell_versioned(nvmlDevice_t device, T* out, unsigned version, Fill fill) {
  return ask(device, [&](Library& library, const Gpu& gpu) {
    if (const nvmlReturn_t checked = check_version(out, version); checked != NVML_SUCCESS)
      return checked;
    return fill(library, gpu, *out);
  });
}

/// NVML_ERROR_NOT_SUPPORTED; with ISLEWAY_DEBUG, a line that names the function.
nvmlReturn_t not_supported(const char* function);

nvmlPciInfo_t pci_info(const Gpu& gpu);

}  // namespace isleway::vgpu::nvml
