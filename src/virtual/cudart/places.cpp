#include "virtual/cudart/places.hpp"

namespace isleway::vgpu::cudart {

std::vector<std::byte*> places(Process& process, const void* address, std::uint64_t bytes) {
  auto* first = static_cast<std::byte*>(const_cast<void*>(address));
  const Block* block = process.memory().find(address);
  if (block == nullptr || block->space != Space::multicast) return {first};
  std::vector<std::byte*> all;
  for (const MappedMemory::Target& target : process.mapped().targets(first, bytes))
    all.push_back(target.address);
  return all;
}

}  // namespace isleway::vgpu::cudart
