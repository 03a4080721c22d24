// The runtime's binary interface, as its public documentation defines it: what programs that
// were built with CUDA's own headers pass and expect.
#pragma once

#include <cstddef>
#include <cstdint>

#include "virtual/device/process.hpp"

namespace isleway::vgpu::cudart {

/// cudaError_t; driver calls share the numbers.
enum Status : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  initialization_error = 3,
  invalid_configuration = 9,
  invalid_pitch = 12,
  invalid_symbol = 13,
  invalid_device_pointer = 17,
  invalid_memcpy_direction = 21,
  missing_configuration = 52,
  invalid_device_function = 98,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  map_failed = 205,
  ecc_uncorrectable = 214,
  unsupported_limit = 215,
  peer_access_unsupported = 217,
  nvlink_uncorrectable = 220,
  file_not_found = 301,
  invalid_resource_handle = 400,
  illegal_state = 401,
  symbol_not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  peer_access_already_enabled = 704,
  peer_access_not_enabled = 705,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  launch_failure = 719,
  not_permitted = 800,
  not_supported = 801,
  system_not_ready = 802,
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_unmatched = 903,
  capture_isolation = 905,
  capture_implicit = 906,
  unknown = 999,
};
const char* status_name(int status);  ///< "cudaErrorInvalidValue"
const char* status_text(int status);  ///< in a few words
/// "CUDA_ERROR_INVALID_VALUE"; null: the driver has no such result.
const char* driver_status_name(int status);

/// What a context that is of no use any more answers.
Status status_of(GpuTrouble trouble);
/// Waiting that was in vain, `why` it was: another process died, say.
int waited(const std::string& why);

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// cudaMemcpyKind. The kind is found out by the addresses; a wrong one is an error.
enum class CopyKind : int { host_to_host, host_to_device, device_to_host, device_to_device, any };

struct IpcHandle {
  unsigned char bytes[64];
};

}  // namespace isleway::vgpu::cudart
