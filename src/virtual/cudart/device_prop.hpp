// cudaDeviceProp of CUDA 12 and 13: fields that were dropped in 13 are between the others in 12.
#pragma once

#include <cstddef>

namespace isleway::vgpu::cudart {

#if ISLEWAY_CUDART == 13
#define ISLEWAY_ONLY_12(field)
#else
#define ISLEWAY_ONLY_12(field) int field = 0;
#endif

struct DeviceProp {
  char name[256] = {};
  unsigned char uuid[16] = {};
  char luid[8] = {};
  unsigned luid_node_mask = 0;
  std::size_t total_memory = 0, shared_per_block = 0;
  int registers_per_block = 0, warp = 32;
  std::size_t pitch = 0;
  int threads_per_block = 0, threads_dim[3] = {}, grid[3] = {};
  ISLEWAY_ONLY_12(clock_rate)
  std::size_t constant_memory = 0;
  int major = 0, minor = 0;
  std::size_t texture_alignment = 0, texture_pitch_alignment = 0;
  ISLEWAY_ONLY_12(device_overlap)
  int multiprocessors = 0;
  ISLEWAY_ONLY_12(kernel_timeout)
  int integrated = 0, can_map_host = 0;
  ISLEWAY_ONLY_12(compute_mode)
  int texture_1d = 0, texture_1d_mipmap = 0;
  ISLEWAY_ONLY_12(texture_1d_linear)
  int texture_2d[2] = {}, texture_2d_mipmap[2] = {}, texture_2d_linear[3] = {},
      texture_2d_gather[2] = {}, texture_3d[3] = {}, texture_3d_alternate[3] = {};
  int texture_cube = 0, texture_1d_layers[2] = {}, texture_2d_layers[3] = {},
      texture_cube_layers[2] = {};
  int surface_1d = 0, surface_2d[2] = {}, surface_3d[3] = {}, surface_1d_layers[2] = {},
      surface_2d_layers[3] = {}, surface_cube = 0, surface_cube_layers[2] = {};
  std::size_t surface_alignment = 0;
  int concurrent_kernels = 0, ecc = 0, pci_bus = 0, pci_device = 0, pci_domain = 0, tcc = 0,
      async_engines = 0, unified_addressing = 0;
  ISLEWAY_ONLY_12(memory_clock)
  int memory_bus = 0, l2_bytes = 0, l2_persisting = 0, threads_per_sm = 0, stream_priorities = 0,
      global_l1 = 0, local_l1 = 0;
  std::size_t shared_per_sm = 0;
  int registers_per_sm = 0, managed = 0, multi_gpu_board = 0, multi_gpu_group = 0, host_atomics = 0;
  ISLEWAY_ONLY_12(single_to_double)
  int pageable = 0, concurrent_managed = 0, preemption = 0, registered_pointers = 0,
      cooperative = 0;
  ISLEWAY_ONLY_12(cooperative_multi)
  std::size_t shared_per_block_optin = 0;
  int pageable_host_tables = 0, managed_from_host = 0, blocks_per_sm = 0, window = 0;
  std::size_t shared_reserved = 0;
  int host_register = 0, sparse = 0, host_register_read_only = 0, timeline_semaphores = 0,
      memory_pools = 0, gpudirect = 0;
  unsigned gpudirect_flush = 0;
  int gpudirect_order = 0;
  unsigned pool_handles = 0;
  int deferred_arrays = 0, ipc_events = 0, clusters = 0, function_pointers = 0;
  // What follows is left as the program had it: its end differs between releases.
};

}  // namespace isleway::vgpu::cudart
