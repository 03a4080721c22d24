// What the preloaded library looks up by name.
#include "virtual/device/process.hpp"

using isleway::vgpu::Process;

extern "C" {

/// Begins the run for this process: from now on its time is virtual.
__attribute__((visibility("default"))) void isleway_virtual_start() { Process::get(); }

/// Of the virtual machine, where it has several hosts; else empty.
__attribute__((visibility("default"))) const char* isleway_virtual_host_name() {
  static const std::string name = [] {
    Process& process = Process::get();
    if (!process || process.world().places() < 2) return std::string();
    return "node" + std::to_string(process.world().place());
  }();
  return name.c_str();
}
}
