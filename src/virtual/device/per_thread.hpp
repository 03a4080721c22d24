// Second names of exported functions, for programs that are compiled so that every thread has a
// default stream of its own.
#pragma once

#include "virtual/device/process.hpp"

namespace isleway::vgpu {

template <auto Function>
struct PerThread;
template <class... Arguments, int (*Function)(Arguments...)>
struct PerThread<Function> {
  static int call(Arguments... arguments) {
    const ThreadDefaultStream own;
    return Function(arguments...);
  }
};

}  // namespace isleway::vgpu

/// name + suffix does what name does, with stream 0 as the calling thread's. The dynamic linker
/// asks which function that is, so that its parameters need not be written down again.
#define ISLEWAY_PER_THREAD(name, suffix)                                                           \
  extern "C" __attribute__((                                                                       \
      visibility("hidden"),                                                                        \
      no_sanitize("address", "undefined", "thread"))) decltype(&(name)) resolve_##name##suffix() { \
    return &isleway::vgpu::PerThread<&(name)>::call;                                               \
  }                                                                                                \
  extern "C" __attribute__((visibility("default"),                                                 \
                            ifunc("resolve_" #name #suffix))) decltype(name) name##suffix
