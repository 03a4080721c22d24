#include "isleway/virtual/nvml/node.hpp"

#include <algorithm>

#include "fabric/edit.hpp"

namespace isleway::vgpu::nvml {
namespace {

/// NVLinks at a device, one entry a link, in the order in which faults count them.
struct LinkEnd {
  std::uint32_t bundle = 0;
  int in_bundle = 0;
};

std::vector<LinkEnd> link_ends(const Unit& unit, DeviceIndex device) {
  std::vector<LinkEnd> ends;
  for (const std::uint32_t bundle : unit.links_at(device)) {
    if (!is_nvlink(unit.link(bundle))) continue;
    for (int i = 0; i < unit.link(bundle).count_max; ++i) ends.push_back({bundle, i});
  }
  return ends;
}

int port_number(const std::vector<LinkEnd>& ends, const LinkEnd& wanted) {
  const auto found = std::find_if(ends.begin(), ends.end(), [&](const LinkEnd& end) {
    return end.bundle == wanted.bundle && end.in_bundle == wanted.in_bundle;
  });
  return static_cast<int>(found - ends.begin());
}

std::vector<Port> ports_of(const Fabric& fabric, DeviceRef gpu, const Boards& boards) {
  const Unit& unit = fabric.unit(gpu.unit);
  std::vector<Port> ports;
  for (const LinkEnd& end : link_ends(unit, gpu.device)) {
    const Link& link = unit.link(end.bundle);
    Port port;
    port.link = fabric.link_id(gpu.unit, end.bundle);
    port.from_a = link.a == gpu.device;
    const DeviceIndex peer = unit.peer(end.bundle, gpu.device);
    port.peer = {gpu.unit, peer};
    port.peer_port = port_number(link_ends(unit, peer), end);
    // Which links of a bundle are down, files do not say; the last ones then.
    port.up = link.lanes > 0 && end.in_bundle < link.count;
    port.lanes = link.lanes;
    port.lanes_max = link.lanes_max;
    port.generation = link.generation;
    port.printed_rate = boards.printed_rate(link);
    ports.push_back(port);
  }
  return ports;
}

Pcie pcie_of(const Unit& unit, DeviceIndex gpu) {
  Pcie pcie;
  if (const auto uplink = unit.pcie_uplink(gpu)) {
    const Link& link = unit.link(*uplink);
    pcie.generation = pcie.max_generation = link.generation;
    pcie.width = link.lanes;
    pcie.max_width = link.lanes_max;
  }
  return pcie;
}

Gpu gpu_of(const Fabric& fabric, GpuId id, const Parts& parts, const Boards& boards) {
  Gpu gpu;
  gpu.id = id;
  gpu.ref = fabric.gpu(id);
  gpu.device = &fabric.device(gpu.ref);
  gpu.part = parts.gpu(gpu.device->part);
  gpu.board = boards.of(*gpu.device);
  gpu.name = gpu.part != nullptr ? gpu.part->title : "NVIDIA Graphics Device";
  // The catalogue explains itself in parentheses; the driver does not.
  if (const auto note = gpu.name.find(" ("); note != std::string::npos) gpu.name.resize(note);
  gpu.uuid = device_uuid(fabric, gpu.ref);
  gpu.pci = pci_address(fabric, gpu.ref);
  gpu.mig = gpu.device->gpu().mig;
  gpu.ports = ports_of(fabric, gpu.ref, boards);
  gpu.pcie = pcie_of(fabric.unit(gpu.ref.unit), gpu.ref.device);
  if (gpu.part != nullptr && gpu.part->pcie_generation > 0)
    gpu.pcie.max_generation = gpu.part->pcie_generation;
  return gpu;
}

}  // namespace

int Gpu::links_up() const {
  return static_cast<int>(
      std::count_if(ports.begin(), ports.end(), [](const Port& port) { return port.up; }));
}

Result<Node> Node::make(const Fabric& healthy, std::vector<GpuId> gpus, const Parts& parts,
                        const Boards& boards, std::span<const Fault> in_force) {
  auto now = with_faults(healthy, in_force);
  if (!now) return tl::unexpected(now.error());
  Node node;
  node.healthy_ = healthy;
  node.now_ = std::move(*now);
  for (const GpuId id : gpus) {
    Gpu gpu = gpu_of(node.healthy_, id, parts, boards);
    gpu.index = static_cast<int>(node.gpus_.size());
    node.gpus_.push_back(std::move(gpu));
  }
  node.take_faults(in_force);
  node.derive_fabric_state(in_force);
  return node;
}

std::optional<DeviceIndex> Node::still_there(const Gpu& gpu) const {
  return now_.unit(gpu.ref.unit).find(gpu.device->name, gpu.device->host);
}

Confidential Node::confidential() const {
  return now_.unit_count() == 0 ? Confidential::off : now_.unit(0).parts().modes.confidential;
}

std::vector<GpuId> all_gpus(const Fabric& fabric) {
  std::vector<GpuId> gpus(fabric.gpu_count());
  for (GpuId id = 0; id < gpus.size(); ++id) gpus[id] = id;
  return gpus;
}

std::vector<GpuId> gpus_of_host(const Fabric& fabric, std::uint32_t host) {
  std::vector<GpuId> gpus;
  for (GpuId id = 0; id < fabric.gpu_count(); ++id)
    if (fabric.host_of(fabric.gpu(id)) == host) gpus.push_back(id);
  return gpus;
}

}  // namespace isleway::vgpu::nvml
