// Over which links copies between GPUs, and between a GPU and host memory, run.
#pragma once

#include <optional>

#include "isleway/fabric.hpp"

namespace isleway {

/// From a GPU to the memory of its nearest CPU, and back. Hops carry fabric link numbers.
struct HostWay {
  Route up, down;
  DeviceRef cpu;
};

/// Nothing when no CPU can be reached.
std::optional<HostWay> host_way(const Fabric& fabric, DeviceRef gpu);

/// Between peers. Copies do not pass through a third GPU, as NCCL's kernels can; the route
/// does not exist where the GPUs have no access to one another. A translating IOMMU sends
/// PCIe traffic between peers through the host, where the driver then stages it.
Route peer_way(const Fabric& fabric, DeviceRef from, DeviceRef to);

/// Out of one GPU into host memory, and from there into another.
struct StagedWay {
  Route route;
  bool crosses_itself = false;  ///< some link is used in both directions
};

/// Nothing where the GPUs share no host.
std::optional<StagedWay> staged_way(const Fabric& fabric, DeviceRef from, DeviceRef to,
                                    const HostWay& from_host, const HostWay& to_host);

}  // namespace isleway
