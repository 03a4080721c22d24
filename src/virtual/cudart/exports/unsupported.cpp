// The runtime: what is not supported, by name.
#include "virtual/cudart/exports/api.hpp"

// Their arguments are not looked at, and the C calling conventions let the caller clean up, so
// that one signature serves all of them.
#define ISLEWAY_CUDART_REFUSES(name)                                                     \
  ISLEWAY_API int name() {                                                               \
    return isleway::vgpu::cudart::remember(#name, isleway::vgpu::cudart::not_supported); \
  }
#include "virtual/cudart/exports/unsupported.def"
#undef ISLEWAY_CUDART_REFUSES
