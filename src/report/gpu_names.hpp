// How tools of NVIDIA name a GPU: its product, and its place on the PCI bus.
#pragma once

#include <string>

#include "isleway/fabric.hpp"

namespace isleway::report {

struct BusAddress {
  int domain = 0, bus = 0, device = 0;
};

/// Of a GPU, from its bus id; zeros where the machine's source has none.
BusAddress bus_address(const Fabric& fabric, GpuId gpu);

/// "NVIDIA H100 80GB HBM3", or "GPU" for a part that is not known.
std::string gpu_title(const Fabric& fabric, const Parts& parts, GpuId gpu);

}  // namespace isleway::report
