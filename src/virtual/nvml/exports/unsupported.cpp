// NVML: what is not supported, by name.
#include "virtual/nvml/exports/library.hpp"

// Their arguments are not looked at, and the C calling conventions let the caller clean up, so
// that one signature serves all of them.
#define ISLEWAY_NVML(name) \
  NVML_API name() { return isleway::vgpu::nvml::not_supported(#name); }
#include "virtual/nvml/exports/unsupported.def"
#undef ISLEWAY_NVML
