#include "virtual/nvml/exports/library.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "virtual/device/process.hpp"

namespace isleway::vgpu::nvml {

Library& Library::of_process() {
  // Never destroyed: clients call nvmlShutdown from their own destructors, after ours.
  static Library* const library = new Library;
  return *library;
}

nvmlReturn_t Library::start() {
  if (monitor_ == nullptr) {
    Process& process = Process::get();
    if (!process) return NVML_ERROR_DRIVER_NOT_LOADED;  // it has said why
    auto monitor = Monitor::make(process.world(), process.world().host());
    if (!monitor) {
      std::fprintf(stderr, "isleway: libnvidia-ml: %s\n", monitor.error().text().c_str());
      return NVML_ERROR_DRIVER_NOT_LOADED;
    }
    monitor_ = std::make_unique<Monitor>(std::move(*monitor));
    const std::size_t gpus = monitor_->node().gpus().size();
    handles_.resize(gpus);
    settings_.resize(gpus);
    for (std::size_t i = 0; i < gpus; ++i) handles_[i].index = static_cast<int>(i);
  }
  ++users_;
  return NVML_SUCCESS;
}

nvmlReturn_t Library::stop() {
  if (users_ == 0) return NVML_ERROR_UNINITIALIZED;
  --users_;
  return NVML_SUCCESS;
}

void Library::look_at_clock() {
  Process& process = Process::get();
  process.world().set_clock(process.clock().now());
}

int Library::index_of(nvmlDevice_t device) const {
  const auto found = std::find_if(handles_.begin(), handles_.end(),
                                  [&](const nvmlDevice_st& own) { return &own == device; });
  return found == handles_.end() ? -1 : found->index;
}

nvmlReturn_t copy_text(std::string_view text, char* out, unsigned length) {
  if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (text.size() >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return NVML_SUCCESS;
}

nvmlReturn_t not_supported(const char* function) {
  const char* debug = std::getenv("ISLEWAY_DEBUG");
  if (debug != nullptr && *debug != '\0' && *debug != '0')
    std::fprintf(stderr, "isleway: %s is not supported\n", function);
  return NVML_ERROR_NOT_SUPPORTED;
}

nvmlPciInfo_t pci_info(const Gpu& gpu) {
  nvmlPciInfo_t info{};
  info.domain = gpu.pci.domain;
  info.bus = gpu.pci.bus;
  info.device = gpu.pci.device;
  info.pciDeviceId = pci_device_id(*gpu.device, gpu.part);
  // A board of NVIDIA's own, whose subsystem has the number of the GPU.
  info.pciSubSystemId = info.pciDeviceId;
  copy_text(gpu.pci.text(4), info.busIdLegacy, sizeof info.busIdLegacy);
  copy_text(gpu.pci.text(), info.busId, sizeof info.busId);
  return info;
}

}  // namespace isleway::vgpu::nvml
