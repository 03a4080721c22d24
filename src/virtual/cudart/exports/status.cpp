// Errors and versions.
#include "virtual/cudart/exports/api.hpp"

using namespace isleway::vgpu::cudart;

namespace {
constexpr int kVersion = ISLEWAY_CUDART == 13 ? 13000 : 12080;
}

ISLEWAY_API const char* cudaGetErrorName(int status) { return status_name(status); }
ISLEWAY_API const char* cudaGetErrorString(int status) { return status_text(status); }
ISLEWAY_API int cudaGetLastError() { return std::exchange(last_error(), success); }
ISLEWAY_API int cudaPeekAtLastError() { return last_error(); }

ISLEWAY_API int cudaDriverGetVersion(int* version) {
  if (version == nullptr) return remember(__func__, invalid_value);
  *version = 13000;
  return success;
}
ISLEWAY_API int cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return remember(__func__, invalid_value);
  *version = kVersion;
  return success;
}

ISLEWAY_API int cudaProfilerStart() { return success; }
ISLEWAY_API int cudaProfilerStop() { return success; }
