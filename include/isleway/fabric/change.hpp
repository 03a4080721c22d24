// What-ifs: each makes a new Fabric from an old one and leaves the old as it was.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isleway/fabric/fabric.hpp"

namespace isleway {

/// Something broken, in the words a user types; what follows a "=" is what is left:
///   gpu3:nvlink5          one NVLink of a GPU down (ports count along its bundles, so that
///                         naming a port again takes the next link of its bundle)
///   gpu3:nvlink5:lanes=1  that link trained at fewer lanes
///   gpu3:pcie:lanes=8     the GPU's PCIe link at fewer lanes
///   gpu3                  GPU off the bus
///   nvswitch1             one NVSwitch chip down; in the same way a CPU or PCIe switch
///   nic4 / mlx5_4         NIC down        nic4:rate=200   its cable at 200 Gb/s
///   leaf2 / spine0:members=3   a network switch gone, or a group of which 3 are left
///   node5                 a whole host: it keeps its number, and has no GPU
/// With several hosts, "node7/gpu3"; without a node the first one is meant. Error: what is
/// not there, what there is, and the nearest name.
Result<Fabric> with_fault(const Fabric& fabric, std::string_view fault);

/// Only some GPUs of every host take part: the first `n`, or those listed (per host).
/// What is left keeps its links and names; switches and NICs stay. The order of `indices`
/// means nothing. Error: a host that lacks one of them.
Result<Fabric> with_first_gpus(const Fabric& fabric, int n);
Result<Fabric> with_gpus(const Fabric& fabric, const std::vector<int>& indices);

/// MIG mode on the listed GPUs of every host (empty: on all): no peer access, no NVLink.
Result<Fabric> with_mig(const Fabric& fabric, const std::vector<int>& indices = {});

/// A shared-NVSwitch partition: of each host only the listed GPUs, which still use all
/// switches; a partition of one has no NVLink. Multicast needs more than 4 GPUs (NVIDIA,
/// "Multi-Node NVLink partition guide").
Result<Fabric> with_partition(const Fabric& fabric, const std::vector<int>& indices);

/// Confidential computing and what it takes away: Hopper's single-GPU mode all NVLink,
/// Blackwell's multicast; Hopper's protected PCIe leaves NVLink as it is. What encryption
/// costs on the links that stay is up to the models. Error: GPUs of another generation.
Result<Fabric> with_confidential(const Fabric& fabric, Confidential mode);

/// "off", "hopper-cc", "hopper-ppcie", "blackwell".
Result<Confidential> parse_confidential(std::string_view text);

}  // namespace isleway
