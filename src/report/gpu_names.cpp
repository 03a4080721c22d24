#include "report/gpu_names.hpp"

#include "isleway/core.hpp"

namespace isleway::report {

BusAddress bus_address(const Fabric& fabric, GpuId gpu) {
  std::string_view id = fabric.device(fabric.gpu(gpu)).pci.bus_id;
  id = id.substr(0, id.find('.'));
  const auto pieces = split(id, ':');
  if (pieces.size() != 3) return {};
  const auto number = [&](std::size_t i) {
    return static_cast<int>(parse_int(pieces[i], 16).value_or(0));
  };
  return {number(0), number(1), number(2)};
}

std::string gpu_title(const Fabric& fabric, const Parts& parts, GpuId gpu) {
  const GpuPart* part = parts.gpu(fabric.device(fabric.gpu(gpu)).part);
  return part != nullptr ? part->title : "GPU";
}

}  // namespace isleway::report
