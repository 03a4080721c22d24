// Where bytes are that an address stands for.
#pragma once

#include <vector>

#include "virtual/device/process.hpp"

namespace isleway::vgpu::cudart {

/// The address itself; of a multicast address, the many places that it stands for.
std::vector<std::byte*> places(Process& process, const void* address, std::uint64_t bytes);

}  // namespace isleway::vgpu::cudart
