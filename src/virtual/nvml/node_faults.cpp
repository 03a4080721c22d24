// What faults leave of a driver's view: links, GPUs, counters, the fabric manager's word.
#include <algorithm>

#include "isleway/core/text.hpp"
#include "isleway/virtual/nvml/node.hpp"

namespace isleway::vgpu::nvml {
namespace {

template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

/// "gpu3:nvlink5:lanes=1": port and lanes left; nothing for other faults.
struct PortFault {
  int port = 0, lanes = 0;
};
std::optional<PortFault> port_fault(std::string_view text) {
  constexpr std::string_view nvlink = "nvlink", lanes = "lanes=";
  const auto pieces = split(text, ':');
  if (pieces.size() < 2 || !starts_with_ignoring_case(pieces[1], nvlink)) return std::nullopt;
  const auto port = parse_int(pieces[1].substr(nvlink.size()));
  if (!port) return std::nullopt;
  PortFault fault{static_cast<int>(*port), 0};
  if (pieces.size() > 2)
    fault.lanes = static_cast<int>(parse_int(pieces[2].substr(lanes.size())).value_or(0));
  return fault;
}

void train_at(Port& port, int lanes) {
  ++port.retrained;
  if (lanes == 0) port.up = false;
  else port.lanes = lanes;
}

}  // namespace

void Node::break_ports(const Fault& fault) {
  if (const auto broken = port_fault(fault.text)) {
    for (Gpu& gpu : gpus_)
      for (std::size_t i = 0; i < gpu.ports.size(); ++i) {
        Port& port = gpu.ports[i];
        const bool here = gpu.ref == fault.device && static_cast<int>(i) == broken->port;
        const bool there = port.peer == fault.device && port.peer_port == broken->port;
        if (here || there) train_at(port, broken->lanes);
      }
    return;
  }
  // A device that is gone takes the links at it down; PCIe faults and slow cables do not.
  if (fault.text.find(':') != std::string::npos || fault.text.find('=') != std::string::npos)
    return;
  for (Gpu& gpu : gpus_)
    for (Port& port : gpu.ports)
      if (port.up && port.peer == fault.device && gpu.ref != fault.device) train_at(port, 0);
}

void Node::take_faults(std::span<const Fault> in_force) {
  const auto at = [&](DeviceRef device) -> Gpu* {
    const auto found =
        std::find_if(gpus_.begin(), gpus_.end(), [&](const Gpu& gpu) { return gpu.ref == device; });
    return found == gpus_.end() ? nullptr : &*found;
  };
  for (const Fault& fault : in_force) {
    Gpu* gpu = at(fault.device);
    std::visit(
        Cases{[&](const Fault::Broken&) { break_ports(fault); },
              [&](const Fault::Xid& xid) {
                if (gpu != nullptr) gpu->last_xid = xid.code;
              },
              [&](const Fault::Ecc& ecc) {
                if (gpu != nullptr)
                  (ecc.corrected ? gpu->ecc_corrected : gpu->ecc_uncorrected) += ecc.count;
              },
              [&](const Fault::LinkErrors& errors) {
                const auto port = static_cast<std::size_t>(errors.port);
                if (gpu == nullptr || port >= gpu->ports.size()) return;
                Port& hit = gpu->ports[port];
                switch (errors.kind) {
                  case Fault::LinkError::crc: hit.crc += errors.count; break;
                  case Fault::LinkError::replay: hit.replay += errors.count; break;
                  case Fault::LinkError::recovery: hit.recovery += errors.count; break;
                }
              },
              [&](const Fault::FabricManager&) { fabric_manager_ = false; }, [](const auto&) {}},
        fault.kind);
  }
  for (Gpu& gpu : gpus_) {
    const auto left = still_there(gpu);
    gpu.lost = !left;
    for (Port& port : gpu.ports) {
      const Device& peer = healthy_.device(port.peer);
      const bool peer_there = now_.unit(port.peer.unit).find(peer.name, peer.host).has_value();
      if (gpu.lost || !peer_there) port.up = false;
    }
    for (Port& port : gpu.ports)
      port.in_bundle = static_cast<int>(
          std::count_if(gpu.ports.begin(), gpu.ports.end(),
                        [&](const Port& other) { return other.up && other.link == port.link; }));
    if (!left) continue;
    const Unit& unit = now_.unit(gpu.ref.unit);
    if (const auto uplink = unit.pcie_uplink(*left)) gpu.pcie.width = unit.link(*uplink).lanes;
  }
}

void Node::derive_fabric_state(std::span<const Fault> in_force) {
  constexpr int hopper = 90;
  for (Gpu& gpu : gpus_) {
    const bool behind_switches = std::any_of(
        gpu.ports.begin(), gpu.ports.end(),
        [&](const Port& port) { return healthy_.device(port.peer).kind == DeviceKind::nvswitch; });
    // Before Hopper the fabric manager wrote its tables without telling the driver.
    if (!behind_switches || gpu.sm() < hopper || gpu.device->gpu().amd || gpu.mig) continue;
    FabricState& fabric = gpu.fabric;
    fabric.spans_hosts = healthy_.unit(gpu.ref.unit).parts().hosts > 1;
    fabric.degraded = gpu.links_up() < static_cast<int>(gpu.ports.size());
    fabric.state = fabric_manager_ ? FabricState::completed : FabricState::in_progress;
    if (!fabric_manager_) continue;
    if (fabric.spans_hosts) fabric.cluster = cluster_uuid(healthy_, gpu.ref.unit);
    for (const Fault& fault : in_force) {
      const auto* clique = std::get_if<Fault::Clique>(&fault.kind);
      if (clique == nullptr || fault.device != gpu.ref) continue;
      fabric.clique = static_cast<std::uint32_t>(std::max(clique->id, 0));
      fabric.resources = clique->id >= 0;
    }
    if (!fabric.resources) fabric.cluster = {};
  }
}

}  // namespace isleway::vgpu::nvml
