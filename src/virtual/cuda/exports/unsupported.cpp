// The driver: what is not supported, by name.
#include "virtual/cuda/exports/driver.hpp"

// Their arguments are not looked at, and the C calling conventions let the caller clean up, so
// that one signature serves all of them.
#define ISLEWAY_CUDA(name) \
  CUDA_API name() { return isleway::vgpu::driver::refuse(#name); }
#include "virtual/cuda/exports/unsupported.def"
#undef ISLEWAY_CUDA
