// How near a driver says that GPUs, CPUs and memory are to one another.
#include <algorithm>

#include "isleway/core/text.hpp"
#include "isleway/fabric/host_cpu.hpp"
#include "isleway/virtual/nvml/node.hpp"

namespace isleway::vgpu::nvml {

Ancestor Node::common_ancestor(const Gpu& a, const Gpu& b) const {
  if (a.ref == b.ref) return Ancestor::internal;
  if (a.ref.unit != b.ref.unit || a.device->host != b.device->host) return Ancestor::system;
  switch (path_kind(healthy_.unit(a.ref.unit), a.ref.device, b.ref.device, true)) {
    case PathKind::pix: return Ancestor::single;
    case PathKind::pxb: return Ancestor::multiple;
    case PathKind::phb: return Ancestor::host_bridge;
    case PathKind::node: return Ancestor::node;
    default: return Ancestor::system;
  }
}

PeerStatus Node::peer_status(const Gpu& a, const Gpu& b, PeerCapability capability) const {
  if (a.ref == b.ref) return PeerStatus::ok;
  const auto from = still_there(a), to = still_there(b);
  if (!from || !to) return PeerStatus::unknown;
  if (a.ref.unit != b.ref.unit) return PeerStatus::not_supported;
  const Unit& unit = now_.unit(a.ref.unit);
  const bool nvlink = nvlinks_between(unit, *from, *to) > 0;
  const auto if_so = [](bool so) { return so ? PeerStatus::ok : PeerStatus::not_supported; };
  switch (capability) {
    case PeerCapability::nvlink:
    case PeerCapability::atomics: return if_so(nvlink);
    case PeerCapability::pcie:
      return if_so(a.device->host == b.device->host && a.device->gpu().pcie_p2p &&
                   b.device->gpu().pcie_p2p && !a.mig && !b.mig);
    case PeerCapability::read:
    case PeerCapability::write: break;
  }
  if (peer_access(unit, *from, *to)) return PeerStatus::ok;
  if (a.mig || b.mig) return PeerStatus::not_supported;
  if (!a.device->gpu().pcie_p2p || !b.device->gpu().pcie_p2p) return PeerStatus::chipset;
  return PeerStatus::topology;
}

std::vector<std::uint64_t> Node::near_cpus(const Gpu& gpu) const {
  const Unit& unit = healthy_.unit(gpu.ref.unit);
  const auto cpu = host_cpu(unit, gpu.ref.device);
  if (!cpu) return {};
  std::vector<std::uint64_t> mask;
  // Words of 32 bits, the highest first: two to one of the mask's.
  auto words = split(unit.device(*cpu).cpu().affinity, ',');
  std::reverse(words.begin(), words.end());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto bits = parse_int(words[i], 16);
    if (!bits || *bits < 0) return {};
    if (i % 2 == 0) mask.push_back(0);
    mask.back() |= static_cast<std::uint64_t>(*bits) << (i % 2 * 32);
  }
  return mask;
}

std::optional<int> Node::numa_node(const Gpu& gpu) const {
  const Unit& unit = healthy_.unit(gpu.ref.unit);
  const auto cpu = host_cpu(unit, gpu.ref.device);
  if (!cpu || unit.device(*cpu).cpu().numa < 0) return std::nullopt;
  return unit.device(*cpu).cpu().numa;
}

std::optional<int> Node::own_numa_node(const Gpu& gpu) const {
  constexpr int nodes_of_gpu = 8;
  const Unit& unit = healthy_.unit(gpu.ref.unit);
  if (!c2c_link(unit, gpu.ref.device)) return std::nullopt;
  const auto cpus = std::count_if(unit.cpus().begin(), unit.cpus().end(), [&](DeviceIndex cpu) {
    return unit.device(cpu).host == gpu.device->host;
  });
  return static_cast<int>(cpus) + nodes_of_gpu * gpu.device->index;
}

Node::C2c Node::c2c(const Gpu& gpu) const {
  const Unit& unit = healthy_.unit(gpu.ref.unit);
  const auto link = c2c_link(unit, gpu.ref.device);
  if (!link) return {};
  return {unit.link(*link).count, unit.link(*link).link_rate};
}

}  // namespace isleway::vgpu::nvml
